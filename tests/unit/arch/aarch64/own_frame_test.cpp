#include "libprofile/callpath/arch/machine.hpp"

#include <gtest/gtest.h>

namespace libprofile {

namespace {

struct Seen {
    std::uintptr_t frame;
    std::uintptr_t stack; // what a function without a frame has for a stack pointer that is called here
    std::uintptr_t return_address;
    std::uintptr_t expected;
};

[[gnu::noinline]] Seen look() {
    const auto frame = reinterpret_cast<std::uintptr_t>(LIBPROFILE_OWN_FRAME);
    std::uintptr_t stack = 0;
    __asm__ volatile("mov %0, sp" : "=r"(stack));
    return {frame, stack, return_address_of(frame), code_address(reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)))};
}

} // namespace

TEST(OwnFrame, FunctionsWithoutAFrameAreFartherInside) {
    const Seen seen = look();
    EXPECT_GT(seen.frame, seen.stack);
    EXPECT_EQ(seen.return_address, seen.expected);
}

} // namespace libprofile
