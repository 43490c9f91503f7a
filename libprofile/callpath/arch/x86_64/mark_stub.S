/* The stub that a marked return address leads to, x86-64.

   It runs between a `ret` and the instruction after the call, where the caller expects everything the callee left there:
   return values in rax, rdx, xmm0, xmm1, st0, st1, and, since GCC's -fipa-ra lets callers of local functions keep values in
   registers that these do not use, in any other register as well. So all general registers are kept, and no vector or x87
   register is touched (the handler is compiled with -mgeneral-regs-only).

   It leaves by `jmp`, not `ret`, so that the processor's return predictor stays paired with the calls.

   Unwinders (exceptions, pthread_exit, cancellation) find a frame here whose return address is its own. Before they read it,
   they call the personality routine, which puts the real one back. The nop is there because unwinders look up the return
   address - 1. Debuggers, and a backtrace that is linked into the program, only look at the stack and do not call the routine.
   To end them here instead of in a circle, the return address is described as 0 while it leads to code that begins as the stub. */

    .section libprofile_marks, "ax", @progbits
    .hidden libprofile_mark_stub
    .globl libprofile_mark_stub
    .type libprofile_mark_stub, @function
    .p2align 4
    .cfi_startproc
    .cfi_personality 0x1b, libprofile_mark_personality
    .cfi_def_cfa rsp, 0
    /* DW_CFA_val_expression of rip: the CFA is on the stack; lit8, minus, deref, dup, deref, const8u (the first eight bytes
       of the stub), ne, mul. */
    .cfi_escape 0x16, 16, 16, 0x38, 0x1c, 0x06, 0x12, 0x06, 0x0e, 0x48, 0x83, 0xec, 0x08, 0x55, 0x48, 0x89, 0xe5, 0x2e, 0x1e
    nop
libprofile_mark_stub:
    .cfi_offset rip, -8
    subq $8, %rsp               /* the slot again */
    .cfi_def_cfa_offset 8
    pushq %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset rbp, -16
    movq %rsp, %rbp
    .cfi_def_cfa_register rbp
    pushq %rax
    pushq %rcx
    pushq %rdx
    pushq %rsi
    pushq %rdi
    pushq %r8
    pushq %r9
    pushq %r10
    pushq %r11
    leaq 8(%rbp), %rdi
    andq $-16, %rsp
    call libprofile_mark_fired
    movq %rax, 8(%rbp)
    leaq -72(%rbp), %rsp
    popq %r11
    popq %r10
    popq %r9
    popq %r8
    popq %rdi
    popq %rsi
    popq %rdx
    popq %rcx
    popq %rax
    popq %rbp
    .cfi_def_cfa rsp, 8
    .cfi_restore rbp
    addq $8, %rsp
    .cfi_def_cfa_offset 0
    jmp *-8(%rsp)
    .cfi_endproc
    .size libprofile_mark_stub, . - libprofile_mark_stub
    .section .note.GNU-stack, "", @progbits
