#include "libprofile/callpath/unwind_info.hpp"

#include "tests/unit/hand_made_unwind.hpp"

#include <gtest/gtest.h>

namespace libprofile {

namespace {

void expect(const Recipe& recipe, RecipeKind kind, std::int32_t cfa_offset, FramePointerRule rule, std::int32_t offset) {
    EXPECT_EQ(recipe.kind, kind);
    EXPECT_EQ(recipe.cfa_offset, cfa_offset);
    EXPECT_EQ(recipe.frame_rule, rule);
    EXPECT_EQ(recipe.frame_offset, offset);
}

} // namespace

TEST(UnwindInfo, AFrameRecordIsFoundFromItsStoreOn) {
    HandMade information;
    // stp x29, x30, [sp, #-48]! at 0; mov x29, sp at 4; CFA = x29 + 48 from 8 on; restored at 100
    information.program = {0x44, 0x0e, 48, 0x9d, 6, 0x9e, 5, 0x44, 0x0d, 29, 0x02, 92, 0x0c, 31, 0, 0xdd, 0xde};
    expect(information.at(0), RecipeKind::Stack, 0, FramePointerRule::Same, 0);
    expect(information.at(4), RecipeKind::Stack, 48, FramePointerRule::AtBase, 0);
    expect(information.at(99), RecipeKind::Frame, 48, FramePointerRule::AtBase, 0);
    expect(information.at(100), RecipeKind::Stack, 0, FramePointerRule::Same, 0);
}

TEST(UnwindInfo, RecordsAtTheUpperEndOfLargeFramesAreFound) {
    HandMade information;
    information.program = {0x0e, 0x80, 0x80, 0x04, 0x9d, 2, 0x9e, 1}; // 64 KiB, x29 at CFA - 16
    expect(information.at(0), RecipeKind::Stack, 65536, FramePointerRule::AtCfa, -16);
    information.program = {0x0e, 0x80, 0x80, 0x04, 0x9d, 0x80, 0x40, 0x9e, 0xff, 0x3f}; // x29 at CFA - 65536
    expect(information.at(0), RecipeKind::Stack, 65536, FramePointerRule::AtBase, 0);
}

TEST(UnwindInfo, AReturnAddressMayBeSavedAlone) {
    HandMade information;
    information.program = {0x0e, 32, 0x9e, 4}; // str x30, [sp, #-32]!
    expect(information.at(0), RecipeKind::Stack, 32, FramePointerRule::ReturnAtBase, 0);
    information.program = {0x0e, 32, 0x9e, 4, 0x9d, 2}; // x29 elsewhere
    EXPECT_EQ(information.at(0).kind, RecipeKind::Hard);
    information.program = {0x0e, 32, 0x9d, 2}; // x29 only
    EXPECT_EQ(information.at(0).kind, RecipeKind::Hard);
}

TEST(UnwindInfo, SignedReturnAddressesAreNoted) {
    HandMade information;
    information.program = {0x44, 0x2d, 0x44, 0x0e, 16, 0x9d, 2, 0x9e, 1, 0x44, 0x0a, 0x2d, 0x44, 0x0b}; // paciasp before 4, autiasp before 12
    const auto is_signed = [&](std::uintptr_t offset) { return (information.at(offset).flags & SignedReturn) != 0; };
    EXPECT_FALSE(is_signed(0));
    EXPECT_TRUE(is_signed(4));
    EXPECT_TRUE(is_signed(8));
    expect(information.at(8), RecipeKind::Stack, 16, FramePointerRule::AtBase, 0);
    EXPECT_FALSE(is_signed(12));
    EXPECT_TRUE(is_signed(16));
    information.augmentation = {'z', 'R', 'B', 0}; // with the other key
    EXPECT_TRUE(is_signed(4));
}

TEST(UnwindInfo, WhatIsNotExpressedIsHard) {
    HandMade information;
    for (const Bytes& program : {
             Bytes{0x0d, 19},                  // CFA from x19
             Bytes{0x09, 29, 19},              // x29 in x19
             Bytes{0x07, 29},                  // x29 lost
             Bytes{0x09, 30, 17},              // return address in x17
             Bytes{0x16, 30, 2, 0x8f, 0},      // a value
             Bytes{0x0f, 3, 0x8d, 0x78, 0x06}, // CFA = the word at x29 - 8
             Bytes{0x0e, 12},                  // not a multiple of 8
             Bytes{0x3f},                      // unknown
             Bytes{0x0e},                      // cut off
         }) {
        information.program = program;
        EXPECT_EQ(information.at(0).kind, RecipeKind::Hard) << int(program[0]);
    }
    information.program = {0x07, 30};
    EXPECT_EQ(information.at(0).kind, RecipeKind::Outermost);
}

} // namespace libprofile
