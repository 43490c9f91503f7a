#include "tools/timeline/message_senders.hpp"

#include <map>
#include <tuple>

namespace libprofile::tools {

MessageSenders::MessageSenders(const Profile& profile, const IndexedRows& rows) {
    for (std::size_t l = 0; l < rows.size(); ++l)
        if (rows[l] != nullptr) ranks_.push_back(profile.locations[l].rank);
    std::sort(ranks_.begin(), ranks_.end());
    ranks_.erase(std::unique(ranks_.begin(), ranks_.end()), ranks_.end());
}

bool all_have_senders(const Profile& profile, const IndexedRows& rows) {
    using Kind = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::int32_t>; // sender, receiver, communicator, tag
    struct Ends {
        std::uint64_t sent = 0, sum_sent = 0, received = 0, sum_received = 0;
    };
    const MessageSenders senders(profile, rows);
    std::map<Kind, Ends> kinds;
    for (std::size_t l = 0; l < rows.size(); ++l) {
        if (rows[l] == nullptr) continue;
        if (!rows[l]->index().has_all_messages) return false;
        const std::uint32_t rank = profile.locations[l].rank;
        for (const MessageKind& kind : rows[l]->index().messages) {
            Ends& ends =
                kinds[kind.is_received ? Kind(kind.partner, rank, kind.communicator, kind.tag) : Kind(rank, kind.partner, kind.communicator, kind.tag)];
            (kind.is_received ? ends.received : ends.sent) += kind.number;
            (kind.is_received ? ends.sum_received : ends.sum_sent) += kind.sum;
        }
    }
    return std::all_of(kinds.begin(), kinds.end(), [&](const auto& kind) {
        const Ends& ends = kind.second;
        return ends.received == 0 || !senders.have_rank(std::get<0>(kind.first)) || (ends.received == ends.sent && ends.sum_received == ends.sum_sent);
    });
}

} // namespace libprofile::tools
