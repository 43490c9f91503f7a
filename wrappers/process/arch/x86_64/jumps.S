/* Interposed functions that leave frames without returning from them, or that read the stack's return addresses:
   longjmp and its relatives, setcontext, swapcontext, backtrace, _Unwind_Backtrace.

   Each moves the thread's mark out of the way (before_jump) and jumps to the real function. No frame of ours lies in between, so the stack is
   as the real function expects it, and a backtrace has no additional line. Argument registers are kept. */

    .macro JUMP name, index
    .globl \name
    .type \name, @function
    .p2align 4
\name:
    .cfi_startproc
    endbr64
    pushq %rdi
    .cfi_adjust_cfa_offset 8
    pushq %rsi
    .cfi_adjust_cfa_offset 8
    pushq %rdx
    .cfi_adjust_cfa_offset 8
    movq %rdi, %rdx
    movl $\index, %edi
    leaq 24(%rsp), %rsi
    call libprofile_before_jump
    popq %rdx
    .cfi_adjust_cfa_offset -8
    popq %rsi
    .cfi_adjust_cfa_offset -8
    popq %rdi
    .cfi_adjust_cfa_offset -8
    jmp *%rax
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
