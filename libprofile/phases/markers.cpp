// The entry point behind all phase markers (include/libprofile.h, .hpp, .f90).
// Contract: any thread, not in signal handlers; never fails; mismatches are repaired by the phase stack and reported
// once per job. Inside an MPI callback a marker is ignored: a phase cannot change in the middle of an MPI call.

#include "libprofile/callpath/load_map.hpp"
#include "libprofile/session/clock.hpp"
#include "libprofile/session/session.hpp"
#include "libprofile/session/thread_registry.hpp"

extern "C" [[gnu::visibility("default")]] void profile_marker_v1(int operation, const char* name) noexcept {
    using namespace libprofile;
    session.marker_used();
    if (!session.measuring()) return;
    const InTool guard;
    const std::uint64_t now = session_clock.now();
    Thread* thread = thread_registry.current();
    if (thread == nullptr || thread->finished) return;
    thread->drop_left_calls(reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)));
    if (thread->call_depth != 0) return;
    if (name == nullptr) name = "";
    if (load_map.is_stale()) load_map.refresh();
    const std::uint64_t cpu = thread_cpu_time();
    thread->mark_cpu(now, cpu);
    switch (operation) {
    case 0: thread->phases.begin(PhaseKind::Iterations, name, now, cpu); break;
    case 1: thread->phases.end(PhaseKind::Iterations, name, now, cpu); break;
    case 2: thread->phases.begin(PhaseKind::Aggregate, name, now, cpu); break;
    case 3: thread->phases.end(PhaseKind::Aggregate, name, now, cpu); break;
    default: break; // a marker of a newer header
    }
    thread->phases.book_overhead(session_clock.now() - now);
}

// The same by name, for callers without our header: Python's ctypes, other languages' foreign function interfaces.
#define MARKER(name, operation)                                                                              \
    extern "C" [[gnu::visibility("default")]] void name(const char* label) noexcept { profile_marker_v1(operation, label); }
MARKER(profile_iteration_begin, 0)
MARKER(profile_iteration_end, 1)
MARKER(profile_phase_begin, 2)
MARKER(profile_phase_end, 3)
#undef MARKER
