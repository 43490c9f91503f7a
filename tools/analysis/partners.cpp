#include "tools/analysis/partners.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace libprofile::tools {

namespace {

void add(PartnerRow::Sum& to, std::uint64_t messages, std::uint64_t bytes) {
    to.messages += messages;
    to.bytes += bytes;
}

bool is_heavier(const PartnerRow::Sum& a, const PartnerRow::Sum& b) { return std::tie(a.bytes, a.messages) > std::tie(b.bytes, b.messages); }

} // namespace

std::vector<SpotMessages> messages_by_partner(const Profile& profile, const SpotTable& spots) {
    std::map<std::pair<std::uint32_t, MessageDirection>, SpotMessages> found;
    std::map<std::tuple<std::uint32_t, MessageDirection, std::uint64_t, std::uint64_t>, PartnerRow::Sum> pairs;
    for (const Location& location : profile.locations)
        for (const PartnerRow& row : location.partners.rows) {
            const std::uint32_t spot = spots.of_path[row.path];
            SpotMessages& messages = found[{spot, row.direction}];
            for (const PartnerRow::Sum& unnamed : {row.others, row.unknown}) {
                add(messages.all, unnamed.messages, unnamed.bytes);
                add(messages.unnamed, unnamed.messages, unnamed.bytes);
            }
            for (const PartnerRecord& partner : row.partners) {
                add(messages.all, partner.messages, partner.bytes);
                add(pairs[{spot, row.direction, location.rank, partner.rank}], partner.messages, partner.bytes);
            }
        }
    for (const auto& [key, sum] : pairs) {
        const auto& [spot, direction, rank, partner] = key;
        found[{spot, direction}].pairs.push_back({rank, partner, sum});
    }
    std::vector<SpotMessages> out;
    for (auto& [key, messages] : found) {
        std::tie(messages.spot, messages.direction) = key;
        std::stable_sort(messages.pairs.begin(), messages.pairs.end(), [](const MessagePair& a, const MessagePair& b) { return is_heavier(a.sum, b.sum); });
        out.push_back(std::move(messages));
    }
    std::stable_sort(out.begin(), out.end(), [](const SpotMessages& a, const SpotMessages& b) { return is_heavier(a.all, b.all); });
    return out;
}

std::uint64_t messages_without_partner(const Profile& profile) {
    std::uint64_t lost = 0;
    for (const Location& location : profile.locations) lost += location.partners.lost;
    return lost;
}

} // namespace libprofile::tools
