// Programs whose iteration points are named from outside: iteration_points KIND PASSES. Prints what it has computed.
// Every step is a function that a change of its code could break: arguments in all registers, exceptions, threads, short ones.
#include <mpi.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <thread>
#include <vector>

#define OWN __attribute__((noinline))

#ifdef LINKED // all of it is in a library
int main_of_library(int argc, char** argv);
int main(int argc, char** argv) { return main_of_library(argc, argv); }
#else

static double sum_of_all = 0;
static volatile int counter = 0;

static void exchange() {
    double one = 1, all = 0;
    MPI_Allreduce(&one, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    sum_of_all += all;
}

OWN static int recursive(int depth) { return depth <= 0 ? counter : recursive(depth - 1) + 1; }

// The compiler knows all callers, so these may count on registers that it does not use.
OWN static int local_step(int i) {
    counter = counter + 1; // relative to the instruction pointer
    return i * 3;
}

OWN double many_arguments(int a, int b, int c, int d, int e, int f, int g, int h, double p, double q, double r, double s, double t, double u,
                          double v, double w, double x) {
    return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + p + 2 * q + 3 * r + 4 * s + 5 * t + 6 * u + 7 * v + 8 * w + 9 * x;
}

OWN double variable_arguments(int count, ...) {
    va_list list;
    va_start(list, count);
    double sum = 0;
    for (int i = 0; i < count; ++i) sum += va_arg(list, double);
    va_end(list);
    return sum;
}

typedef float Wide __attribute__((vector_size(32)));
__attribute__((noinline, target("avx"))) static double wide_step(Wide a, Wide b) {
    Wide c = a * b;
    return c[0] + c[7];
}
__attribute__((noinline, target("avx"))) static double call_wide(int i) {
    Wide a, b;
    for (int k = 0; k < 8; ++k) a[k] = static_cast<float>(i + k), b[k] = static_cast<float>(k);
    return wide_step(a, b);
}

namespace model {
namespace {
struct Hidden {
    OWN int advance(int i) { return counter = i; }
};
} // namespace
struct Engine {
    virtual ~Engine() = default;
    OWN virtual void advance(int i) const {
        std::vector<int> something(static_cast<std::size_t>(i % 7 + 1)); // a destructor runs when it is left by an exception
        counter = static_cast<int>(something.size());
        exchange();
        if (i % 3 == 0) throw std::runtime_error("every third");
    }
    template <class T> OWN T apply(T value) { return static_cast<T>(value + counter); }
};
OWN int overloaded(int i) { return counter = i; }
OWN int overloaded(double i) { return counter = static_cast<int>(i); }
} // namespace model

OWN int switching(int kind) {
    switch (kind % 8) { // a table of addresses
    case 0: return counter = 5;
    case 1: return counter + 3;
    case 2: exchange(); return 2;
    case 3: return counter = 11;
    case 4: return counter * 7;
    case 5: return counter - 5;
    case 6: return counter ^ 6;
    default: return 1;
    }
}

extern "C" {
// Written by hand, so that they are what they are with any compiler.
int loop_at_entry(int n);
int tiny(void);
int branch_first(int n);
int jump_first(int n);
int call_first(int n);
int call_in_loop(int n);
int call_behind_branch(int n);
void may_throw(void);
}
__asm__(R"(
    .text
    .globl loop_at_entry
    .type loop_at_entry, @function
    .p2align 4
loop_at_entry:
    .cfi_startproc
    subl $1, %edi
    jne loop_at_entry
    movl $7, %eax
    ret
    .cfi_endproc
    .size loop_at_entry, . - loop_at_entry
    .globl tiny
    .type tiny, @function
    .p2align 4
tiny:
    .cfi_startproc
    ret
    .cfi_endproc
    .size tiny, . - tiny
    .p2align 4
    .globl branch_first
    .type branch_first, @function
branch_first:
    .cfi_startproc
    testl %edi, %edi
    je 1f
    leal 1(%rdi), %eax
    ret
1:  movl $-1, %eax
    ret
    .cfi_endproc
    .size branch_first, . - branch_first
    .p2align 4
    .globl jump_first
    .type jump_first, @function
jump_first:
    .cfi_startproc
    jmp branch_first
    .cfi_endproc
    .size jump_first, . - jump_first
    .p2align 4
    .globl call_first
    .type call_first, @function
call_first:
    .cfi_startproc
    pushq %rbx
    .cfi_adjust_cfa_offset 8
    .cfi_offset %rbx, -16
    movl %edi, %ebx
    call may_throw
    leal 1(%rbx), %eax
    testl %ebx, %ebx
    jne 1f
    call may_throw
1:  popq %rbx
    .cfi_adjust_cfa_offset -8
    ret
    .cfi_endproc
    .size call_first, . - call_first
    .p2align 4
    .globl call_in_loop
    .type call_in_loop, @function
call_in_loop:
    .cfi_startproc
    pushq %rbx
    .cfi_adjust_cfa_offset 8
    .cfi_offset %rbx, -16
    movl %edi, %ebx
1:  call may_throw
    subl $1, %ebx
    jns 1b
    movl $3, %eax
    popq %rbx
    .cfi_adjust_cfa_offset -8
    ret
    .cfi_endproc
    .size call_in_loop, . - call_in_loop
    .p2align 4
    .globl call_behind_branch
    .type call_behind_branch, @function
call_behind_branch:
    .cfi_startproc
    testl %edi, %edi
    je 1f
    call tiny
1:  movl $4, %eax
    ret
    .cfi_endproc
    .size call_behind_branch, . - call_behind_branch
)");

// Under functions written by hand, whose unwind tables it takes to get out.
extern "C" OWN void may_throw() {
    counter = counter + 1;
    if (counter % 5 == 0) throw std::runtime_error("every fifth");
}

OWN static void call_of_a_line(int i) {
    for (int k = 0; k < i; ++k) {
        counter = local_step(k) / 3 + 1; // LINE
        counter = recursive(0); // SECOND LINE
        exchange();
    }
}

// The registers that a called function must keep, and those that it need not but a local one may be known to.
static double run(const char* kind, int passes) {
    double result = 0;
    int (*volatile pointer)(int) = branch_first;
    for (int i = 0; i < passes; ++i) {
        if (std::strcmp(kind, "local") == 0) result += local_step(i);
        else if (std::strcmp(kind, "arguments") == 0) result += many_arguments(i, 2, 3, 4, 5, 6, 7, 8, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5, 9.5);
        else if (std::strcmp(kind, "variable") == 0) result += variable_arguments(3, i * 0.5, 1.25, 2.5);
        else if (std::strcmp(kind, "wide") == 0) result += __builtin_cpu_supports("avx") ? call_wide(i) : 0;
        else if (std::strcmp(kind, "hidden") == 0) result += model::Hidden{}.advance(i);
        else if (std::strcmp(kind, "template") == 0) result += model::Engine().apply(i);
        else if (std::strcmp(kind, "overloaded") == 0) result += model::overloaded(i) + model::overloaded(0.5 * i);
        else if (std::strcmp(kind, "switch") == 0) result += switching(i);
        else if (std::strcmp(kind, "loop_at_entry") == 0) result += loop_at_entry(i + 1);
        else if (std::strcmp(kind, "tiny") == 0) tiny();
        else if (std::strcmp(kind, "branch") == 0) result += pointer(i % 2);
        else if (std::strcmp(kind, "jump") == 0) result += jump_first(i % 2);
        else if (std::strcmp(kind, "recursive") == 0) result += recursive(2);
        else if (std::strncmp(kind, "call", 4) == 0) {
            try {
                if (std::strcmp(kind, "call_first") == 0) result += call_first(i);
                else if (std::strcmp(kind, "call_in_loop") == 0) result += call_in_loop(i % 3);
                else result += call_behind_branch(i % 2);
            } catch (const std::runtime_error&) {
                result += 100;
            }
        }
        else if (std::strcmp(kind, "exceptions") == 0) {
            try {
                model::Engine().advance(i);
            } catch (const std::runtime_error&) {
                result += 100;
            }
        }
        exchange();
    }
    if (std::strcmp(kind, "line") == 0) call_of_a_line(passes);
    return result + counter;
}

#ifdef AS_LIBRARY
int main_of_library(int argc, char** argv) {
#else
int main(int argc, char** argv) {
#endif
    if (argc < 3) return 2;
    int given = 0;
    const char* kind = argv[1];
    const int passes = std::atoi(argv[2]);
    if (std::strcmp(kind, "before") == 0) { // threads run when MPI begins
        static volatile bool stop = false;
        static volatile long turns = 0;
        std::thread other([] { while (!stop) turns = turns + 1; });
        MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &given);
        const double result = run("arguments", passes);
        stop = true;
        other.join();
        std::printf("%g\n", result);
        MPI_Finalize();
        return 0;
    }
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &given);
    double result = 0;
    if (std::strcmp(kind, "threads") == 0) {
        std::vector<std::thread> all;
        double results[4] = {};
        for (double& own : results)
            all.emplace_back([&own, passes] {
                for (int i = 0; i < passes; ++i) own += many_arguments(i, 2, 3, 4, 5, 6, 7, 8, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5, 9.5);
            });
        for (std::thread& one : all) one.join();
        for (const double own : results) result += own;
    } else {
        result = run(kind, passes);
    }
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) std::printf("%s %.17g %.17g\n", kind, result, sum_of_all);
    MPI_Finalize();
    return 0;
}
#endif
