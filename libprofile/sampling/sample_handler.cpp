#include "libprofile/sampling/sample_handler.hpp"

#include "libprofile/session/clock.hpp"
#include "libprofile/session/mpi_events.hpp"
#include "libprofile/session/mpi_event_state.hpp"
#include "libprofile/session/session.hpp"
#include "libprofile/session/thread_registry.hpp"

#include <cerrno>

namespace libprofile {

namespace {

void take(Thread& thread, void* context, std::uint64_t cpu) noexcept {
    ++thread.samples_taken;
    if (Row* event = MpiEventState::row_of_innermost(thread)) {
        ++(*event)[Metric::Samples]; // the event's time is exact, so the sample adds none
        return;
    }
    unwinder.interrupted(context, thread.path);
    const NodeId node = thread.tree.path(thread.path, false);
    Row& row = thread.phases.row(node);
    ++row[Metric::Samples];
    // Weight 0 would drop the only sample of a short iteration.
    row.weight += cpu > thread.last_sample_cpu ? cpu - thread.last_sample_cpu : 1;
}

} // namespace

void handle_sample(int, siginfo_t* info, void* context) noexcept {
    if (info->si_code != SI_TIMER) return; // somebody else's signal
    ThreadLocal& local = thread_local_block;
    const int saved_errno = errno;
    Thread* thread = local.in_tool != 0 ? local.thread : thread_registry.current();
    if (thread == nullptr || thread->finished || !session.measuring()) {
        errno = saved_errno;
        return;
    }
    if (info->si_overrun > 0) thread->samples_lost += static_cast<std::uint64_t>(info->si_overrun);
    if (local.in_tool != 0) {
        ++thread->samples_taken;
        ++thread->samples_in_tool;
    } else {
        const InTool guard;
        const std::uint64_t begin = session_clock.now();
        const std::uint64_t cpu = thread_cpu_time();
        take(*thread, context, cpu);
        thread->last_sample_cpu = cpu;
        thread->mark_cpu(begin, cpu);
        const std::uint64_t spent = session_clock.now() - begin;
        thread->phases.book_overhead(spent);
        MpiEventState::exclude_from_innermost(*thread, spent);
    }
    errno = saved_errno;
}

} // namespace libprofile
