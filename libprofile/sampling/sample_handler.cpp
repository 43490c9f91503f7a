#include "libprofile/sampling/sample_handler.hpp"

#include "libprofile/base/process.hpp"
#include "libprofile/base/process_state.hpp"
#include "libprofile/callpath/arch/machine.hpp"
#include "libprofile/loops/loop_watch.hpp"
#include "libprofile/output/checkpoint.hpp"
#include "libprofile/sampling/sample_clock.hpp"
#include "libprofile/sampling/skip.hpp"
#include "libprofile/thread/counting.hpp"
#include "libprofile/thread/recording.hpp"
#include "libprofile/thread/thread_registry.hpp"

#include "libprofile/mpi/mpi_modules.hpp"
#include "libprofile/sampling/shared_signal.hpp"
#include <algorithm>

#include <cerrno>
#include <ucontext.h>

namespace libprofile {

namespace {

/// Returns why this sample has no call path, and counts it; None if it has one.
SkipReason skip(Thread& thread, const Registers& registers) noexcept {
    const SkipReason reason = why_not_unwound(registers.instruction);
    if (reason != SkipReason::None) thread.skip(reason);
    return reason;
}

/// A sample's node, and its common ancestor with the sample before.
struct Sampled {
    NodeId node = 0;
    CommonAncestor ancestor;
};

/// Inside an MPI call. The call's time is exact, so the sample adds none.
Sampled take_in_call(Thread& thread, const Registers& registers) noexcept {
    const RunningCall& call = thread.calls[thread.call_depth - 1];
    ++(*call.row)[Metric::Samples];
    const bool at_mark = is_mark_code(registers.instruction);
    // In a wait of a runtime, only the address of the return slot is known.
    const std::uintptr_t stack = registers.stack;
    const bool is_own = is_own_stack(stack) && is_own_stack(call.frame) && !thread.openmp.wait.may_be_over;
    if (at_mark || !is_own) {
        thread.paths.miss_sample();
        return {call.row->node, {}};
    }
    return {call.row->node, thread.paths.at_sample_in_call(call.frame, stack)};
}

/// Since the last sample with a path, the thread was off the processor for longer than samples are apart: that was in a function that stands. In less
/// time it may have been preempted for a moment. Samples of wall time are as close in a thread that sleeps.
void place_time_off_cpu(Thread& thread, std::uint64_t now, std::uint64_t cpu) noexcept {
    const std::uint64_t period = thread.clock.rate.mean();
    const std::uint64_t least = thread.clock.kind == SamplingClock::Wall ? period / 2 : period;
    const WallLedger::Absence away = thread.phases.time().look(now, cpu, std::max<std::uint64_t>(least, 1));
    if (away.ns != 0) [[unlikely]] {
        const NodeId function = thread.paths.standing_function();
        const NodeId place = function == 0 ? 0 : thread.phases.book_off_cpu(function, away.ns);
        if (place != 0 && thread.loops != nullptr) thread.loops->was_away(thread, place, away.ns, away.since);
    }
    thread.paths.begin_standing();
}

/// `weight`: the time that the sample stands for, in ns; `cpu`: the thread's CPU time at `now`.
Sampled take(Thread& thread, void* context, std::uint64_t weight, std::uint64_t now, std::uint64_t cpu) noexcept {
    ++thread.samples_taken;
    const Registers registers = registers_of(context);
    const std::uintptr_t stack = registers.stack;
    if (is_own_stack(stack)) thread.drop_left_calls(stack);
    if (thread.call_depth != 0) return take_in_call(thread, registers);
    if (PathTracker::has_returned() && thread.loops != nullptr) [[unlikely]]
        thread.loops->follow_returns(thread, now, cpu);
    Sampled sampled;
    const SkipReason reason = skip(thread, registers);
    if (reason == SkipReason::None) {
        sampled.node = thread.paths.at_sample(context);
        sampled.ancestor = thread.paths.common_ancestor();
        place_time_off_cpu(thread, now, cpu);
    } else {
        thread.paths.miss_sample();
        sampled.node = reason == SkipReason::AtMark ? thread.paths.node_at_mark() : thread.tree.lone_frame(registers.instruction);
    }
    const std::uint64_t stands_for = weight != 0 ? weight : 1; // 0 would drop the only sample of a short phase
    const Row& row = thread.phases.book_samples(sampled.node, 1, stands_for);
    if (thread.loops != nullptr) thread.loops->sampled(thread, row.node, stands_for);
    return sampled;
}

/// For a thread that is or should be silent: follows the switch, and returns true if this sample counts. The in-tool flag must be set.
bool follow(Thread& thread, void* context) noexcept {
    const Registers registers = registers_of(context);
    const std::uintptr_t stack = registers.stack;
    if (is_own_stack(stack)) thread.drop_left_calls(stack);
    if (thread.call_depth != 0) return false; // the pause begins when this call has returned
    if (process.recording()) {
        if (why_not_unwound(registers.instruction) != SkipReason::None) return false; // not now
        // A call that began while recording was off is not recorded; its end must not become computing time.
        if (is_own_stack(stack)) thread.paths.at_sample(context);
        for (std::size_t i = 0; i < thread.paths.size(); ++i)
            if (is_mpi_library_address(reinterpret_cast<const void*>(thread.paths[i].address))) return false;
    }
    return follow_switch(thread, session_clock.now());
}

/// The CPU time was not read when the running call began. After this reading, the CPU time used before the call would be lost.
void keep_cpu_at_start(Thread& thread, std::uint64_t cpu) noexcept {
    RunningCall& call = thread.calls[thread.call_depth - 1];
    if (call.cpu_start == 0) call.cpu_start = std::max<std::uint64_t>(1, thread.cpu_until(call.start, cpu));
}

/// Books a sample.
void count(Thread& thread, const siginfo_t& info, void* context, std::uint64_t lost) noexcept {
    thread.samples_lost += lost;
    const std::uint64_t entered = session_clock.now();
    const std::uint64_t cpu = thread_cpu_time();
    const std::uint64_t begin = session_clock.now();
    const std::uint64_t weight = weigh(thread, info, reading_of(thread.clock, begin, cpu));
    thread.clock.weighed_ns += weight;
    const Sampled sampled = take(thread, context, weight, begin, cpu);
    thread.affinity.look();
    if (thread.counters.is_on()) [[unlikely]]
        count_for(thread, thread.call_depth != 0 ? *thread.calls[thread.call_depth - 1].row : thread.phases.row(sampled.node));
    thread.trace.add(begin, sampled.node, sampled.ancestor.depth, sampled.ancestor.kind);
    if (thread.call_depth != 0) keep_cpu_at_start(thread, cpu);
    thread.mark_cpu(begin, cpu);
    // Reading the CPU time makes the kernel notice that the time slice is over. On shared cores, slices then end here; what other processes did
    // meanwhile is not our time.
    constexpr std::uint64_t dear_reading = 1000;
    const std::uint64_t around = (begin - entered < dear_reading ? begin - entered : dear_reading) + thread.clock.unseen_ns;
    const std::uint64_t end = session_clock.now();
    const std::uint64_t own = thread.own_time(begin, end);
    const std::uint64_t asleep = end - begin - own;
    if (is_checkpoint_due(thread, begin)) [[unlikely]]
        thread.cheap_event.make_due(); // the next MPI call writes it
    thread.phases.time().book_overhead(own + around);
    thread.clock.rate.learn(own + around);
    if (thread.call_depth == 0) return;
    RunningCall& call = thread.calls[thread.call_depth - 1];
    call.inner += own + asleep + around;
    // The call's CPU time is computed as the time since its start minus `inner`. That subtracts the sleep, so this adds it again.
    call.cpu_start = call.cpu_start > asleep ? call.cpu_start - asleep : 1;
}

/// The number of expirations that have merged into this one. The beat of a counter merges without a loss, because it asks for no sample. So do automatic
/// intervals that are shorter than the kernel's ticks.
std::uint64_t merged(const Thread& thread, const siginfo_t& info) noexcept {
    const bool expires = info.si_code == SI_TIMER && thread.clock.kind != SamplingClock::Perf && thread.clock.rate.is_fixed();
    return expires && info.si_overrun > 0 ? static_cast<std::uint64_t>(info.si_overrun) : 0;
}

void sample(Thread& thread, const siginfo_t& info, void* context) noexcept {
    const bool silent = thread.phases.time().is_paused() || !process.recording();
    const std::uint64_t lost = merged(thread, info);
    if (thread_local_block.in_tool != 0 || (thread.call_depth == 0 && is_own_code(registers_of(context).instruction))) {
        if (silent) return;
        thread.samples_lost += lost;
        ++thread.samples_taken;
        thread.clock.in_tool += thread.clock.rate.interval();
        thread.skip(SkipReason::InTool);
        return;
    }
    const InTool guard;
    if (!thread.finished && (!silent || follow(thread, context)))
        count(thread, info, context, silent ? 0 : lost); // expirations while recording was off are no loss
}

void our_signal(const siginfo_t& info, void* context) noexcept {
    const bool in_tool = thread_local_block.in_tool != 0;
    Thread* thread = in_tool ? thread_local_block.thread : thread_registry.current();
    if (!process.measuring() || (thread == nullptr ? !in_tool : thread->finished)) return;
    if (thread != nullptr && is_due(*thread, info, context)) sample(*thread, info, context);
    arm_again(thread, info);
}

} // namespace

void handle_sample(int signal, siginfo_t* info, void* context) noexcept {
    const int saved_errno = errno;
    if (is_our_signal(*info))
        our_signal(*info, context);
    else
        forward_signal(signal, info, context); // the application uses this signal, too
    errno = saved_errno;
}

} // namespace libprofile
