#include "libprofile/session/thread.hpp"

namespace libprofile {

constinit thread_local ThreadLocal thread_local_block __attribute__((tls_model("initial-exec"))){};

bool is_still_inside(std::uintptr_t frame) noexcept {
    const std::uintptr_t inside = thread_local_block.tool_frame;
    return inside > frame || !is_own_stack(frame) || !is_own_stack(inside);
}

} // namespace libprofile
