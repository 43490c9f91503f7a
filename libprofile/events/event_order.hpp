// Where events of MPI and OpenMP that have ended come to the order of their iteration (libprofile/order, LIBPROFILE_ORDER).
// Contract: for the calling thread, or the one that closes a location, with the in-tool flag set and while Thread::orders says so; not in signal
// handlers. An event costs some 5 ns.
#pragma once

#include "libprofile/thread/thread.hpp"

#include <cstdint>

namespace libprofile {

/// An event on the path of `node` began at `begin` and was over after `length` ns. Polls and what else comes by chance are left out.
void note_order(Thread& thread, NodeId node, std::uint64_t begin, std::uint64_t length) noexcept;

} // namespace libprofile
