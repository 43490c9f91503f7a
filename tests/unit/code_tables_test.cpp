// Switches and calls at the end of real compiled functions: what their jumps through tables and registers are taken for.
#include "libprofile/callpath/load_map.hpp"
#include "libprofile/code/code_loops.hpp"
#include "tests/unit/found_code.hpp"

#include <gtest/gtest.h>

using namespace libprofile;

namespace {

std::uintptr_t often_at, seldom_at;
volatile int sink, flag;

[[gnu::noipa]] void often() { often_at = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)) - 1; }
[[gnu::noipa]] void seldom() { seldom_at = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)) - 1; }
[[gnu::noipa]] void other() { sink = 1; }

namespace unoptimised {
#pragma GCC push_options
#pragma GCC optimize("O0")
#include "switch_shapes.inc"
#pragma GCC pop_options
} // namespace unoptimised

namespace optimised {
#pragma GCC push_options
#pragma GCC optimize("O2")
#include "switch_shapes.inc"
#pragma GCC pop_options
} // namespace optimised

bool may_leave_out(void (*function)(int)) {
    load_map.refresh();
    function(40);
    CodeLoops loops(test::find_code);
    EXPECT_TRUE(loops.understands(often_at));
    EXPECT_FALSE(loops.is_nested(often_at));
    EXPECT_EQ(loops.nesting(often_at, seldom_at).nesting, Nesting::Same);
    EXPECT_TRUE(loops.may_pass_without(often_at, seldom_at, seldom_at));
    return loops.may_pass_without(often_at, often_at, often_at);
}

} // namespace

TEST(CodeTables, LeadToEachCaseOfASwitchAndToNoOther) {
    EXPECT_FALSE(may_leave_out(unoptimised::skips_nothing));
    EXPECT_FALSE(may_leave_out(optimised::skips_nothing));
    EXPECT_FALSE(may_leave_out(unoptimised::skips_nothing_of_bytes));
    EXPECT_FALSE(may_leave_out(optimised::skips_nothing_of_bytes));
    EXPECT_FALSE(may_leave_out(unoptimised::skips_nothing_of_short));
    EXPECT_FALSE(may_leave_out(optimised::skips_nothing_of_short));
    EXPECT_FALSE(may_leave_out(unoptimised::skips_nothing_of_long));
    EXPECT_FALSE(may_leave_out(optimised::skips_nothing_of_long));

    EXPECT_TRUE(may_leave_out(unoptimised::skips_first));
    EXPECT_TRUE(may_leave_out(optimised::skips_first));
    EXPECT_TRUE(may_leave_out(unoptimised::skips_third));
    EXPECT_TRUE(may_leave_out(optimised::skips_third));
    EXPECT_TRUE(may_leave_out(unoptimised::skips_middle));
    EXPECT_TRUE(may_leave_out(optimised::skips_middle));
    EXPECT_TRUE(may_leave_out(unoptimised::skips_after_gap));
    EXPECT_TRUE(may_leave_out(optimised::skips_after_gap));
    EXPECT_TRUE(may_leave_out(unoptimised::skips_last));
    EXPECT_TRUE(may_leave_out(optimised::skips_last));
    EXPECT_TRUE(may_leave_out(unoptimised::skips_default));
    EXPECT_TRUE(may_leave_out(optimised::skips_default));
    EXPECT_TRUE(may_leave_out(unoptimised::skips_last_of_bytes));
    EXPECT_TRUE(may_leave_out(optimised::skips_last_of_bytes));
    EXPECT_TRUE(may_leave_out(unoptimised::skips_last_of_short));
    EXPECT_TRUE(may_leave_out(optimised::skips_last_of_short));
    EXPECT_TRUE(may_leave_out(unoptimised::skips_last_of_long));
    EXPECT_TRUE(may_leave_out(optimised::skips_last_of_long));
}

#if !defined(__SANITIZE_ADDRESS__) // whose code checks more, and ends otherwise

namespace {

#pragma GCC push_options
#pragma GCC optimize("O2")
void (*volatile handler)() = other;
[[gnu::noipa]] void ends_with_handler() {
    void (*const chosen)() = handler;
    often();
    chosen();
}
struct Handlers {
    void (*first)();
    void (*second)();
} handlers{other, seldom};
Handlers* volatile any_handlers = &handlers;
[[gnu::noipa]] void ends_with_handler_in_memory() {
    Handlers* const chosen = any_handlers;
    often();
    if (flag == 0 && chosen->second == seldom) other();
    chosen->second();
}

// No switch: the addresses of its labels are data.
[[gnu::noipa]] void jumps_to_labels(int count) {
    static const void* const labels[] = {&&first, &&second, &&third};
    const void* const* next = labels + flag;
first:
    often();
    if (--count < 0) goto third;
    goto** next;
second:
    other();
    goto first;
third:
    sink = count;
}
#pragma GCC pop_options

} // namespace

TEST(CodeTables, CallsAtTheEndOfAFunctionLeaveIt) {
    load_map.refresh();
    for (void (*const function)() : {ends_with_handler, ends_with_handler_in_memory}) {
        function();
        CodeLoops loops(test::find_code);
        EXPECT_TRUE(loops.understands(often_at));
        EXPECT_FALSE(loops.is_in_loop(often_at));
        EXPECT_FALSE(loops.may_return(often_at)) << "the called function returns in its place";
        EXPECT_FALSE(loops.may_end_without(&often_at, 1));
    }
}

TEST(CodeTables, LabelsThatAreDataAreNotFollowed) {
    load_map.refresh();
    jumps_to_labels(4);
    EXPECT_FALSE(CodeLoops(test::find_code).understands(often_at));
}

#endif

#if defined(__x86_64__)

// A call, and a switch of three cases with something between the comparison and the jump.
asm(R"(
.macro switch_with name, bound, between, table
        .text
\name:
        .cfi_startproc
        push %rbx
        .cfi_def_cfa_offset 16
        call 9f
\name\()_call:
        mov (%rsp), %eax
        cmp \bound, %eax
        ja 4f
        lea \table(%rip), %rdx
        \between
7:      movslq (%rdx, %rax, 4), %rax
        add %rdx, %rax
        jmp *%rax
1:      nop
2:      nop
4:      pop %rbx
        .cfi_def_cfa_offset 8
        ret
        .cfi_endproc
        .section .rodata
        .balign 4
\name\()_table:
        .long 1b - \name\()_table
        .long 2b - \name\()_table
        .long 4b - \name\()_table
        .long 2b - \name\()_table + 5
        .text
.endm
switch_with as_usual, $2, "mov %eax, %eax", as_usual_table
switch_with of_two, $1, "nop", of_two_table
switch_with of_one_too_many, $3, "nop", of_one_too_many_table
switch_with without_a_bound, $-1, "nop", without_a_bound_table
switch_with with_a_large_bound, $0x1000000, "nop", with_a_large_bound_table
switch_with of_another_value, $2, "mov 8(%rsp), %eax", of_another_value_table
switch_with after_arithmetic, $2, "inc %eax", after_arithmetic_table
switch_with after_a_call, $2, "call 9f", after_a_call_table
switch_with with_a_way_into_it, $2, "jne 7b", with_a_way_into_it_table
switch_with through_data, $2, "nop", data_table
.purgem switch_with
        .data
        .balign 4
data_table:
        .long 0, 0, 0
        .text
9:      ret
)");
#define MADE(name) extern "C" const char name##_call[];
MADE(as_usual) // NOLINT
MADE(of_two)
MADE(of_one_too_many)
MADE(without_a_bound)
MADE(with_a_large_bound)
MADE(of_another_value)
MADE(after_arithmetic)
MADE(after_a_call)
MADE(with_a_way_into_it)
MADE(through_data)

TEST(CodeTables, OfASwitchAreRecognisedOnlyWithTheirBounds) {
    load_map.refresh();
    const auto is_understood = [](const char* behind) { return CodeLoops(test::find_code).understands(reinterpret_cast<std::uintptr_t>(behind) - 1); };
    EXPECT_TRUE(is_understood(as_usual_call));
    EXPECT_TRUE(is_understood(of_two_call));
    EXPECT_FALSE(is_understood(of_one_too_many_call)) << "its fourth entry leads to no instruction";
    EXPECT_FALSE(is_understood(without_a_bound_call));
    EXPECT_FALSE(is_understood(with_a_large_bound_call));
    EXPECT_FALSE(is_understood(of_another_value_call));
    EXPECT_FALSE(is_understood(after_arithmetic_call));
    EXPECT_FALSE(is_understood(after_a_call_call));
    EXPECT_FALSE(is_understood(with_a_way_into_it_call));
    EXPECT_FALSE(is_understood(through_data_call)) << "the program may write there";
}

#endif
