// What exceptions and calls that never return do to the control flow of real compiled functions.
#include "libprofile/callpath/exception_table.hpp"
#include "libprofile/callpath/load_map.hpp"
#include "libprofile/callpath/unwind_table.hpp"
#include "libprofile/code/code_loops.hpp"
#include "tests/unit/found_code.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <stdexcept>
#include <sys/mman.h>

using namespace libprofile;

#if defined(__x86_64__)

namespace {

std::uintptr_t often_at;
volatile int sink, flag;

struct Failure {};
struct Guard {
    [[gnu::noipa]] Guard() { sink = 1; }
    [[gnu::noipa]] ~Guard() { sink = 2; }
};
[[gnu::noipa]] void often() {
    often_at = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)) - 1;
    if (flag == 7) throw Failure();
}
[[gnu::noipa]] void other() {
    sink = 1;
    if (flag == 8) throw Failure();
}

namespace unoptimised {
#pragma GCC push_options
#pragma GCC optimize("O0")
#include "exception_shapes.inc"
#pragma GCC pop_options
} // namespace unoptimised

namespace optimised {
#pragma GCC push_options
#pragma GCC optimize("O2")
#include "exception_shapes.inc"
#pragma GCC pop_options
} // namespace optimised

bool may_catch_before(void (*function)()) {
    load_map.refresh();
    function();
    CodeLoops loops(test::find_code);
    EXPECT_TRUE(loops.understands(often_at));
    return loops.may_catch_before(often_at);
}

} // namespace

TEST(CodeExceptions, ThatTheFunctionDoesNotComeBackFromAreNoWayToTheCall) {
    EXPECT_FALSE(may_catch_before(unoptimised::lets_pass));
    EXPECT_FALSE(may_catch_before(optimised::lets_pass));
    EXPECT_FALSE(may_catch_before(unoptimised::cleans_up));
    EXPECT_FALSE(may_catch_before(optimised::cleans_up));
    EXPECT_FALSE(may_catch_before(unoptimised::cleans_up_in_a_loop));
    EXPECT_FALSE(may_catch_before(optimised::cleans_up_in_a_loop));
    EXPECT_FALSE(may_catch_before(unoptimised::ends_after_catching));
    EXPECT_FALSE(may_catch_before(optimised::ends_after_catching));
    EXPECT_FALSE(may_catch_before(unoptimised::lets_nothing_pass));
    EXPECT_FALSE(may_catch_before(optimised::lets_nothing_pass));
    EXPECT_FALSE(may_catch_before(unoptimised::passes_on));
    EXPECT_FALSE(may_catch_before(optimised::passes_on));
}

TEST(CodeExceptions, ThatLeadBackToTheCallAreAWayToIt) {
    EXPECT_TRUE(may_catch_before(unoptimised::tries_again));
    EXPECT_TRUE(may_catch_before(optimised::tries_again));
    EXPECT_TRUE(may_catch_before(unoptimised::tries_again_when_another_call_fails));
    EXPECT_TRUE(may_catch_before(optimised::tries_again_when_another_call_fails));
    EXPECT_TRUE(may_catch_before(unoptimised::catches_in_each_pass));
    EXPECT_TRUE(may_catch_before(optimised::catches_in_each_pass));
    EXPECT_TRUE(may_catch_before(unoptimised::tries_again_from_within));
    EXPECT_TRUE(may_catch_before(optimised::tries_again_from_within));
}

TEST(CodeExceptions, ThatAreCaughtMayEndAFunctionBeforeTheCall) {
    const auto may_end_without = [](void (*function)()) {
        load_map.refresh();
        function();
        return CodeLoops(test::find_code).may_end_without(&often_at, 1);
    };
    EXPECT_TRUE(may_end_without(unoptimised::gives_up_on_failure));
    EXPECT_TRUE(may_end_without(optimised::gives_up_on_failure));
    EXPECT_FALSE(may_end_without(unoptimised::fails_afterwards));
    EXPECT_FALSE(may_end_without(optimised::fails_afterwards));
    EXPECT_FALSE(may_end_without(unoptimised::cleans_up));
    EXPECT_FALSE(may_end_without(optimised::cleans_up));
    EXPECT_FALSE(may_end_without(optimised::passes_on));
}

TEST(CodeExceptions, OfUnknownCodeMayLeadAnywhere) {
    CodeLoops loops(test::find_code);
    EXPECT_TRUE(loops.may_catch_before(1));
    ExceptionTable table;
    EXPECT_FALSE(table.find(1));
    ExceptionTable::LandingPad pad;
    EXPECT_FALSE(table.next(pad));
    EXPECT_TRUE(table.failed());
}

TEST(CodeExceptions, ThatCleanUpAreKnownFromThoseThatCatch) {
    const auto count = [](void (*function)()) {
        ExceptionTable table;
        ExceptionTable::LandingPad pad;
        std::pair<int, int> found; // that clean up, that catch
        EXPECT_TRUE(table.find(reinterpret_cast<std::uintptr_t>(function)));
        while (table.next(pad)) ++(pad.may_catch ? found.second : found.first);
        EXPECT_FALSE(table.failed());
        return found;
    };
    EXPECT_EQ(count(optimised::lets_pass), std::pair(0, 0));
    EXPECT_GT(count(optimised::cleans_up).first, 1);
    EXPECT_EQ(count(optimised::cleans_up).second, 0);
    EXPECT_GT(count(optimised::tries_again).second, 0);
}

TEST(CodeExceptions, TablesThatAreDamagedAreReadWithinBounds) {
    UnwindSection section;
    UnwindEntry entry;
    const auto function = reinterpret_cast<std::uintptr_t>(&optimised::tries_again_from_within);
    ASSERT_TRUE(find_unwind_section(function, section));
    ASSERT_EQ(find_unwind_entry(section, function, entry), EntrySearch::Found);
    ASSERT_NE(entry.exceptions, 0u);
    constexpr std::uintptr_t page = 4096;
    const std::uintptr_t first = entry.exceptions & ~(page - 1);
    ASSERT_EQ(mprotect(reinterpret_cast<void*>(first), 2 * page, PROT_READ | PROT_WRITE), 0);
    auto* const bytes = reinterpret_cast<unsigned char*>(entry.exceptions);
    bool all_the_same = true;
    for (unsigned i = 0; i < 64; ++i) {
        for (const unsigned value : {0x00u, 0x01u, 0x7fu, 0x80u, 0xffu}) {
            const unsigned char before = bytes[i];
            bytes[i] = static_cast<unsigned char>(value);
            ExceptionTable table;
            ExceptionTable::LandingPad pad;
            unsigned pads = 0;
            if (table.find(function))
                while (table.next(pad)) ++pads;
            EXPECT_LE(pads, 1u << 14);
            all_the_same = all_the_same && !table.failed();
            bytes[i] = before;
        }
    }
    mprotect(reinterpret_cast<void*>(first), 2 * page, PROT_READ);
    EXPECT_FALSE(all_the_same);
    EXPECT_TRUE(may_catch_before(optimised::tries_again_from_within));
}

extern "C" {
[[noreturn, gnu::noipa]] void gives_up(int how) {
    if (how == 9) throw std::runtime_error("because");
    const Guard guard;
    std::abort();
}
[[noreturn, gnu::noipa]] void gives_up_elsewhere(int how) { gives_up(how + 1); }
[[gnu::noipa]] void may_give_up(int how) {
    if (how == 9) gives_up(how);
    sink = 3;
}
void (*reporter)(int) = gives_up; // for now
}

// A loop, at whose end something is given up, and a part that is done now and then and jumps back into the loop. The call that gives up seems to go on to
// that part, with padding between them: then the loop lies in another one.
asm(R"asm(
.macro loop_before name, function:vararg
        .text
\name:
        .cfi_startproc
        push %rbx
        .cfi_def_cfa_offset 16
1:      call other_in_loop
        test %eax, %eax
        jne 3f
2:      call other_in_loop
\name\()_often:
        test %eax, %eax
        jne 4f
        dec %ebx
        jnz 1b
        pop %rbx
        .cfi_remember_state
        .cfi_def_cfa_offset 8
        ret
        .cfi_restore_state
4:      call \function
        nopl 0(%rax)
3:      call other_in_loop
        jmp 2b
        .cfi_endproc
.endm
loop_before before_abort, abort@PLT
loop_before before_exit, exit@PLT
loop_before before_giving_up, gives_up
loop_before before_giving_up_elsewhere, gives_up_elsewhere
loop_before before_perhaps, may_give_up
loop_before before_unknown, other_in_loop
loop_before before_reporter, *reporter(%rip)
loop_before before_reporting, report
.purgem loop_before
other_in_loop:
        ret
report:
        .cfi_startproc
        jmp *reporter(%rip)
        .cfi_endproc
)asm");
extern "C" const char before_abort_often[], before_exit_often[], before_giving_up_often[], before_giving_up_elsewhere_often[], before_perhaps_often[],
    before_unknown_often[], before_reporter_often[], before_reporting_often[];

TEST(CodeLoops, CallsThatNeverReturnDoNotGoOn) {
    load_map.refresh();
    const auto is_nested = [](const char* behind) { return CodeLoops(test::find_code).is_nested(reinterpret_cast<std::uintptr_t>(behind) - 1); };
    EXPECT_FALSE(is_nested(before_abort_often));
    EXPECT_FALSE(is_nested(before_exit_often));
    EXPECT_FALSE(is_nested(before_giving_up_often));
    EXPECT_FALSE(is_nested(before_giving_up_elsewhere_often));
    EXPECT_TRUE(is_nested(before_perhaps_often));
    EXPECT_TRUE(is_nested(before_unknown_often)) << "its bounds are not known";
    EXPECT_TRUE(is_nested(before_reporter_often)) << "another function may report later";
    EXPECT_TRUE(is_nested(before_reporting_often)) << "another function may report later";
}

#endif
