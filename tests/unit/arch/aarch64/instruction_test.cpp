// What instructions do to the flow of control.
#include "libprofile/code/instruction.hpp"

#include <gtest/gtest.h>

using namespace libprofile;
using Kind = Instruction::Kind;

namespace {

struct Words {
    alignas(4) std::uint32_t code;
    Instruction decoded(std::size_t limit = 4) const { return decode(at(), limit); }
    std::uintptr_t at() const { return reinterpret_cast<std::uintptr_t>(&code); }
};

} // namespace

TEST(InstructionTest, KindsAreRight) {
    struct Case {
        std::uint32_t code;
        Kind kind;
        std::intptr_t distance; // to the target
    };
    for (const auto& [code, kind, distance] : {
             Case{0x14000002, Kind::Jump, 8},         // b
             Case{0x17ffffff, Kind::Jump, -4},        //
             Case{0x97fffffe, Kind::Call, -8},        // bl
             Case{0x54000040, Kind::Branch, 8},       // b.eq
             Case{0x54ffffe1, Kind::Branch, -4},      // b.ne
             Case{0x5400004e, Kind::Jump, 8},         // b.al
             Case{0xb4000080, Kind::Branch, 16},      // cbz x0
             Case{0x35ffffc1, Kind::Branch, -8},      // cbnz w1
             Case{0x36080060, Kind::Branch, 12},      // tbz w0, #1
             Case{0xb7ffffe2, Kind::Branch, -4},      // tbnz x2, #63
             Case{0xd61f0200, Kind::IndirectJump, 0}, // br x16
             Case{0xd71f0a11, Kind::IndirectJump, 0}, // braa x16, x17
             Case{0xd63f0060, Kind::IndirectCall, 0}, // blr x3
             Case{0xd63f081f, Kind::IndirectCall, 0}, // blraaz x0
             Case{0xd65f03c0, Kind::End, 0},          // ret
             Case{0xd65f0bff, Kind::End, 0},          // retaa
             Case{0xd65f0fff, Kind::End, 0},          // retab
             Case{0xd4207d00, Kind::End, 0},          // brk #1000
             Case{0x00000000, Kind::End, 0},          // udf
             Case{0xd503201f, Kind::Nop, 0},          // nop
             Case{0xd503233f, Kind::Plain, 0},        // paciasp
             Case{0xd503245f, Kind::Plain, 0},        // bti c
             Case{0xd4000001, Kind::Plain, 0},        // svc
             Case{0xd53bd040, Kind::Plain, 0},        // mrs x0, tpidr_el0
             Case{0xa9bf7bfd, Kind::Plain, 0},        // stp x29, x30, [sp, #-16]!
             Case{0x910003fd, Kind::Plain, 0},        // mov x29, sp
             Case{0x4e20d400, Kind::Plain, 0},        // fadd v0.4s
             Case{0x04e00000, Kind::Plain, 0},        // SVE: add
             Case{0x02000000, Kind::Unknown, 0},      // not allocated
             Case{0xd69f03e0, Kind::Unknown, 0},      // eret
         }) {
        const Words words{code};
        const Instruction instruction = words.decoded();
        EXPECT_EQ(instruction.kind, kind) << std::hex << code;
        EXPECT_EQ(instruction.length, 4) << std::hex << code;
        if (distance != 0)
            EXPECT_EQ(instruction.target, words.at() + static_cast<std::uintptr_t>(distance)) << std::hex << code;
        else
            EXPECT_EQ(instruction.target, 0u) << std::hex << code;
    }
}

TEST(InstructionTest, OnlyReturnsReturn) {
    for (const std::uint32_t code : {0xd65f03c0u, 0xd65f0bffu, 0xd65f0fffu, 0xd65f0200u}) {
        const Words words{code};
        EXPECT_TRUE(is_return(words.at(), words.decoded())) << std::hex << code;
    }
    const Words trap{0xd4207d00};
    EXPECT_FALSE(is_return(trap.at(), trap.decoded()));
}

TEST(InstructionTest, WhatIsCutOrLiesAskewIsUnknown) {
    const Words words{0xd503201f};
    EXPECT_EQ(words.decoded(3).kind, Kind::Unknown);
    EXPECT_EQ(decode(words.at() + 2, 4).kind, Kind::Unknown);
}
