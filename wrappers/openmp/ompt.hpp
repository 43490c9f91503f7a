// The tool interface of OpenMP runtimes that have one (LLVM's libomp): they call us, nothing is interposed.
#pragma once

namespace libprofile {

extern const void* ompt_runtime; // where the module lies that calls us; nullptr if none does

/// The runtime whose module lies at `base` tells of its regions by callbacks: its entry points of the GNU interface must not be counted
/// as well.
inline bool ompt_tells_of(const void* base) noexcept {
    const void* telling = __atomic_load_n(&ompt_runtime, __ATOMIC_ACQUIRE);
    return telling != nullptr && telling == base;
}

} // namespace libprofile
