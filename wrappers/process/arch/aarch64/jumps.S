/* As arch/x86_64/jumps.S, AArch64. libprofile_before_jump() knows where x29 and x30 are saved, and may take a mark from x30. */

    .macro JUMP name, index
    .globl \name
    .type \name, @function
    .p2align 4
\name:
    .cfi_startproc
    hint 34                     /* bti c */
    stp x29, x30, [sp, #-48]!
    .cfi_adjust_cfa_offset 48
    .cfi_rel_offset x29, 0
    .cfi_rel_offset x30, 8
    mov x29, sp
    stp x0, x1, [sp, #16]
    str x2, [sp, #32]
    mov x2, x0
    mov w0, #\index
    add x1, sp, #48
    bl libprofile_before_jump
    mov x16, x0
    ldp x0, x1, [sp, #16]
    ldr x2, [sp, #32]
    ldp x29, x30, [sp], #48
    .cfi_adjust_cfa_offset -48
    .cfi_restore x29
    .cfi_restore x30
    br x16
    .cfi_endproc
    .size \name, . - \name
    .endm

    .text
    JUMP longjmp, 0
    JUMP _longjmp, 1
    JUMP siglongjmp, 2
    JUMP __longjmp_chk, 3
    JUMP setcontext, 4
    JUMP swapcontext, 5
    JUMP backtrace, 6
    JUMP _Unwind_Backtrace, 7
    .section .note.GNU-stack, "", @progbits
