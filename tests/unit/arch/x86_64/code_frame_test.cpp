#include "libprofile/callpath/code_frame.hpp"

#include "libprofile/callpath/load_map.hpp"

#include <gtest/gtest.h>

// Functions like hand-written kernels: no unwind information, but a symbol (the test program exports its own).
extern "C" const unsigned char bare_aligned[], bare_aligned_1[], bare_aligned_2[], bare_aligned_body[], bare_pushing[], bare_pushing_2[], bare_pushing_body[],
    bare_leaf[], bare_caller_after_direct[], bare_caller_after_indirect[];
__asm__(R"(
    .text
    .globl bare_aligned, bare_aligned_1, bare_aligned_2, bare_aligned_body
    .type bare_aligned, @function
bare_aligned:
    subq $0x60, %rsp
bare_aligned_1:
    movq %rbx, (%rsp)
    movq %rbp, 8(%rsp)
    movq %r12, 0x10(%rsp)
    vzeroupper
    movq 0x68(%rsp), %r10
    movq %rsp, %rbx
bare_aligned_2:
    subq $0x7080, %rsp
    andq $-4096, %rsp
    cmpq $0, %rdi
bare_aligned_body:
    nop
    .size bare_aligned, . - bare_aligned

    .globl bare_pushing, bare_pushing_2, bare_pushing_body
    .type bare_pushing, @function
bare_pushing:
    endbr64
    pushq %r15
    pushq %rbp
bare_pushing_2:
    pushq %rbx
    subq $24, %rsp
    addq $1, %rdi
bare_pushing_body:
    nop
    .size bare_pushing, . - bare_pushing

    .globl bare_leaf, bare_caller_after_direct, bare_caller_after_indirect
    .type bare_leaf, @function
bare_leaf:
    addq $1, %rdi
    nop
    .size bare_leaf, . - bare_leaf
    nop; nop; nop; nop; nop; nop; nop; nop
    call bare_leaf
bare_caller_after_direct:
    call *0x10(%rax)
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

TEST(CodeFrame, AStackThatIsAlignedIsFoundThroughTheRegisterThatKeptIt) {
    EXPECT_EQ(frame_at(bare_aligned).cfa_offset, 8);
    EXPECT_EQ(frame_at(bare_aligned_1).cfa_offset, 0x68);
    EXPECT_EQ(frame_at(bare_aligned_2).base, CodeFrame::Base::StackPointer);
    const CodeFrame body = frame_at(bare_aligned_body);
    EXPECT_EQ(body.base, CodeFrame::Base::Rbx);
    EXPECT_EQ(body.cfa_offset, 0x68);
    EXPECT_EQ(body.frame_offset, 8 - 0x68);
}

TEST(CodeFrame, PushesAndRoomAreCounted) {
    EXPECT_EQ(frame_at(bare_pushing).cfa_offset, 8);
    EXPECT_EQ(frame_at(bare_pushing_2).cfa_offset, 24);
    EXPECT_EQ(frame_at(bare_pushing_2).frame_offset, -24);
    const CodeFrame body = frame_at(bare_pushing_body);
    EXPECT_EQ(body.base, CodeFrame::Base::StackPointer);
    EXPECT_EQ(body.cfa_offset, 8 + 3 * 8 + 24);
    EXPECT_EQ(body.frame_offset, -24);
}

TEST(CodeFrame, AFunctionWithoutPrologueHasItsReturnAddressOnTop) {
    EXPECT_EQ(frame_at(bare_leaf).cfa_offset, 8);
    EXPECT_EQ(frame_at(bare_leaf).frame_offset, 0);
}

TEST(CodeFrame, AddressesOutsideOfEveryFunctionHaveNone) {
    CodeFrame frame;
    EXPECT_FALSE(find_code_frame(8, frame));
}

TEST(CodeFrame, ReturnAddressesFollowCalls) {
    EXPECT_TRUE(follows_call(reinterpret_cast<std::uintptr_t>(bare_caller_after_direct)));
    EXPECT_TRUE(follows_call(reinterpret_cast<std::uintptr_t>(bare_caller_after_indirect)));
    EXPECT_FALSE(follows_call(reinterpret_cast<std::uintptr_t>(bare_leaf) + 4));
    EXPECT_FALSE(follows_call(16));
}

} // namespace libprofile
