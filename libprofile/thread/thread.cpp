#include "libprofile/thread/thread.hpp"

namespace libprofile {

bool is_still_inside(std::uintptr_t frame) noexcept {
    const std::uintptr_t inside = thread_local_block.tool_frame;
    return inside > frame || !is_own_stack(frame) || !is_own_stack(inside);
}

std::uint64_t Thread::own_time(std::uint64_t from, std::uint64_t until) noexcept {
    if (until - from < long_event_ns) [[likely]]
        return until - from;
    const std::uint64_t cpu = thread_cpu_time();
    const std::uint64_t own = own_time(from, until, cpu);
    mark_cpu(until, cpu);
    return own;
}

} // namespace libprofile
