/* The stub that patched code of the program calls, x86-64 (patch.hpp).

   The code near the patched address pushes the number of the patch and calls this stub. So the stack holds, from the top: the return address,
   the number, and, at the beginning of a function, that function's return address. To unwinders the stub looks called by the function's caller.

   Callers of local functions may expect registers to survive that these do not use (GCC's -fipa-ra), so all are kept. General registers are
   saved here, vector registers and the control word of SSE by XSAVE, but only if an iteration is to begin. The code that decides this is
   compiled with -mgeneral-regs-only. The x87 stack is empty where functions begin, and our code does not use it. */

    .text
    .hidden libprofile_iteration_stub
    .globl libprofile_iteration_stub
    .type libprofile_iteration_stub, @function
    .p2align 4
libprofile_iteration_stub:
    .cfi_startproc
    .cfi_def_cfa rsp, 24
    pushq %rbp
    .cfi_def_cfa_offset 32
    .cfi_offset rbp, -32
    movq %rsp, %rbp
    .cfi_def_cfa_register rbp
    pushfq
    pushq %rax
    pushq %rcx
    pushq %rdx
    pushq %rsi
    pushq %rdi
    pushq %r8
    pushq %r9
    pushq %r10
    pushq %r11
    pushq 16(%rbp)              /* the number; the frame pointer takes its slot: */
    movq (%rbp), %rax           /* with the return address above it, a frame begins so */
    movq %rax, 16(%rbp)
    cld
    andq $-64, %rsp
    call libprofile_iteration_is_wanted
    testb %al, %al
    je 1f
    movl libprofile_vector_state_size(%rip), %eax
    subq %rax, %rsp
    andq $-64, %rsp
    xorl %edx, %edx
    movq %rdx, 520(%rsp)        /* the header: XSAVE does not write it, XRSTOR wants zeros */
    movq %rdx, 528(%rsp)
    movq %rdx, 536(%rsp)
    movq %rdx, 544(%rsp)
    movq %rdx, 552(%rsp)
    movq %rdx, 560(%rsp)
    movq %rdx, 568(%rsp)
    movq %rdx, 512(%rsp)
    movl libprofile_vector_state_parts(%rip), %eax
    xsave64 (%rsp)
    movl -88(%rbp), %edi
    leaq 16(%rbp), %rsi
    call libprofile_iteration_passed
    movl libprofile_vector_state_parts(%rip), %eax
    xorl %edx, %edx
    xrstor64 (%rsp)
1:
    leaq -80(%rbp), %rsp
    popq %r11
    popq %r10
    popq %r9
    popq %r8
    popq %rdi
    popq %rsi
    popq %rdx
    popq %rcx
    popq %rax
    popfq
    popq %rbp
    .cfi_def_cfa rsp, 24
    .cfi_restore rbp
    ret
    .cfi_endproc
    .size libprofile_iteration_stub, . - libprofile_iteration_stub
    .section .note.GNU-stack, "", @progbits
