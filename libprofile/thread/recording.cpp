#include "libprofile/thread/recording.hpp"

#include "libprofile/base/process.hpp"
#include "libprofile/base/process_state.hpp"
#include "libprofile/thread/counting.hpp"
#include "libprofile/thread/thread_life.hpp"
#include "libprofile/thread/thread_registry.hpp"

namespace libprofile {

bool follow_switch(Thread& thread, std::uint64_t now) noexcept {
    const bool on = process.recording();
    if (on != thread.phases.time().is_paused()) return on;
    const std::uint64_t cpu = thread_cpu_time();
    thread_life.interrupt(thread);
    count_until_now(thread);
    if (on) {
        thread.phases.resume(now, cpu);
        thread.clock.hidden = thread.clock.in_tool = 0;
        thread.clock.last = reading_of(thread.clock, now, cpu); // the next sample stands for the time since
        thread.mark_cpu(now, cpu);
    } else {
        thread.phases.pause(now, cpu);
    }
    return on;
}

Thread* waking_thread() noexcept {
    Thread* thread = thread_registry.current();
    return thread == nullptr || (thread->is_silent() && !wakes(*thread, session_clock.now())) ? nullptr : thread;
}

void follow_unrecorded_call(std::uintptr_t frame) noexcept {
    const InTool guard;
    Thread* thread = thread_registry.current();
    if (guard.is_nested() || thread == nullptr || thread->is_silent()) return;
    thread->drop_ended_calls(frame);
    if (thread->call_depth == 0) follow_switch(*thread, session_clock.now());
}

} // namespace libprofile
