// The start of a program, for C libraries before 2.34 and since.
// Contract: called once, by the start-up code of the executable.
//
// Since 2.34 libc itself runs the constructors of the executable, and start-up code of that time gives it none to run. Before, it ran what it was given.
// All run what they are given.
#include <stddef.h>

typedef void (*constructor)(int, char**, char**);

extern int libprofile_old_start(int (*main)(int, char**, char**), int argc, char** argv, constructor init, void (*fini)(void), void (*rtld_fini)(void),
                                void* stack_end);
#if defined(__aarch64__)
__asm__(".symver libprofile_old_start, __libc_start_main@GLIBC_2.17");
#else
__asm__(".symver libprofile_old_start, __libc_start_main@GLIBC_2.2.5");
#endif

#pragma GCC visibility push(hidden)

extern void _init(void); // of the start-up code
extern constructor __init_array_start[], __init_array_end[];

static void run_constructors(int argc, char** argv, char** environment) {
    _init();
    for (constructor* next = __init_array_start; next != __init_array_end; ++next) (*next)(argc, argv, environment);
}

int __libc_start_main(int (*main)(int, char**, char**), int argc, char** argv, constructor init, void (*fini)(void), void (*rtld_fini)(void), void* stack_end) {
    return libprofile_old_start(main, argc, argv, init != NULL ? init : run_constructors, fini, rtld_fini, stack_end);
}

#pragma GCC visibility pop
