// Which ranks exchange the point-to-point messages of an MPI function and its caller, over the whole run.
// Contract: thread-safe (no state); allocates its results; throws std::bad_alloc only.
#pragma once

#include "tools/analysis/hot_spots.hpp"
#include "tools/reader/model.hpp"

#include <cstdint>
#include <vector>

namespace libprofile::tools {

/// What a rank sent to another one there, or received from it.
struct MessagePair {
    std::uint64_t rank = 0;
    std::uint64_t partner = 0;
    PartnerRow::Sum sum;
};

struct SpotMessages {
    std::uint32_t spot = 0;
    MessageDirection direction = MessageDirection::Sent;
    PartnerRow::Sum all;
    PartnerRow::Sum unnamed;        // of these: to partners after the first ones of a call path, or not known
    std::vector<MessagePair> pairs; // by bytes, then messages
};

/// By bytes, then messages. All threads.
std::vector<SpotMessages> messages_by_partner(const Profile& profile, const SpotTable& spots);

/// Messages that have no row, since memory was short.
std::uint64_t messages_without_partner(const Profile& profile);

} // namespace libprofile::tools
