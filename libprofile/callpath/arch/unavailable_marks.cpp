// Architectures without marks: call paths are walked in full, and least common ancestors are upper bounds.
#include "libprofile/callpath/mark.hpp"

namespace libprofile {

bool are_marks_possible() noexcept { return false; }
void place_mark(Mark&, const TrackedFrame*, std::int32_t) noexcept {}
void remove_mark(Mark& mark, std::uintptr_t) noexcept { mark.slot = 0; }
void restore_losses(const Mark&, std::uintptr_t) noexcept {}

std::uintptr_t lift_mark(Mark&, std::uintptr_t) noexcept { return 0; }
void put_back_mark(Mark&, std::uintptr_t) noexcept {}
void jump_mark(Mark&, std::uintptr_t) noexcept {}
std::uintptr_t longjmp_target(const void*) noexcept { return 0; }

} // namespace libprofile
