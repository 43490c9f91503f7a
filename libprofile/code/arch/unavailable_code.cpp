// Architectures without a decoder: no code is understood and none is patched. A loop is judged by the order of its calls alone.
#include "libprofile/code/instruction.hpp"
#include "libprofile/code/patch.hpp"

namespace libprofile {

Instruction decode(std::uintptr_t, std::size_t) noexcept { return {}; }
bool is_table_jump(std::uintptr_t, const Instruction&) noexcept { return false; }
bool is_return(std::uintptr_t, const Instruction&) noexcept { return false; }

PatchProblem patch_code(std::uintptr_t, std::uint32_t) noexcept { return PatchProblem::NotSupported; }
std::uintptr_t find_call(std::uintptr_t, std::uintptr_t, std::uintptr_t&) noexcept { return 0; }

} // namespace libprofile
