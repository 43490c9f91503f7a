// How two calls lie in the loops of real compiled functions. Each function has a section of its own, so that its bounds are known.
#include "libprofile/code/code_loops.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <utility>
#include <vector>

using namespace libprofile;

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
[[gnu::section("nest_once"), gnu::noipa]] void once_before(int passes) {
    seldom();
    for (int i = 0; i < passes; ++i) often();
    other();
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

// One loop, at whose end something is given up, and a part that is done now and then and only jumped to forwards: once behind the call
// that never returns, which seems to go on to it, once before.
#if defined(__x86_64__)
asm(R"(
.macro loop_with_ends name
.section nest_\name, "ax", @progbits
        push %rbx
1:      call other_call
\name\()_seldom:
        test %eax, %eax
        jne 3f
2:      call other_call
\name\()_often:
        test %eax, %eax
        jne 4f
        dec %ebx
        jnz 1b
        pop %rbx
        ret
.endm
loop_with_ends falls
4:      call abort@PLT
3:      call other_call
        jmp 2b
loop_with_ends ends
3:      call other_call
        jmp 2b
4:      call abort@PLT
.purgem loop_with_ends
.text
other_call:
        ret
)");
#else
asm(R"(
.macro loop_with_ends name
.section nest_\name, "ax", @progbits
        stp x29, x30, [sp, #-16]!
1:      bl other_call
        .globl \name\()_seldom, \name\()_often // or the assembler forgets where in the section they lie
\name\()_seldom:
        cbnz w0, 3f
2:      bl other_call
\name\()_often:
        cbnz w0, 4f
        subs w19, w19, #1
        b.ne 1b
        ldp x29, x30, [sp], #16
        ret
.endm
loop_with_ends falls
4:      bl abort
3:      bl other_call
        b 2b
loop_with_ends ends
3:      bl other_call
        b 2b
4:      bl abort
.purgem loop_with_ends
.text
other_call:
        ret
)");
#endif
extern "C" const char falls_often[], falls_seldom[], ends_often[], ends_seldom[];

#define SECTION(name) extern "C" const char __start_nest_##name[], __stop_nest_##name[];
// Calls of a macro without semicolons confuse it.
// clang-format off
SECTION(stages)
SECTION(before)
SECTION(every)
SECTION(output)
SECTION(both)
SECTION(once)
SECTION(either) SECTION(apart) SECTION(table) SECTION(falls) SECTION(ends)
    // clang-format on

    namespace {

    bool find(std::uintptr_t address, std::uintptr_t & start, std::uintptr_t & end) noexcept {
        const auto is_in = [&](const char* from, const char* to) {
            start = reinterpret_cast<std::uintptr_t>(from);
            end = reinterpret_cast<std::uintptr_t>(to);
            return address >= start && address < end;
        };
#define IS_IN(name) is_in(__start_nest_##name, __stop_nest_##name)
        return IS_IN(stages) || IS_IN(before) || IS_IN(every) || IS_IN(output) || IS_IN(both) || IS_IN(either) || IS_IN(apart) || IS_IN(table) ||
               IS_IN(falls) || IS_IN(ends) || IS_IN(once);
    }

    NestingAnswer answer(void (*function)(int)) {
        function(40);
        return CodeLoops(find).nesting(often_at, seldom_at);
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
        return CodeLoops(find).may_pass_without(often_at, of_both ? often_at : seldom_at, seldom_at);
    };
    EXPECT_FALSE(without(every_second_step, true)); // `often` comes in each
    EXPECT_TRUE(without(every_second_step, false));
    EXPECT_FALSE(without(either_or, true));
    EXPECT_TRUE(without(either_or, false));
    EXPECT_TRUE(without(apart, false));
}

TEST(CodeLoops, WhatAPassMayCallInsteadIsSaid) {
    const auto instead = [](void (*function)(int), bool of_seldom) {
        function(40);
        const std::uintptr_t others[] = {of_seldom ? seldom_at : often_at};
        return CodeLoops(find).may_pass_through(often_at, of_seldom ? often_at : seldom_at, others, 1);
    };
    EXPECT_TRUE(instead(either_or, false));
    EXPECT_TRUE(instead(either_or, true));
    EXPECT_FALSE(instead(every_second_step, false)); // no pass leaves out `often`
    EXPECT_TRUE(instead(every_second_step, true));
    EXPECT_FALSE(instead(apart, false));
    either_or(40);
    const std::uintptr_t both[] = {often_at, seldom_at};
    EXPECT_FALSE(CodeLoops(find).may_pass_through(often_at, seldom_at, both, 2));
    EXPECT_FALSE(CodeLoops(find).may_pass_without(often_at, both, 2));
    EXPECT_TRUE(CodeLoops(find).may_pass_without(often_at, both, 1));
}

TEST(CodeLoops, WhetherALoopLiesInAnotherIsSaid) {
    const auto is_nested = [](void (*function)(int), bool of_seldom) {
        function(40);
        return CodeLoops(find).is_nested(of_seldom ? seldom_at : often_at);
    };
    EXPECT_TRUE(is_nested(stages, false));
    EXPECT_FALSE(is_nested(stages, true));
    EXPECT_FALSE(is_nested(output_sometimes, false));
    EXPECT_FALSE(is_nested(apart, false));
}

TEST(CodeLoops, WhetherACallLiesInALoopIsSaid) {
    once_before(4);
    EXPECT_FALSE(CodeLoops(find).is_in_loop(seldom_at));
    EXPECT_TRUE(CodeLoops(find).is_in_loop(often_at));
    stages(4);
    EXPECT_TRUE(CodeLoops(find).is_in_loop(seldom_at));
    EXPECT_TRUE(CodeLoops(find).is_in_loop(1)) << "unknown code";
}

TEST(CodeLoops, WhetherOnePassMayMakeBothCallsIsSaid) {
    const auto makes_both = [](void (*function)(int)) {
        function(40);
        return CodeLoops(find).may_make_both(often_at, often_at, seldom_at);
    };
    EXPECT_FALSE(makes_both(either_or));
    EXPECT_TRUE(makes_both(every_second_step));
    EXPECT_TRUE(makes_both(output_sometimes));
}

TEST(CodeLoops, WithoutBoundsNothingIsKnown) {
    stages(2);
    CodeLoops loops([](std::uintptr_t, std::uintptr_t&, std::uintptr_t&) noexcept { return false; });
    EXPECT_EQ(loops.nesting(often_at, seldom_at).nesting, Nesting::Unknown);
    EXPECT_TRUE(loops.may_pass_without(often_at, seldom_at, seldom_at));
}

TEST(CodeLoops, WhereACallSeemsToGoOnToWhatIsJumpedToNothingIsCertain) {
    const auto before = [](const char* label) { return reinterpret_cast<std::uintptr_t>(label) - 1; };
    CodeLoops loops(find);
    EXPECT_TRUE(loops.is_nested(before(falls_often)));
    EXPECT_FALSE(loops.is_nested(before(ends_often)));
    EXPECT_FALSE(loops.nesting(before(falls_often), before(falls_seldom)).is_certain);
    const NestingAnswer sure = loops.nesting(before(ends_often), before(ends_seldom));
    EXPECT_EQ(sure.nesting, Nesting::Same);
    EXPECT_TRUE(sure.is_certain);
}

#if defined(__x86_64__) // whose instructions they are

namespace {

/// Code that is read, and never runs. Pieces are functions, or parts of one.
class MadeUpCode : public testing::Test {
  protected:
    using Place = std::size_t;

    MadeUpCode() { all().reserve(1 << 20); } // it must not move
    ~MadeUpCode() override {
        all().clear();
        pieces().clear();
    }
    void begin() { pieces().push_back({all().size(), all().size()}); }
    void end() { pieces().back().second = all().size(); }
    void bytes(std::initializer_list<unsigned char> some) { all().insert(all().end(), some); }
    void fill(std::size_t count) { all().insert(all().end(), count, 0x90); }
    Place call() {
        bytes({0xe8, 0, 0, 0, 0});
        return all().size() - 1;
    }
    Place branch() { // to be led
        bytes({0x0f, 0x85, 0, 0, 0, 0});
        return all().size();
    }
    void lead(Place behind, Place target) {
        const auto distance = static_cast<std::uint32_t>(target - behind);
        for (unsigned i = 0; i < 4; ++i) all()[behind - 4 + i] = static_cast<unsigned char>(distance >> 8 * i);
    }
    Place here() const { return all().size(); }
    static std::uintptr_t address(Place place) { return reinterpret_cast<std::uintptr_t>(all().data() + place); }

    /// A loop with two calls in each pass, `filler` bytes, and branches to be led elsewhere.
    struct Made {
        Place often, seldom;
        std::vector<Place> branches;
    };
    Made loop(std::size_t filler, std::size_t branches = 0) {
        Made made{};
        begin();
        bytes({0x53});
        const Place head = here();
        made.often = call();
        fill(filler);
        for (std::size_t i = 0; i < branches; ++i) made.branches.push_back(branch());
        made.seldom = call();
        lead(branch(), head);
        bytes({0xc3});
        end();
        return made;
    }
    /// Parts that are done now and then, and jump back to the first call.
    void parts(const Made& made) {
        for (const Place each : made.branches) {
            begin();
            lead(each, here());
            fill(8);
            bytes({0xe9, 0, 0, 0, 0});
            lead(here(), made.seldom - 4);
            end();
        }
    }
    static Nesting ask(CodeLoops& loops, const Made& made) { return loops.nesting(address(made.often), address(made.seldom)).nesting; }
    static Nesting ask(const Made& made) {
        CodeLoops loops(find_piece);
        return ask(loops, made);
    }

    static bool find_piece(std::uintptr_t address, std::uintptr_t& start, std::uintptr_t& end) noexcept {
        ++searches;
        for (const auto& [from, to] : pieces()) {
            start = MadeUpCode::address(from);
            end = MadeUpCode::address(to);
            if (address >= start && address < end) return true;
        }
        return false;
    }
    static inline unsigned searches = 0;

  private:
    static std::vector<unsigned char>& all() {
        static std::vector<unsigned char> code;
        return code;
    }
    static std::vector<std::pair<Place, Place>>& pieces() {
        static std::vector<std::pair<Place, Place>> list;
        return list;
    }
};

} // namespace

TEST_F(MadeUpCode, IsReadOnceForAllQuestions) {
    const Made made = loop(100, 3);
    parts(made);
    CodeLoops loops(find_piece);
    EXPECT_EQ(ask(loops, made), Nesting::Same);
    const unsigned before = searches;
    EXPECT_GT(before, 0u);
    EXPECT_EQ(ask(loops, made), Nesting::Same);
    EXPECT_FALSE(loops.may_pass_without(address(made.often), address(made.seldom), address(made.seldom)));
    EXPECT_FALSE(loops.may_pass_without(address(made.often), address(made.often), address(made.often)));
    EXPECT_EQ(searches, before);
}

TEST_F(MadeUpCode, MayEndWithoutACallWhereAWayAroundItLeadsToAnEnd) {
    enum class End { Return, Jump, Trap };
    const auto returns_without = [&](End way_around) {
        CodeLoops loops(find_piece);
        begin();
        const Place around = branch();
        const Place made = call();
        bytes({0xc3});
        lead(around, here());
        if (way_around == End::Return) bytes({0xf3, 0xc3});
        if (way_around == End::Jump) bytes({0xe9, 0, 0, 0, 0x10});
        if (way_around == End::Trap) bytes({0x0f, 0x0b});
        end();
        const std::uintptr_t call = address(made);
        return std::pair(loops.may_end_without(&call, 1), loops.may_return(call));
    };
    EXPECT_EQ(returns_without(End::Return), std::pair(true, true));
    EXPECT_EQ(returns_without(End::Jump), std::pair(true, true)); // the end of another function returns in its place
    EXPECT_EQ(returns_without(End::Trap), std::pair(false, true));

    const Made made = loop(0);
    CodeLoops loops(find_piece);
    const std::uintptr_t both[] = {address(made.often), address(made.seldom)};
    EXPECT_FALSE(loops.may_end_without(both, 2));
    EXPECT_FALSE(loops.may_end_without(both + 1, 1));
    const std::uintptr_t nowhere = 1; // nothing is known
    EXPECT_TRUE(loops.may_end_without(&nowhere, 1));
    EXPECT_TRUE(loops.may_return(nowhere));
    EXPECT_EQ(loops.target_of(nowhere), 0u);
    EXPECT_EQ(loops.target_of(address(made.often)), address(made.often) + 1);
}

TEST_F(MadeUpCode, ThatOnlyJumpsAwayNeverReturns) {
    begin();
    const Place around = branch();
    bytes({0xe9, 0, 0, 0, 0x10});
    lead(around, here());
    bytes({0xe9, 0, 0, 0, 0x20});
    end();
    EXPECT_FALSE(CodeLoops(find_piece).may_return(address(around)));
}

TEST_F(MadeUpCode, IsReadUpToALimit) {
    constexpr std::size_t size = 100 << 10;
    std::vector<Made> all;
    for (std::size_t i = 0; i * size <= CodeLoops::most_bytes + size; ++i) all.push_back(loop(size));
    CodeLoops loops(find_piece);
    EXPECT_EQ(ask(loops, all[0]), Nesting::Same);
    EXPECT_EQ(ask(loops, all[1]), Nesting::Same);
    EXPECT_EQ(ask(loops, all[2]), Nesting::Same); // which is where it ends
    EXPECT_EQ(ask(loops, all[3]), Nesting::Unknown);
    EXPECT_EQ(ask(loops, all[0]), Nesting::Same); // it is known
    EXPECT_EQ(ask(all[3]), Nesting::Same);
}

TEST_F(MadeUpCode, ThatIsAskedAboutTooOftenTellsNothing) {
    const Made made = loop(0, 1000);
    for (const Place each : made.branches) lead(each, each); // on
    CodeLoops loops(find_piece);
    unsigned answered = 0;
    while (answered < 100000 && ask(loops, made) == Nesting::Same) ++answered;
    EXPECT_GT(answered, 24u); // as many as are asked
    EXPECT_LT(answered, 100000u);
    EXPECT_TRUE(loops.may_pass_without(address(made.often), address(made.often), address(made.often)));
}

TEST_F(MadeUpCode, WithMorePartsThanAreReadIsNotKnown) {
    const Made known = loop(10, FunctionCode::most_parts - 1);
    parts(known);
    EXPECT_EQ(ask(known), Nesting::Same);
    const Made made = loop(10, FunctionCode::most_parts);
    parts(made);
    EXPECT_EQ(ask(made), Nesting::Unknown);
    EXPECT_TRUE(CodeLoops(find_piece).may_pass_without(address(made.often), address(made.often), address(made.often)));
}

TEST_F(MadeUpCode, WithAPartThatIsTooLargeIsNotKnown) {
    const Made made = loop(10, 1);
    begin();
    lead(made.branches[0], here());
    fill(FunctionCode::largest);
    bytes({0xc3});
    end();
    EXPECT_EQ(ask(made), Nesting::Unknown);
}

TEST_F(MadeUpCode, ThatJumpsThroughATableIsNotKnown) {
    const auto with_jump = [&](std::initializer_list<unsigned char> jump) {
        const Made made = loop(10, 1);
        begin();
        lead(made.branches[0], here());
        bytes(jump);
        end();
        return ask(made);
    };
    EXPECT_EQ(with_jump({0xff, 0xe0}), Nesting::Unknown);             // jmp *%rax
    EXPECT_EQ(with_jump({0xff, 0x24, 0xc8}), Nesting::Unknown);       // jmp *(%rax,%rcx,8)
    EXPECT_EQ(with_jump({0x42, 0xff, 0x24, 0xe0}), Nesting::Unknown); // jmp *(%rax,%r12,8)
    EXPECT_EQ(with_jump({0xff, 0x24, 0x24}), Nesting::Same);          // jmp *(%rsp): it returns
    EXPECT_EQ(with_jump({0xff, 0x60, 0x18}), Nesting::Same);          // jmp *24(%rax): a virtual function
}

TEST_F(MadeUpCode, OfTheLinkersStubsIsNotOfTheFunction) {
    const Made made = loop(10, 20);
    begin();
    for (std::size_t i = 0; i < 20; ++i) {
        lead(made.branches[i], here());
        if (i % 2 != 0) bytes({0xf3, 0x0f, 0x1e, 0xfa}); // endbr64
        bytes({0xff, 0x25, 0, 0, 0, 0});
    }
    fill(FunctionCode::largest);
    end();
    EXPECT_EQ(ask(made), Nesting::Same);
}

#endif
