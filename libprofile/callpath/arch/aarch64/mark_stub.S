/* The stub that a marked return address leads to, AArch64. See arch/x86_64/mark_stub.S for what it must keep, and for whom its unwind
   information is made.

   It is entered by `ret` with the stack pointer of the caller at its call: by that its handler knows the frame. x30 leads to the stub, and
   becomes what it would be without a mark. It leaves by `ret`, too: a `br` could end only at a landing pad in code that is guarded by BTI.

   No general register but x30 changes, and no vector register nor the state of SVE and SME is touched (the handler is compiled with
   -mgeneral-regs-only).

   Unwinders have the return address in x30, wherever the function that they come from has saved it. The personality routine replaces it
   there. As long as it leads to the stub, it is described as 0. */

    .section libprofile_marks, "ax", @progbits
    .hidden libprofile_mark_stub
    .globl libprofile_mark_stub
    .type libprofile_mark_stub, @function
    .p2align 4
    .cfi_startproc
    .cfi_personality 0x1b, libprofile_mark_personality
    .cfi_def_cfa sp, 0
    /* DW_CFA_val_expression of x30: breg30 0, const8u, and (it may be signed), dup, deref, const8u (the first eight bytes of the stub), ne, mul. */
    .cfi_escape 0x16, 30, 25, 0x8e, 0x00, 0x0e, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x00, 0x00, 0x1a, 0x12, 0x06
    .cfi_escape 0x0e, 0x9f, 0x24, 0x03, 0xd5, 0xfd, 0x7b, 0xb5, 0xa9, 0x2e, 0x1e
    nop
libprofile_mark_stub:
    hint 36                     /* bti j */
    stp x29, x30, [sp, #-176]!
    .cfi_def_cfa_offset 176
    .cfi_offset x29, -176
    .cfi_offset x30, -168
    mov x29, sp
    stp x0, x1, [sp, #16]
    stp x2, x3, [sp, #32]
    stp x4, x5, [sp, #48]
    stp x6, x7, [sp, #64]
    stp x8, x9, [sp, #80]
    stp x10, x11, [sp, #96]
    stp x12, x13, [sp, #112]
    stp x14, x15, [sp, #128]
    stp x16, x17, [sp, #144]
    str x18, [sp, #160]
    add x0, sp, #8              /* the slot */
    bl 1f                       /* for the processor's return predictor: the call that the last `ret` belongs to */
1:  bl libprofile_mark_fired
    str x0, [sp, #8]
    ldp x0, x1, [sp, #16]
    ldp x2, x3, [sp, #32]
    ldp x4, x5, [sp, #48]
    ldp x6, x7, [sp, #64]
    ldp x8, x9, [sp, #80]
    ldp x10, x11, [sp, #96]
    ldp x12, x13, [sp, #112]
    ldp x14, x15, [sp, #128]
    ldp x16, x17, [sp, #144]
    ldr x18, [sp, #160]
    ldp x29, x30, [sp], #176
    .cfi_def_cfa_offset 0
    .cfi_restore x29
    .cfi_restore x30
    ret
    .cfi_endproc
    .size libprofile_mark_stub, . - libprofile_mark_stub
    .section .note.GNU-stack, "", @progbits
