// What becomes of a call of MPI or a wait of OpenMP in the thread's trace, when it has ended.
// Contract: for the calling thread, with its in-tool flag set, except trace_wait_apart(), which also the thread that closes a location calls; not in
// signal handlers; memory from the thread's arena. To be called for those of at least long_event_ns, which are rare; without a trace they do nothing.
#pragma once

#include "libprofile/thread/thread.hpp"

#include <cstdint>

namespace libprofile {

/// The outermost running call, or the wait, `call` on the path of `node` has ended at `end`. Its frame still stands.
void trace_wait(Thread& thread, const RunningCall& call, NodeId node, std::uint64_t end) noexcept;

/// The thread waited from `begin` to `end`, and its stack cannot be looked at.
void trace_wait_apart(Thread& thread, NodeId node, std::uint64_t begin, std::uint64_t end) noexcept;

} // namespace libprofile
