// Interposed: __libc_start_main, which calls libc's.
// Contract: called once, by the start-up code of the executable, after the constructors of all libraries.
//
// It exists for the linker: MPI names are hidden from it (exports.map), so nothing in a program would refer to libprofile.so. Linkers that record only
// needed libraries (--as-needed, the default of some distributions' compilers) would silently drop a plain -lprofile. The start-up code of every
// executable refers to this function. It also tells when the program's own libraries are loaded.

#include "libprofile/base/loaded_objects.hpp"
#include "libprofile/base/real_calls.hpp"

extern "C" [[gnu::visibility("default")]] int __libc_start_main(int (*main)(int, char**, char**), int argc, char** argv, void (*init)(), void (*fini)(),
                                                                void (*rtld_fini)(), void* stack_end) {
    libprofile::loaded_objects_stay();
    return libprofile::real_calls().libc_start_main(main, argc, argv, init, fini, rtld_fini, stack_end);
}
