// Switches as GCC and Clang compile them: an entry of a table, counted from a label in instructions.
#include "libprofile/callpath/load_map.hpp"
#include "libprofile/code/code_loops.hpp"
#include "tests/unit/found_code.hpp"

#include <gtest/gtest.h>

using namespace libprofile;

// A call, and a switch of three cases with something between the comparison and the jump.
asm(R"(
.macro switch_with name, bound, unit, between, load, sum, table
        .text
\name:
        .cfi_startproc
        stp x29, x30, [sp, #-16]!
        .cfi_def_cfa_offset 16
        bl 9f
        .globl \name\()_call // or the assembler forgets where in .text it lies
\name\()_call:
        cmp w0, \bound
        b.hi 4f
        adrp x1, \table
        add x1, x1, :lo12:\table
        \between
7:      \load
        adr x1, 1f
        \sum
        br x0
1:      nop
2:      nop
4:      ldp x29, x30, [sp], #16
        .cfi_def_cfa_offset 0
        ret
        .cfi_endproc
        .section .rodata
        .balign 4
\name\()_table:
        .\unit 0, 1, 2, 99
        .balign 4
        .text
.endm
switch_with of_bytes, "#2", byte, nop, "ldrb w0, [x1, w0, uxtw]", "add x0, x1, w0, sxtb #2", of_bytes_table
switch_with of_halves, "#2", hword, nop, "ldrh w0, [x1, w0, uxtw #1]", "add x0, x1, w0, sxth #2", of_halves_table
switch_with of_words, "#2", word, nop, "ldr w0, [x1, w0, uxtw #2]", "add x0, x1, w0, sxtw #2", of_words_table
switch_with of_clang, "#2", byte, nop, "ldrb w0, [x1, x0]", "add x0, x1, x0, lsl #2", of_clang_table
switch_with of_two, "#1", byte, nop, "ldrb w0, [x1, w0, uxtw]", "add x0, x1, w0, sxtb #2", of_two_table
switch_with of_one_too_many, "#3", byte, nop, "ldrb w0, [x1, w0, uxtw]", "add x0, x1, w0, sxtb #2", of_one_too_many_table
switch_with of_another_size, "#2", hword, nop, "ldrh w0, [x1, w0, uxtw]", "add x0, x1, w0, sxth #2", of_another_size_table
switch_with with_a_large_bound, "#4095", byte, nop, "ldrb w0, [x1, w0, uxtw]", "add x0, x1, w0, sxtb #2", with_a_large_bound_table
switch_with of_another_value, "#2", byte, "ldr w0, [sp, #8]", "ldrb w0, [x1, w0, uxtw]", "add x0, x1, w0, sxtb #2", of_another_value_table
switch_with after_arithmetic, "#2", byte, "add w0, w0, #1", "ldrb w0, [x1, w0, uxtw]", "add x0, x1, w0, sxtb #2", after_arithmetic_table
switch_with after_a_call, "#2", byte, "bl 9f", "ldrb w0, [x1, w0, uxtw]", "add x0, x1, w0, sxtb #2", after_a_call_table
switch_with with_a_way_into_it, "#2", byte, "cbz w9, 7f", "ldrb w0, [x1, w0, uxtw]", "add x0, x1, w0, sxtb #2", with_a_way_into_it_table
switch_with through_data, "#2", byte, nop, "ldrb w0, [x1, w0, uxtw]", "add x0, x1, w0, sxtb #2", data_table
.purgem switch_with
        .data
data_table:
        .byte 0, 0, 0
        .text
        .balign 4
9:      ret
)");
#define MADE(name) extern "C" const char name##_call[];
MADE(of_bytes) // NOLINT
MADE(of_halves)
MADE(of_words)
MADE(of_clang)
MADE(of_two)
MADE(of_one_too_many)
MADE(of_another_size)
MADE(with_a_large_bound)
MADE(of_another_value)
MADE(after_arithmetic)
MADE(after_a_call)
MADE(with_a_way_into_it)
MADE(through_data)

TEST(CodeTables, OfASwitchAreRecognisedOnlyWithTheirBounds) {
    load_map.refresh();
    const auto is_understood = [](const char* behind) { return CodeLoops(test::find_code).understands(reinterpret_cast<std::uintptr_t>(behind) - 1); };
    EXPECT_TRUE(is_understood(of_bytes_call));
    EXPECT_TRUE(is_understood(of_halves_call));
    EXPECT_TRUE(is_understood(of_words_call));
    EXPECT_TRUE(is_understood(of_clang_call));
    EXPECT_TRUE(is_understood(of_two_call));
    EXPECT_FALSE(is_understood(of_one_too_many_call)) << "its fourth entry leads to no instruction";
    EXPECT_FALSE(is_understood(of_another_size_call)) << "entries would overlap";
    EXPECT_FALSE(is_understood(with_a_large_bound_call));
    EXPECT_FALSE(is_understood(of_another_value_call));
    EXPECT_FALSE(is_understood(after_arithmetic_call));
    EXPECT_FALSE(is_understood(after_a_call_call));
    EXPECT_FALSE(is_understood(with_a_way_into_it_call));
    EXPECT_FALSE(is_understood(through_data_call)) << "the program may write there";
}
