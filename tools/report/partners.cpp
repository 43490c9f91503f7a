#include "tools/analysis/partners.hpp"
#include "tools/names/labels.hpp"
#include "tools/report/sections.hpp"
#include "tools/text/phrases.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace libprofile::tools {

namespace {

constexpr std::size_t most_spots = 6, most_pairs = 4;

/// "30 MB in 20 messages".
std::string amount(const PartnerRow::Sum& sum) {
    const std::string messages = plural(sum.messages, "message");
    return sum.bytes == 0 ? messages + " without data" : fmt::format("{} in {}", byte_size(static_cast<double>(sum.bytes)), messages);
}

double share(const PartnerRow::Sum& part, const PartnerRow::Sum& all) {
    return all.bytes != 0 ? static_cast<double>(part.bytes) / static_cast<double>(all.bytes)
                          : static_cast<double>(part.messages) / static_cast<double>(std::max<std::uint64_t>(all.messages, 1));
}

/// "rank 0 to rank 1 60 %, rank 1 to rank 0 40 %".
std::string pairs_text(const SpotMessages& messages) {
    const bool is_sent = messages.direction == MessageDirection::Sent;
    std::string text;
    PartnerRow::Sum rest = messages.all;
    for (std::size_t i = 0; i < std::min(messages.pairs.size(), most_pairs); ++i) {
        const MessagePair& pair = messages.pairs[i];
        text += fmt::format("{}rank {} {} rank {} {}", i == 0 ? "" : ", ", pair.rank, is_sent ? "to" : "from", pair.partner,
                            percent(share(pair.sum, messages.all)));
        rest.messages -= pair.sum.messages;
        rest.bytes -= pair.sum.bytes;
    }
    if (rest.messages == 0) return text;
    if (messages.pairs.empty()) return "partners are not known";
    return text + fmt::format(", others {}", percent(share(rest, messages.all)));
}

} // namespace

void append_partners(const ReportContext& context, TextWriter& to) {
    const std::vector<SpotMessages> all = messages_by_partner(context.profile, context.spots);
    if (all.empty()) return;
    to.heading("Partners of messages", "the whole run, all threads; ranks of MPI_COMM_WORLD");
    for (std::size_t i = 0; i < std::min(all.size(), most_spots); ++i) {
        const SpotMessages& messages = all[i];
        const char* what = messages.direction == MessageDirection::Sent ? "sent" : "received";
        to.paragraph(fmt::format("{}: {} {}; {}", printable(spot_text(context.spots.spots[messages.spot])), amount(messages.all), what, pairs_text(messages)),
                     "  ", "    ");
    }
    if (all.size() > most_spots) to.dim(fmt::format("  and {} more; --format json has all", all.size() - most_spots));
    if (const std::uint64_t lost = messages_without_partner(context.profile); lost != 0)
        to.dim(fmt::format("  without {}: memory was short", plural(lost, "message")));
}

} // namespace libprofile::tools
