#include "tools/diagnosis/message_partners.hpp"

#include "tools/text/phrases.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace libprofile::tools {

namespace {

/// All partners of the thread there; empty if there are none, or they are not all known.
std::vector<std::uint64_t> certain_partners(const Location& location, const SpotTable& spots, std::uint32_t spot, MessageDirection direction) {
    std::set<std::uint64_t> partners;
    if (location.partners.lost != 0) return {};
    for (const PartnerRow& row : location.partners.rows) {
        if (row.direction != direction || spots.of_path[row.path] != spot) continue;
        if (row.others.messages != 0 || row.unknown.messages != 0) return {};
        for (const PartnerRecord& partner : row.partners) partners.insert(partner.rank);
    }
    return {partners.begin(), partners.end()};
}

} // namespace

bool has_only_itself_there(const Location& location, const SpotTable& spots, std::uint32_t spot) {
    bool has_itself = false;
    for (const PartnerRow& row : location.partners.rows) {
        if (spots.of_path[row.path] != spot) continue;
        if (location.partners.lost != 0 || row.others.messages != 0 || row.unknown.messages != 0) return false;
        for (const PartnerRecord& partner : row.partners)
            if (partner.rank != location.rank) return false;
        has_itself = true;
    }
    return has_itself;
}

std::string partners_there(const Profile& profile, const SpotTable& spots, std::uint32_t spot, MessageDirection direction,
                           const std::vector<std::uint32_t>& ranks) {
    constexpr std::size_t most_ranks = 3, most_partners_named = 3;
    std::string text;
    std::size_t told = 0;
    for (const Location& location : profile.locations) {
        if (location.thread != 0 || std::find(ranks.begin(), ranks.end(), location.rank) == ranks.end()) continue;
        const std::vector<std::uint64_t> partners = certain_partners(location, spots, spot, direction);
        if (partners.empty() || partners.size() > most_partners_named || told == most_ranks) continue;
        const bool is_sent = direction == MessageDirection::Sent;
        text += fmt::format("{}rank {}{} {} {} only", told == 0 ? "" : ", ", location.rank,
                            told != 0 ? ""
                            : is_sent ? " sends there"
                                      : " receives there",
                            is_sent ? "to" : "from", rank_words(partners));
        ++told;
    }
    return text;
}

} // namespace libprofile::tools
