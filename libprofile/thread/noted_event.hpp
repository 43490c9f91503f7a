// Where events of MPI, OpenMP and named regions that have ended come to the order of their iteration (libprofile/order, LIBPROFILE_ORDER) and to the trace of
// events (libprofile/trace, LIBPROFILE_TRACE).
// Contract: for the calling thread, or the one that closes a location, with the in-tool flag set and while Thread::listeners has any; not in signal
// handlers. An event costs some 5 ns for the order, and 8 ns for the trace.
#pragma once

#include "libprofile/base/function_records.hpp"
#include "libprofile/thread/thread.hpp"

#include <cstdint>

namespace libprofile {

/// An event on the path of `node` began at `begin` and was over after `length` ns. Polls, and in the order what else comes by chance, are left out.
void note_event(Thread& thread, NodeId node, std::uint64_t begin, std::uint64_t length) noexcept;
void note_for_order(Thread& thread, NodeId node, std::uint64_t begin, std::uint64_t length) noexcept;
/// The same if the caller knows the path's trait, so that it need not be looked up in the call tree.
[[gnu::always_inline]] inline void note_event(Thread& thread, MpiTrait trait, NodeId node, std::uint64_t begin, std::uint64_t length) noexcept {
    if (thread.listeners.trace && trait != MpiTrait::poll) thread.events->add(node, begin, begin + length);
    if (thread.listeners.order && is_of_program(trait)) note_for_order(thread, node, begin, length);
}
/// The counters as they were read last are those at the begin of the call or wait that comes, for the trace.
inline void begin_counts(Thread& thread) noexcept {
    if (thread.counters.is_on() && thread.listeners.trace) thread.events->begin_counts();
}
/// And now they were read at its end, after note_event().
void note_counts(Thread& thread, NodeId node) noexcept;
/// One that others may lie in has begun.
void note_begin(Thread& thread, NodeId node) noexcept;

} // namespace libprofile
