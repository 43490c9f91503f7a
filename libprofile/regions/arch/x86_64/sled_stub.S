/* The target of the sleds of -fxray-instrument, x86-64 (sleds.hpp). r10 has the address of the function.

   At an entry, and before a jump to another function, the sled calls; instead of a return it jumps. So to unwinders this is a function that the
   instrumented one, or its caller, has called. All registers that can hold arguments or results are kept: the general registers, and of the
   vector registers the lower halves of eight if the processor says that no others are in use, else all of them by XSAVE. Nothing here touches
   the x87 stack. */

    .text

    .macro SLED name, kind
    .hidden \name
    .globl \name
    .type \name, @function
    .p2align 4
\name:
    .cfi_startproc
    pushq %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset rbp, -16
    movq %rsp, %rbp
    .cfi_def_cfa_register rbp
    pushq $\kind
    jmp libprofile_sled
    .cfi_endproc
    .size \name, . - \name
    .endm

    SLED libprofile_sled_entry, 0
    SLED libprofile_sled_return, 1
    SLED libprofile_sled_jump, 2

    .type libprofile_sled, @function
    .p2align 4
libprofile_sled:
    .cfi_startproc
    .cfi_def_cfa rbp, 16
    .cfi_offset rbp, -16
    pushq %rax
    pushq %rcx
    pushq %rdx
    pushq %rsi
    pushq %rdi
    pushq %r8
    pushq %r9
    pushq %r11
    pushq %r10                  /* -80(%rbp) */
    andq $-64, %rsp
    movl -8(%rbp), %edi
    call libprofile_sled_is_wanted
    testb %al, %al
    je 3f
    cmpb $0, libprofile_tells_vector_use(%rip)
    je 1f
    movl $1, %ecx
    xgetbv
    testb $0x44, %al            /* upper halves of 256 or 512 bits */
    jne 1f
    subq $128, %rsp
    movups %xmm0, (%rsp)
    movups %xmm1, 16(%rsp)
    movups %xmm2, 32(%rsp)
    movups %xmm3, 48(%rsp)
    movups %xmm4, 64(%rsp)
    movups %xmm5, 80(%rsp)
    movups %xmm6, 96(%rsp)
    movups %xmm7, 112(%rsp)
    movq -80(%rbp), %rdi
    movq %rbp, %rsi
    movl -8(%rbp), %edx
    call libprofile_sled_passed
    movups (%rsp), %xmm0
    movups 16(%rsp), %xmm1
    movups 32(%rsp), %xmm2
    movups 48(%rsp), %xmm3
    movups 64(%rsp), %xmm4
    movups 80(%rsp), %xmm5
    movups 96(%rsp), %xmm6
    movups 112(%rsp), %xmm7
    jmp 3f
1:
    movl libprofile_vector_state_size(%rip), %eax
    subq %rax, %rsp
    andq $-64, %rsp
    xorl %edx, %edx
    movq %rdx, 512(%rsp)        /* the header: XSAVE does not write it, and XRSTOR expects zeroes */
    movq %rdx, 520(%rsp)
    movq %rdx, 528(%rsp)
    movq %rdx, 536(%rsp)
    movq %rdx, 544(%rsp)
    movq %rdx, 552(%rsp)
    movq %rdx, 560(%rsp)
    movq %rdx, 568(%rsp)
    movl libprofile_vector_state_parts(%rip), %eax
    xsave64 (%rsp)
    movq -80(%rbp), %rdi
    movq %rbp, %rsi
    movl -8(%rbp), %edx
    call libprofile_sled_passed
    movl libprofile_vector_state_parts(%rip), %eax
    xorl %edx, %edx
    xrstor64 (%rsp)
3:
    leaq -80(%rbp), %rsp
    popq %r10
    popq %r11
    popq %r9
    popq %r8
    popq %rdi
    popq %rsi
    popq %rdx
    popq %rcx
    popq %rax
    leaq 8(%rsp), %rsp
    popq %rbp
    .cfi_def_cfa rsp, 8
    .cfi_restore rbp
    ret
    .cfi_endproc
    .size libprofile_sled, . - libprofile_sled
    .section .note.GNU-stack, "", @progbits
