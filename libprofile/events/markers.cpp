#include "libprofile/events/markers.hpp"

#include "libprofile/base/process.hpp"
#include "libprofile/base/process_state.hpp"
#include "libprofile/callpath/arch/machine.hpp"
#include "libprofile/callpath/load_map.hpp"
#include "libprofile/events/named_regions.hpp"
#include "libprofile/loops/iteration_point.hpp"
#include "libprofile/loops/loop_watch.hpp"
#include "libprofile/output/checkpoint.hpp"
#include "libprofile/session/session.hpp"
#include "libprofile/thread/counting.hpp"
#include "libprofile/thread/recording.hpp"
#include "libprofile/thread/thread_registry.hpp"

namespace libprofile {

void mark(Marker marker, const char* name, std::uintptr_t frame) noexcept {
    if (!process.measuring() || !process.follows_markers()) return;
    const bool is_of_phase = marker == Marker::PhaseBegin || marker == Marker::PhaseEnd;
    if (iteration_point.is_on() && marker != Marker::Place && !is_of_phase) return;
    const InTool guard;
    const std::uint64_t now = session_clock.now();
    Thread* thread = thread_registry.current();
    if (thread == nullptr || thread->finished) return;
    if (guard.is_nested())
        return thread->phases.repairs().note("marker in a signal handler that interrupts libprofile:", name); // a handler of the application has interrupted us
    thread->drop_ended_calls(frame);
    if (thread->call_depth != 0) return;
    if (load_map.is_stale()) load_map.refresh();
    thread->paths.ready();
    const bool records = follow_switch(*thread, now);
    thread->affinity.look();
    thread->counters.open_own();
    count_until_now(*thread);
    const std::uint64_t cpu = thread_cpu_time();
    thread->mark_cpu(now, cpu);
    if (thread->loops != nullptr) thread->loops->stop(*thread, now, cpu);
    PhaseStack& phases = thread->phases;
    switch (marker) {
    case Marker::IterationBegin: phases.begin(PhaseKind::Iterations, name, now, cpu); break;
    case Marker::IterationEnd: phases.end(PhaseKind::Iterations, name, now, cpu); break;
    case Marker::PhaseBegin: phases.begin(PhaseKind::Aggregate, name, now, cpu); break;
    case Marker::PhaseEnd: phases.end(PhaseKind::Aggregate, name, now, cpu); break;
    case Marker::Place:
    case Marker::NextIteration: phases.next_iteration(name, now, cpu); break;
    case Marker::LastIteration: phases.end_if_open(PhaseKind::Iterations, name, now, cpu); break;
    }
    if (records) phases.time().book_overhead(thread->own_time(now, session_clock.now()));
    if (thread->index == 0) keep_iterations(*thread, frame);
    count_own(*thread);
}

} // namespace libprofile

extern "C" [[gnu::visibility("default")]] void profile_marker_v1(int operation, const char* name) noexcept {
    using namespace libprofile;
    session.marker_used();
    if (operation == region_begin_operation || operation == region_end_operation) {
        const auto frame = reinterpret_cast<std::uintptr_t>(LIBPROFILE_OWN_FRAME);
        if (operation == region_begin_operation) return begin_region(RegionClass::User, name, frame), void();
        return end_region(RegionClass::User, name);
    }
    if (operation < 0 || operation > static_cast<int>(Marker::PhaseEnd)) return; // a marker of a newer header
    mark(static_cast<Marker>(operation), name == nullptr ? "" : name, reinterpret_cast<std::uintptr_t>(LIBPROFILE_OWN_FRAME));
}

// The same by name, for callers without our header: Python's ctypes, other languages' foreign function interfaces.
#define MARKER(name, operation)                                                                                                                                \
    extern "C" [[gnu::visibility("default")]] void name(const char* label) noexcept { profile_marker_v1(operation, label); }
MARKER(profile_iteration_begin, 0)
MARKER(profile_iteration_end, 1)
MARKER(profile_phase_begin, 2)
MARKER(profile_phase_end, 3)
#undef MARKER

// What the code near an iteration point calls (code/arch/x86_64/patch_stub.S); `frame`: where a frame of the function that was called would begin.
extern "C" [[gnu::visibility("hidden")]] void libprofile_iteration_passed(std::uint32_t, std::uintptr_t frame) noexcept {
    using namespace libprofile;
    if (!iteration_point.is_on()) return;
    iteration_point.passed();
    mark(Marker::Place, iteration_point.name(), frame);
}
