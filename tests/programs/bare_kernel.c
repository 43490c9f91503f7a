/* Computes in a function like the kernels of linear algebra libraries: in assembler, without unwind information, with a stack that is
 * aligned after the stack pointer was saved in rbx, and with a large buffer that it never writes. */
#include <stdio.h>

double bare_kernel(long rounds, double start);
__asm__("    .text\n"
        "    .globl bare_kernel\n"
        "    .type bare_kernel, @function\n"
        "bare_kernel:\n"
        "    subq $0x60, %rsp\n"
        "    movq %rbx, (%rsp)\n"
        "    movq %rbp, 8(%rsp)\n"
        "    movq %r12, 0x10(%rsp)\n"
        "    movq %rsp, %rbx\n"
        "    subq $0x7080, %rsp\n"
        "    andq $-4096, %rsp\n"
        "    movq %rdi, %rbp\n" /* not a frame pointer */
        "1:  movl $1000, %r12d\n"
        "2:  mulsd %xmm0, %xmm0\n"
        "    sqrtsd %xmm0, %xmm0\n"
        "    decl %r12d\n"
        "    jnz 2b\n"
        "    decq %rbp\n"
        "    jnz 1b\n"
        "    movq %rbx, %rsp\n"
        "    movq (%rsp), %rbx\n"
        "    movq 8(%rsp), %rbp\n"
        "    movq 0x10(%rsp), %r12\n"
        "    addq $0x60, %rsp\n"
        "    ret\n"
        "    .size bare_kernel, . - bare_kernel\n");

static volatile double sink;

/* With a frame pointer, which the kernel does not keep in its register. */
__attribute__((noinline, optimize("no-omit-frame-pointer"))) static void call_kernel(int rounds) {
    volatile char room[rounds % 7 + 1];
    room[0] = 1;
    sink = bare_kernel(100, 1.5) + room[0];
}

int main(void) {
    for (int i = 0; i < 700; ++i) call_kernel(i);
    printf("%g\n", sink);
    return 0;
}
