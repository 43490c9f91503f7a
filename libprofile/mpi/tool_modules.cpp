#include "libprofile/mpi/tool_modules.hpp"

#include <atomic>
#include <cstddef>

namespace libprofile::other_tools {

namespace {

constexpr std::size_t most = 16;
std::atomic<const link_map*> modules[most];

} // namespace

bool remember(const link_map* module) {
    for (std::atomic<const link_map*>& slot : modules) {
        const link_map* present = nullptr;
        if (slot.compare_exchange_strong(present, module, std::memory_order_acq_rel) || present == module) return true;
    }
    return false;
}

bool is_known(const link_map* module) {
    for (const std::atomic<const link_map*>& slot : modules) {
        const link_map* known = slot.load(std::memory_order_acquire);
        if (known == nullptr) return false;
        if (known == module) return true;
    }
    return false;
}

} // namespace libprofile::other_tools
