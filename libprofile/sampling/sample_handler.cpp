#include "libprofile/sampling/sample_handler.hpp"

#include "libprofile/callpath/stack_memory.hpp"
#include "libprofile/sampling/timer.hpp"
#include "libprofile/session/clock.hpp"
#include "libprofile/session/recording.hpp"
#include "libprofile/session/session.hpp"
#include "libprofile/session/thread_registry.hpp"
#include "wrappers/mpi/mpi_modules.hpp"
#include "wrappers/process/signals.hpp"

#include <cerrno>
#include <ucontext.h>

namespace libprofile {

namespace {

void take(Thread& thread, void* context, std::uint64_t cpu) noexcept {
    ++thread.samples_taken;
    const greg_t* registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
    const auto stack = static_cast<std::uintptr_t>(registers[REG_RSP]);
    if (is_own_stack(stack)) thread.drop_left_calls(stack);
    if (thread.call_depth != 0) {
        // The call's time is exact, so the sample adds none.
        const RunningCall& call = thread.calls[thread.call_depth - 1];
        ++(*call.row)[Metric::Samples];
        if (is_own_stack(stack) && is_own_stack(call.frame)) thread.paths.at_sample_in_call(call.frame);
        return;
    }
    // On a stack we know nothing of (an application's signal handler, a coroutine) there may be little room left.
    const bool is_own = is_own_stack(reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0))) && is_own_stack(stack);
    const NodeId node =
        is_own ? thread.paths.at_sample(context)
               : thread.tree.frame(thread.tree.partial(), static_cast<std::uintptr_t>(registers[REG_RIP]));
    if (!is_own) thread.tree.count_partial_path();
    Row& row = thread.phases.row(node);
    ++row[Metric::Samples];
    // Weight 0 would drop the only sample of a short iteration.
    row.weight += cpu > thread.last_sample_cpu ? cpu - thread.last_sample_cpu : 1;
}

/// For a thread that is or should be silent: follows the switch, and tells whether this sample counts. In-tool flag set.
bool follow(Thread& thread, void* context) noexcept {
    const auto stack = static_cast<std::uintptr_t>(static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RSP]);
    if (is_own_stack(stack)) thread.drop_left_calls(stack);
    if (thread.call_depth != 0) return false; // the pause begins when this call has returned
    if (session.recording()) {
        // A call that began while recording was off is not recorded; its end must not become computing time.
        if (is_own_stack(stack)) thread.paths.at_sample(context);
        for (std::size_t i = 0; i < thread.paths.size(); ++i)
            if (is_mpi_library_address(reinterpret_cast<const void*>(thread.paths[i].address))) return false;
    }
    return follow_switch(thread, session_clock.now());
}

/// A sample that has a place in the profile.
void count(Thread& thread, void* context, std::uint64_t lost) noexcept {
    thread.samples_lost += lost;
    const std::uint64_t begin = session_clock.now();
    const std::uint64_t cpu = thread_cpu_time();
    take(thread, context, cpu);
    thread.last_sample_cpu = cpu;
    thread.mark_cpu(begin, cpu);
    const std::uint64_t spent = session_clock.now() - begin;
    thread.phases.book_overhead(spent);
    if (thread.call_depth != 0) thread.calls[thread.call_depth - 1].inner += spent;
}

void sample(const siginfo_t& info, void* context) noexcept {
    ThreadLocal& local = thread_local_block;
    Thread* thread = local.in_tool != 0 ? local.thread : thread_registry.current();
    if (thread == nullptr || thread->finished || !session.measuring()) return;
    const bool silent = thread->phases.is_paused() || !session.recording();
    const std::uint64_t lost = info.si_overrun > 0 ? static_cast<std::uint64_t>(info.si_overrun) : 0;
    if (local.in_tool != 0) {
        if (silent) return;
        thread->samples_lost += lost;
        ++thread->samples_taken;
        ++thread->samples_in_tool;
        return;
    }
    if (is_mark_code(static_cast<std::uintptr_t>(static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]))) {
        // A return passes through the mark: nothing of the stack may be touched.
        if (silent) return;
        thread->samples_lost += lost + 1;
        return;
    }
    const InTool guard;
    if (!thread->finished && (!silent || follow(*thread, context)))
        count(*thread, context, silent ? 0 : lost); // expirations while recording was off are no loss
}

} // namespace

void handle_sample(int signal, siginfo_t* info, void* context) noexcept {
    const int saved_errno = errno;
    if (is_our_timer(*info))
        sample(*info, context);
    else
        forward_signal(signal, info, context); // the application uses this signal, too
    errno = saved_errno;
}

} // namespace libprofile
