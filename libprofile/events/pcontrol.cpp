// What MPI_Pcontrol means to libprofile: the levels, and their order around the event of the call itself.
// Contract: as in mpi_events.hpp. Inside an MPI callback the call is counted and has no effect, but for switching on:
// the pause or the phase would begin in the middle of an MPI call.

#include "libprofile/base/process.hpp"
#include "libprofile/base/process_state.hpp"
#include "libprofile/events/markers.hpp"
#include "libprofile/events/mpi_events.hpp"
#include "libprofile/output/checkpoint.hpp"
#include "libprofile/session/session.hpp"
#include "libprofile/thread/recording.hpp"
#include "libprofile/thread/thread_registry.hpp"

#include <cstdio>

namespace libprofile {

namespace {

constexpr int off = 0;
constexpr int on = 1;
constexpr int checkpoint = 2;
constexpr int first_phase = 1000; // this level and above, and their negatives, are phase markers

void record(bool recording, std::uintptr_t frame) noexcept {
    if (process.state() == SessionState::Idle) session.start();
    if (!process.measuring()) return;
    const InTool guard;
    const std::uint64_t now = session_clock.now();
    Thread* thread = thread_registry.current(); // the switch works on threads without a location, too
    if (thread != nullptr && !guard.is_nested()) {
        thread->drop_ended_calls(frame);
        if (thread->call_depth != 0) return;
    }
    session.record(recording);
    if (guard.is_nested()) return; // a handler of the application has interrupted us: the next event will follow the switch
    if (thread != nullptr && !thread->finished) follow_switch(*thread, now);
}

void mark_iteration(int level, std::uintptr_t frame) noexcept {
    char name[32];
    std::snprintf(name, sizeof name, "pcontrol-%lld", level < 0 ? -static_cast<long long>(level) : level);
    mark(level < 0 ? Marker::LastIteration : Marker::NextIteration, name, frame);
}

} // namespace

void before_pcontrol(int level, void* frame) noexcept {
    // Switched on before, switched off after its event: both calls are in the profile.
    if (level == on) record(true, reinterpret_cast<std::uintptr_t>(frame));
}

void after_pcontrol(int level, void* frame) noexcept {
    const auto own_frame = reinterpret_cast<std::uintptr_t>(frame);
    if (level == off)
        record(false, own_frame);
    else if (level == checkpoint)
        write_checkpoint(own_frame);
    else if (level >= first_phase || level <= -first_phase)
        mark_iteration(level, own_frame);
}

} // namespace libprofile
