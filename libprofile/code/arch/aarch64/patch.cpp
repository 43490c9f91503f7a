// Code is not changed on AArch64 yet.
#include "libprofile/code/patch.hpp"

namespace libprofile {

PatchProblem patch_code(std::uintptr_t, std::uint32_t) noexcept { return PatchProblem::NotSupported; }
std::uintptr_t find_call(std::uintptr_t, std::uintptr_t, std::uintptr_t&) noexcept { return 0; }

} // namespace libprofile
