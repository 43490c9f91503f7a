#include "libprofile/events/traced_wait.hpp"

namespace libprofile {

namespace {

/// Whether the wait is one for the trace: longer than samples are apart on average, now.
bool is_long(Thread& thread, std::uint64_t begin, std::uint64_t end) noexcept {
    const std::uint64_t period = thread.clock.kind == SamplingClock::None ? 0 : thread.clock.rate.mean();
    return end > begin && thread.trace.is_long(end - begin, period);
}

} // namespace

[[gnu::cold]] void trace_wait(Thread& thread, const RunningCall& call, NodeId node, std::uint64_t end) noexcept {
    if (!thread.trace.is_on() || !is_long(thread, call.start, end)) return;
    const auto stack = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    if (!is_own_stack(stack) || !is_own_stack(call.frame)) return thread.trace.add_wait_apart(call.start, end, node);
    const CommonAncestor common = thread.paths.at_sample_in_call(call.frame, stack);
    thread.trace.add_wait(call.start, end, node, common.depth, common.kind);
}

[[gnu::cold]] void trace_wait_apart(Thread& thread, NodeId node, std::uint64_t begin, std::uint64_t end) noexcept {
    if (thread.trace.is_on() && is_long(thread, begin, end)) thread.trace.add_wait_apart(begin, end, node);
}

} // namespace libprofile
