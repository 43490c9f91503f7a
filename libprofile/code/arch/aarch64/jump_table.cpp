// None is recognised on AArch64 yet: functions with a switch are code that is not understood.
#include "libprofile/code/jump_table.hpp"

namespace libprofile {

std::uintptr_t JumpTable::target(std::uint32_t) const noexcept { return 0; }
bool is_tail_call(const std::uintptr_t*, std::uint32_t) noexcept { return false; }
bool find_jump_table(const std::uintptr_t*, std::uint32_t, JumpTable&) noexcept { return false; }

} // namespace libprofile
