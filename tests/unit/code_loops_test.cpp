// How two calls lie in the loops of real compiled functions. Each function has a section of its own, so that its bounds are known.
#include "libprofile/loops/code_loops.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

using namespace libprofile;

#if defined(__x86_64__)

namespace {

std::uintptr_t often_at, seldom_at;
volatile int sink, flag;

[[gnu::noipa]] void often() { often_at = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)) - 1; }
[[gnu::noipa]] void seldom() { seldom_at = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)) - 1; }
[[gnu::noipa]] void other() { sink = 1; }
[[gnu::noreturn, gnu::noipa]] void give_up() { std::abort(); }

} // namespace


[[gnu::section("nest_stages"), gnu::noipa]] void stages(int passes) {
    for (int i = 0; i < passes; ++i) {
        for (int k = 0; k < 3 + flag; ++k) {
            often();
            other();
        }
        seldom();
    }
}
[[gnu::section("nest_before"), gnu::noipa]] void step_before_stages(int passes) {
    for (int i = 0; i < passes; ++i) {
        seldom();
        if (flag != 0) give_up();
        for (int k = 0; k < 3 + flag; ++k) often();
    }
}
[[gnu::section("nest_every"), gnu::noipa]] void every_second_step(int passes) {
    for (int i = 0; i < passes; ++i) {
        if (i % 2 == 0) {
            if (i != 0) other();
            seldom();
        }
        if (i % 4 == 0) other();
        often();
        if (flag != 0) give_up();
    }
}
[[gnu::section("nest_output"), gnu::noipa]] void output_sometimes(int passes) {
    for (int i = 0; i < passes; ++i) {
        for (int k = 0; k < 3; ++k) other();
        often();
        if (i % 10 == 9) seldom();
    }
}
[[gnu::section("nest_both"), gnu::noipa]] void sometimes_around(int passes) {
    for (int i = 0; i < passes; ++i) {
        for (int k = 0; k < 3 + flag; ++k) often();
        if (i % 10 == 9) seldom();
    }
}
[[gnu::section("nest_either"), gnu::noipa]] void either_or(int passes) {
    for (int i = 0; i < passes; ++i) {
        other();
        if (i % 10 != 9)
            often();
        else
            seldom();
        other();
    }
}
[[gnu::section("nest_apart"), gnu::noipa]] void apart(int passes) {
    for (int i = 0; i < passes; ++i) often();
    for (int i = 0; i < passes; ++i) seldom();
}
[[gnu::section("nest_table"), gnu::noipa]] void table(int passes) {
    for (int i = 0; i < passes; ++i) {
        switch (i % 8 + flag) {
        case 0: seldom(); break;
        case 1: sink = 7; break;
        case 2: other(); break;
        case 3:
            sink = 3;
            other();
            break;
        case 4:
            other();
            other();
            break;
        case 5:
            sink = 5;
            sink = 6;
            break;
        case 6:
            other();
            sink = 9;
            break;
        default: sink = 4;
        }
        often();
    }
}

#define SECTION(name) extern "C" const char __start_nest_##name[], __stop_nest_##name[];
SECTION(stages)
SECTION(before) SECTION(every) SECTION(output) SECTION(both) SECTION(either) SECTION(apart) SECTION(table)

    namespace {

    bool find(std::uintptr_t address, std::uintptr_t & start, std::uintptr_t & end) noexcept {
        const auto is_in = [&](const char* from, const char* to) {
            start = reinterpret_cast<std::uintptr_t>(from);
            end = reinterpret_cast<std::uintptr_t>(to);
            return address >= start && address < end;
        };
#define IS_IN(name) is_in(__start_nest_##name, __stop_nest_##name)
        return IS_IN(stages) || IS_IN(before) || IS_IN(every) || IS_IN(output) || IS_IN(both) || IS_IN(either) || IS_IN(apart) || IS_IN(table);
    }

    NestingAnswer answer(void (*function)(int)) {
        function(40);
        return nesting_of(often_at, seldom_at, find);
    }

} // namespace

TEST(CodeLoops, StagesAreInALoopInsideTheStep) {
    EXPECT_EQ(answer(stages).nesting, Nesting::Around);
    EXPECT_EQ(answer(step_before_stages).nesting, Nesting::Around);
}

TEST(CodeLoops, WhatIsDoneNowAndThenIsInTheLoopItself) {
    EXPECT_EQ(answer(every_second_step).nesting, Nesting::Same);
    EXPECT_EQ(answer(output_sometimes).nesting, Nesting::Same);
}

TEST(CodeLoops, WhatPassesOfTheLoopAroundLeaveOutIsSaid) { EXPECT_EQ(answer(sometimes_around).nesting, Nesting::Sometimes); }

TEST(CodeLoops, LoopsBesideEachOtherAreNotNested) { EXPECT_EQ(answer(apart).nesting, Nesting::Unknown); }

TEST(CodeLoops, CodeThatIsNotUnderstoodTellsNothingWrong) {
    const Nesting nesting = answer(table).nesting; // with or without a table of jumps
    EXPECT_TRUE(nesting == Nesting::Unknown || nesting == Nesting::Same);
}

TEST(CodeLoops, WhetherEachPassMakesOneOfTwoCallsIsSaid) {
    const auto without = [](void (*function)(int), bool of_both) {
        function(40);
        return may_pass_without(often_at, of_both ? often_at : seldom_at, seldom_at, find);
    };
    EXPECT_FALSE(without(every_second_step, true)); // `often` comes in each
    EXPECT_TRUE(without(every_second_step, false));
    EXPECT_FALSE(without(either_or, true));
    EXPECT_TRUE(without(either_or, false));
    EXPECT_TRUE(without(apart, false));
}

TEST(CodeLoops, WithoutBoundsNothingIsKnown) {
    stages(2);
    EXPECT_EQ(nesting_of(often_at, seldom_at, [](std::uintptr_t, std::uintptr_t&, std::uintptr_t&) noexcept { return false; }).nesting, Nesting::Unknown);
}

#endif
