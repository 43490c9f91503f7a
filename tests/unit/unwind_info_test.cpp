#include "libprofile/callpath/unwind_info.hpp"

#include "tests/unit/hand_made_unwind.hpp"

#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <random>
#include <sys/auxv.h>
#include <sys/mman.h>

namespace libprofile {

namespace {
std::uintptr_t handler_returns_to = 0;
[[gnu::noinline]] void note_return(int) { handler_returns_to = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)); }
} // namespace

TEST(UnwindInfo, KnowsTheEndsOfStacksAndSignalHandlers) {
    signal(SIGUSR1, note_return);
    raise(SIGUSR1);
    signal(SIGUSR1, SIG_DFL);
#ifndef __SANITIZE_THREAD__ // it calls handlers from one of its own
    EXPECT_EQ(read_unwind_info(handler_returns_to - 1).kind, RecipeKind::Signal);
#endif
    EXPECT_EQ(read_unwind_info(getauxval(AT_ENTRY) + 16).kind, RecipeKind::Outermost);
    EXPECT_EQ(read_unwind_info(getauxval(AT_SYSINFO_EHDR)).kind, RecipeKind::Missing); // not code
    EXPECT_EQ(read_unwind_info(8).kind, RecipeKind::Missing);
    EXPECT_EQ(read_unwind_info(reinterpret_cast<std::uintptr_t>(&handler_returns_to)).kind, RecipeKind::Missing);
}

TEST(UnwindInfo, PersonalitiesAreToldByTheirModules) {
    HandMade information;
    information.augmentation = {'z', 'P', 'L', 'R', 0};
    static std::uintptr_t routine = 0; // for the indirect encoding
    const auto use = [&](std::uintptr_t address, std::uint8_t encoding) {
        information.augmentation_data = {encoding};
        for (unsigned i = 0; i < 8; ++i) information.augmentation_data.push_back(static_cast<std::uint8_t>(address >> 8 * i));
        information.augmentation_data.push_back(pointer_encoding::omitted);
        information.augmentation_data.push_back(pointer_encoding::absolute);
        EXPECT_EQ((information.at(0).flags & ForeignPersonality) != 0, information.is_foreign());
        return information.is_foreign();
    };
    const auto through = [&](std::uintptr_t address) {
        routine = address;
        return use(reinterpret_cast<std::uintptr_t>(&routine), pointer_encoding::indirect);
    };
    const auto terminate = reinterpret_cast<std::uintptr_t>(&std::terminate); // stands for anything in libstdc++
    const auto libm = reinterpret_cast<std::uintptr_t>(static_cast<double (*)(double)>(&std::cbrt));
    EXPECT_FALSE(use(terminate, pointer_encoding::absolute));
    EXPECT_FALSE(through(terminate));
    EXPECT_FALSE(through(reinterpret_cast<std::uintptr_t>(&::ldiv)));
    EXPECT_FALSE(through(reinterpret_cast<std::uintptr_t>(&has_foreign_personality)));
    EXPECT_FALSE(through(0));
    EXPECT_FALSE(use(0, pointer_encoding::absolute));
    EXPECT_TRUE(use(libm, pointer_encoding::absolute));
    EXPECT_TRUE(through(libm));
    EXPECT_TRUE(through(8));
    EXPECT_FALSE(use(8, pointer_encoding::indirect)); // cannot be read
}

/// A copy of a real segment between unreadable pages, with random damage. Offsets inside it stay right.
TEST(UnwindInfo, DamagedModulesAreHarmless) {
    UnwindSection real;
    const auto libm = reinterpret_cast<std::uintptr_t>(static_cast<double (*)(double)>(&std::cbrt));
    ASSERT_TRUE(find_unwind_section(libm, real));
    const std::size_t size = (real.end - real.start + 4095) & ~std::size_t{4095};
    auto* space = static_cast<std::uint8_t*>(mmap(nullptr, size + 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(space, MAP_FAILED);
    ASSERT_EQ(mprotect(space + 4096, size, PROT_READ | PROT_WRITE), 0);
    UnwindSection copy; // ends where the readable pages end
    copy.end = reinterpret_cast<std::uintptr_t>(space) + 4096 + size;
    copy.start = copy.end - (real.end - real.start);
    copy.header = copy.start + (real.header - real.start);
    auto* bytes = reinterpret_cast<std::uint8_t*>(copy.start);
    const auto restore = [&] { std::memcpy(bytes, reinterpret_cast<const void*>(real.start), real.end - real.start); };
    restore();
    const std::uintptr_t shift = copy.start - real.start;
    const Recipe right = read_unwind_info(libm);
    EXPECT_EQ(read_unwind_info(copy, libm + shift).pack(0), right.pack(0));
    EXPECT_NE(right.kind, RecipeKind::Hard);
    std::mt19937_64 random(1);
    bytes[copy.header - copy.start + 3] = pointer_encoding::omitted; // no table: all entries are visited
    for (int i = 0; i < 200; ++i) {
        const std::uintptr_t address = libm + random() % 0x40000 - 0x20000;
        EXPECT_EQ(read_unwind_info(copy, address + shift).pack(0), read_unwind_info(address).pack(0));
    }
    restore();
    const std::size_t first = copy.header - copy.start;
    for (int round = 0; round < 300; ++round) {
        for (int i = 0; i < 1 << (round % 12); ++i) bytes[first + random() % (copy.end - copy.header)] = static_cast<std::uint8_t>(random());
        if (round % 3 == 0) bytes[first + random() % 12] = static_cast<std::uint8_t>(random()); // the header itself
        for (int i = 0; i < 200; ++i) read_unwind_info(copy, libm + shift + random() % 0x80000 - 0x40000);
        if (round % 12 == 11) restore();
    }
    munmap(space, size + 8192);
}

} // namespace libprofile
