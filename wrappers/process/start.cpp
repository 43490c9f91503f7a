// Interposed: __libc_start_main, which does nothing here but go on to libc's.
// Contract: called once, by the start-up code of the executable, after the constructors of all libraries.
//
// It exists for the linker's sake: MPI names are hidden from it (exports.map), so nothing in a program would refer to
// libprofile.so, and linkers that record only libraries they need (--as-needed, the default of some distributions'
// compilers) would drop a plain -lprofile without a word. The start-up code of every executable refers to this function.

#include "libprofile/base/real_calls.hpp"

extern "C" [[gnu::visibility("default")]] int __libc_start_main(int (*main)(int, char**, char**), int argc, char** argv, void (*init)(), void (*fini)(),
                                                                void (*rtld_fini)(), void* stack_end) {
    return libprofile::real_calls().libc_start_main(main, argc, argv, init, fini, rtld_fini, stack_end);
}
