#include "libprofile/callpath/unwind_info.hpp"

#include "tests/unit/hand_made_unwind.hpp"

#include <gtest/gtest.h>

namespace libprofile {

namespace {

void expect_stack(const Recipe& recipe, std::int32_t offset) {
    EXPECT_EQ(recipe.kind, RecipeKind::Stack);
    EXPECT_EQ(recipe.cfa_offset, offset);
}

} // namespace

TEST(UnwindInfo, RowsApplyFromTheirLocationOn) {
    HandMade information;
    // push at 0 (1 byte), CFA = rsp+16 from 1 on, = rbp+16 from 4 on, = rsp+8 from 200 on
    information.program = {0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x02, 196, 0x0c, 7, 8, 0xc6};
    expect_stack(information.at(0), 8);
    expect_stack(information.at(1), 16);
    EXPECT_EQ(information.at(1).frame_rule, FramePointerRule::AtCfa);
    EXPECT_EQ(information.at(1).frame_offset, -16);
    expect_stack(information.at(3), 16);
    EXPECT_EQ(information.at(4).kind, RecipeKind::Frame);
    EXPECT_EQ(information.at(199).kind, RecipeKind::Frame);
    expect_stack(information.at(200), 8);
    EXPECT_EQ(information.at(200).frame_rule, FramePointerRule::Same);
    expect_stack(information.at(255), 8);
    EXPECT_EQ(information.at(256).kind, RecipeKind::Missing);
    EXPECT_EQ(information.at(static_cast<std::uintptr_t>(-1)).kind, RecipeKind::Missing);
}

TEST(UnwindInfo, RemembersAndRestores) {
    HandMade information;
    information.program = {0x0e, 32, 0x0a, 0x44, 0x0e, 8, 0x44, 0x0b};
    expect_stack(information.at(0), 32);
    expect_stack(information.at(4), 8);
    expect_stack(information.at(8), 32);
    information.program = {0x0b};
    EXPECT_EQ(information.at(0).kind, RecipeKind::Hard);
    information.program = Bytes(100, 0x0a);
    EXPECT_EQ(information.at(0).kind, RecipeKind::Hard);
}

TEST(UnwindInfo, RareInstructions) {
    HandMade information;
    for (const std::uint8_t version : {1, 3}) {
        information.version = version;
        information.program = {0x2e, 16, 0x12, 7, 0x7e, 0x2f, 6, 3, 0x05, 3, 9, 0x11, 12, 0x7f}; // def_cfa_sf, data factor -8
        expect_stack(information.at(0), 16);
        EXPECT_EQ(information.at(0).frame_offset, 24);
    }
    information.program = {0x01, 0, 0, 2, 0, 0, 0, 0, 0, 0x0e, 64};
    expect_stack(information.at(128), 8); // set_loc beyond the end of the function
    information.program = {0x01, 16, 0, 1, 0, 0, 0, 0, 0, 0x0e, 64};
    expect_stack(information.at(15), 8);
    expect_stack(information.at(16), 64);
    information.program = {0x07, 16};
    EXPECT_EQ(information.at(0).kind, RecipeKind::Outermost);
    information.program = {0x08, 6};
    expect_stack(information.at(0), 8);
}

TEST(UnwindInfo, Expressions) {
    HandMade information;
    information.program = {0x0f, 3, 0x76, 0x78, 0x06, 0x10, 6, 2, 0x76, 0};
    EXPECT_EQ(information.at(0).kind, RecipeKind::FrameIndirect);
    EXPECT_EQ(information.at(0).cfa_offset, -8);
    EXPECT_EQ(information.at(0).frame_rule, FramePointerRule::AtFrame);
    EXPECT_EQ(information.at(0).frame_offset, 0);
    information.program = {0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22}; // a linkage table
    expect_stack(information.at(10), 8);
    expect_stack(information.at(11), 16);
    expect_stack(information.at(32), 8);
    information.program = {0x0f, 3, 0x77, 8, 0x06}; // CFA = the word at rsp + 8
    EXPECT_EQ(information.at(0).kind, RecipeKind::Hard);
}

TEST(UnwindInfo, WhatIsNotExpressedIsHard) {
    HandMade information;
    for (const Bytes& program : {
             Bytes{0x0d, 3},                            // CFA from rbx
             Bytes{0x09, 6, 3},                         // rbp in rbx
             Bytes{0x07, 6},                            // rbp lost
             Bytes{0x16, 6, 2, 0x76, 0},                // rbp = a value
             Bytes{0x10, 6, 2, 0x77, 0},                // rbp at rsp
             Bytes{0x90, 2},                            // return address elsewhere
             Bytes{0x09, 16, 0},                        // return address in rax
             Bytes{0x08, 7},                            // rsp kept
             Bytes{0x0e, 12},                           // not a multiple of 8
             Bytes{0x0e, 0x80, 0x80, 0x80, 0x80, 0x10}, // too large
             Bytes{0x3f},                               // unknown
             Bytes{0x0e},                               // cut off
         }) {
        information.program = program;
        EXPECT_EQ(information.at(0).kind, RecipeKind::Hard) << int(program[0]);
    }
}

TEST(UnwindInfo, SignalFrames) {
    HandMade information;
    information.augmentation = {'z', 'R', 'S', 0};
    information.program = {0x0f, 3, 0x77, 8, 0x06};
    EXPECT_EQ(information.at(0).kind, RecipeKind::Signal);
    information.augmentation = {'e', 'h', 0};
    EXPECT_EQ(information.at(0).kind, RecipeKind::Hard);
}

TEST(UnwindInfo, DamageIsHarmless) {
    HandMade information;
    information.augmentation = {'z', 'P', 'L', 'R', 0};
    information.augmentation_data = {pointer_encoding::indirect, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0};
    information.program = {0x41, 0x0e, 16, 0x0f, 3, 0x76, 0x78, 0x06, 0x10, 6, 2, 0x76, 0, 0x0a, 0x44, 0x0b};
    const std::size_t size = information.size();
    for (std::size_t at = 0; at < size; ++at)
        for (unsigned value = 0; value < 256; ++value) information.damaged(at, static_cast<std::uint8_t>(value), size);
    for (std::size_t shorter = 1; shorter < size; ++shorter) {
        const RecipeKind kind = information.damaged(0, 1, shorter).kind;
        const bool is_whole = shorter + 4 >= size; // except for the end mark
        EXPECT_EQ(kind, is_whole ? RecipeKind::FrameIndirect : RecipeKind::Hard) << shorter;
    }
}

} // namespace libprofile
