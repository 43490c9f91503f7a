#include "libprofile/callpath/code_frame.hpp"

#include "libprofile/callpath/load_map.hpp"

#include <gtest/gtest.h>

// Functions like hand-written kernels: no unwind information, but a symbol (the test program exports its own).
extern "C" const unsigned char bare_kernel[], bare_kernel_1[], bare_kernel_2[], bare_kernel_body[], bare_record[], bare_record_body[], bare_leaf[],
    bare_caller_after_direct[], bare_caller_after_indirect[];
__asm__(R"(
    .text
    .globl bare_kernel, bare_kernel_1, bare_kernel_2, bare_kernel_body
    .type bare_kernel, %function
bare_kernel:
    add sp, sp, #-176
bare_kernel_1:
    stp d8, d9, [sp, #0]
    stp d10, d11, [sp, #16]
bare_kernel_2:
    stp x18, x19, [sp, #64]
    str x30, [sp, #160]
    fmov d0, x0
bare_kernel_body:
    nop
    .size bare_kernel, . - bare_kernel

    .globl bare_record, bare_record_body
    .type bare_record, %function
bare_record:
    hint 34
    stp x29, x30, [sp, #-48]!
    mov x29, sp
    stp x19, x20, [sp, #16]
    sub sp, sp, #1, lsl #12
    mov x19, x0
bare_record_body:
    nop
    .size bare_record, . - bare_record

    .globl bare_leaf, bare_caller_after_direct, bare_caller_after_indirect
    .type bare_leaf, %function
bare_leaf:
    fmov d0, x0
    nop
    .size bare_leaf, . - bare_leaf
    nop; nop; nop; nop
    bl bare_leaf
bare_caller_after_direct:
    blr x3
bare_caller_after_indirect:
    nop
)");

namespace libprofile {

namespace {

CodeFrame frame_at(const unsigned char* place) {
    load_map.refresh();
    CodeFrame frame;
    EXPECT_TRUE(find_code_frame(reinterpret_cast<std::uintptr_t>(place), frame));
    return frame;
}

} // namespace

TEST(CodeFrame, RoomAndSavedRegistersAreFound) {
    EXPECT_EQ(frame_at(bare_kernel).cfa_offset, 0);
    EXPECT_EQ(frame_at(bare_kernel_1).cfa_offset, 176);
    EXPECT_EQ(frame_at(bare_kernel_2).return_offset, 0); // still in its register
    const CodeFrame body = frame_at(bare_kernel_body);
    EXPECT_EQ(body.base, CodeFrame::Base::StackPointer);
    EXPECT_EQ(body.cfa_offset, 176);
    EXPECT_EQ(body.return_offset, 160 - 176);
    EXPECT_EQ(body.frame_offset, 0);
}

TEST(CodeFrame, AFrameRecordIsFoundWhateverTheStackPointerDoes) {
    const CodeFrame body = frame_at(bare_record_body);
    EXPECT_EQ(body.base, CodeFrame::Base::FramePointer);
    EXPECT_EQ(body.cfa_offset, 48);
    EXPECT_EQ(body.frame_offset, -48);
    EXPECT_EQ(body.return_offset, -40);
}

TEST(CodeFrame, AFunctionWithoutPrologueHasItsReturnAddressInTheRegister) {
    EXPECT_EQ(frame_at(bare_leaf).cfa_offset, 0);
    EXPECT_EQ(frame_at(bare_leaf).return_offset, 0);
}

TEST(CodeFrame, AddressesOutsideOfEveryFunctionHaveNone) {
    CodeFrame frame;
    EXPECT_FALSE(find_code_frame(reinterpret_cast<std::uintptr_t>(bare_caller_after_direct), frame));
    EXPECT_FALSE(find_code_frame(8, frame));
}

TEST(CodeFrame, ReturnAddressesFollowCalls) {
    EXPECT_TRUE(follows_call(reinterpret_cast<std::uintptr_t>(bare_caller_after_direct)));
    EXPECT_TRUE(follows_call(reinterpret_cast<std::uintptr_t>(bare_caller_after_indirect)));
    EXPECT_FALSE(follows_call(reinterpret_cast<std::uintptr_t>(bare_leaf) + 8));
    EXPECT_FALSE(follows_call(reinterpret_cast<std::uintptr_t>(bare_caller_after_direct) + 1));
    EXPECT_FALSE(follows_call(8));
}

} // namespace libprofile
