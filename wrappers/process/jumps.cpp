// What comes before a non-local jump or a look at the stack (jumps.S).
// Contract: async-signal-safe once the real functions are known (the constructor of the library asks for them); usable
// before; touches nothing but the calling thread's mark.

#include "wrappers/process/jumps.hpp"

#include "libprofile/session/thread.hpp"

#include <dlfcn.h>

namespace libprofile {

namespace {

struct Jump {
    const char* name;
    void* real;
    bool leaves_frames;
};
Jump jumps[] = {
    {"longjmp", nullptr, true},    {"_longjmp", nullptr, true},    {"siglongjmp", nullptr, true},
    {"__longjmp_chk", nullptr, true}, {"setcontext", nullptr, true}, {"swapcontext", nullptr, true},
    {"backtrace", nullptr, false}, {"_Unwind_Backtrace", nullptr, false},
};

void* find_real(const char* name) {
    void* real = dlsym(RTLD_NEXT, name);
    if (real != nullptr) return real;
    // The caller has the unwinder in a scope of its own.
    void* library = dlopen("libgcc_s.so.1", RTLD_LAZY | RTLD_LOCAL);
    return library == nullptr ? nullptr : dlsym(library, name);
}

} // namespace

void find_jumps() noexcept {
    for (Jump& jump : jumps)
        if (__atomic_load_n(&jump.real, __ATOMIC_RELAXED) == nullptr)
            __atomic_store_n(&jump.real, dlsym(RTLD_NEXT, jump.name), __ATOMIC_RELAXED);
}

} // namespace libprofile

/// Returns the real function. `stack_pointer`: that of the caller of the interposed function, whose frame is alive.
extern "C" [[gnu::visibility("hidden")]] void* libprofile_before_jump(int index, std::uintptr_t stack_pointer) {
    using namespace libprofile;
    ThreadLocal& local = thread_local_block;
    Jump& jump = jumps[index];
    void* real = __atomic_load_n(&jump.real, __ATOMIC_RELAXED);
    if (real == nullptr) {
        real = find_real(jump.name);
        __atomic_store_n(&jump.real, real, __ATOMIC_RELAXED);
    }
    if (local.thread == nullptr) return real;
    const InTool guard; // no sample may place a mark meanwhile
    // On another stack than the thread's own, the mark's frame is only out of use for a while: it is put in order, too.
    if (local.mark.slot != 0) remove_mark(local.mark, is_own_stack(stack_pointer) ? stack_pointer : local.stack_low);
    if (jump.leaves_frames) local.thread->paths.about_to_jump();
    return real;
}
