// The receives and file reads under way, as MPI handles: at completion they tell which status holds the bytes that
// arrived, and of what. Contract: as in request_table.hpp. Called by the wrapper bodies.
//
// Why: the status of a completed send looks like that of a receive (Open MPI fills in the bytes and the own rank), and
// handles of sends are not unique. The handle of a receive is, while it is open.
#pragma once

#include <cstdint>

namespace libprofile {

enum class DataRequest : std::uint8_t {
    None,
    Receive,
    PersistentReceive,
    ReceiveWithoutStatus, // MPI does not say how much arrived
    Message,              // found by a matched probe: the handle is that of the message
    FileRead,
    FileCollectiveRead
};

struct OpenRequest {
    DataRequest kind = DataRequest::None;
    std::uint32_t group = 0; // of a receive: whose rank its source is (rank_groups.hpp)
};

namespace data_requests {

/// Remembers an open request. False when memory ran out: its bytes will not be counted.
bool insert(std::uint64_t handle, OpenRequest open) noexcept;

OpenRequest find(std::uint64_t handle) noexcept;

/// Forgets a request that was completed or freed, and says what it was.
OpenRequest remove(std::uint64_t handle) noexcept;

} // namespace data_requests
} // namespace libprofile
