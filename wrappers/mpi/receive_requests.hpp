// The receive requests under way, as MPI handles: at completion they tell a received message from a completed
// send. Contract: thread-safe without locks; allocates by mmap only, when many requests are open at once; not
// called from signal handlers. Called by the wrapper bodies.
//
// Why: the status of a completed send looks like that of a receive (Open MPI fills in the bytes and the own
// rank), and handles of sends are not unique. The handle of a receive is, while it is open.
#pragma once

#include <cstdint>

namespace libprofile::receive_requests {

/// Remembers an open receive. False when memory ran out: its bytes will not be counted.
bool insert(std::uint64_t handle) noexcept;

bool contains(std::uint64_t handle) noexcept;

/// Forgets a receive that was completed or freed. False when the handle was none.
bool remove(std::uint64_t handle) noexcept;

} // namespace libprofile::receive_requests
