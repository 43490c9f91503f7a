// Actions before a non-local jump or a look at the stack (jumps.S).
// Contract: async-signal-safe once the real functions are known (the library's constructor looks them up); usable before. Touches only the calling
// thread's mark.

#include "wrappers/process/jumps.hpp"

#include "libprofile/callpath/frame_walk.hpp"
#include "libprofile/regions/regions.hpp"
#include "libprofile/thread/thread.hpp"

#include <dlfcn.h>

namespace libprofile {

namespace {

enum class Kind : unsigned char {
    Long,    // leaves the frames inside of its target
    Context, // goes anywhere
    Look     // reads return addresses
};

struct Jump {
    const char* name;
    void* real;
    Kind kind;
    bool is_prepared = true;
};
Jump jumps[] = {
    {"longjmp", nullptr, Kind::Long},          {"_longjmp", nullptr, Kind::Long},          {"siglongjmp", nullptr, Kind::Long},
    {"__longjmp_chk", nullptr, Kind::Long},    {"setcontext", nullptr, Kind::Context},     {"swapcontext", nullptr, Kind::Context},
    {"backtrace", nullptr, Kind::Look, false}, {"_Unwind_Backtrace", nullptr, Kind::Look},
};

void* find_real(const char* name) {
    void* real = dlsym(RTLD_NEXT, name);
    if (real != nullptr) return real;
    // The caller has the unwinder in a private scope.
    void* library = dlopen("libgcc_s.so.1", RTLD_LAZY | RTLD_LOCAL);
    return library == nullptr ? nullptr : dlsym(library, name);
}

/// The caller, where it may have jumped here with a mark in its register: jumps.S has saved that and the frame pointer.
[[maybe_unused]] WalkStart caller_of_jump(std::uintptr_t stack_pointer) {
    constexpr std::uintptr_t saved = 48;
    const std::uintptr_t record = stack_pointer - saved, slot = record + 8;
    const auto word = [](std::uintptr_t address) { return *reinterpret_cast<const std::uintptr_t*>(address); };
    return {code_address(word(slot)) - 1, slot, stack_pointer, word(record), record, 0};
}

/// The first call of the C library's backtrace() opens libgcc_s. A sample in there would not look like one in an unwinder and would place a mark, at
/// which the look at the stack would end. So libgcc_s is opened first, while no mark may be placed.
void prepare_backtrace(void* real) {
    void* frame = nullptr;
    reinterpret_cast<int (*)(void**, int)>(real)(&frame, 1);
}

} // namespace

void find_jumps() noexcept {
    for (Jump& jump : jumps)
        if (__atomic_load_n(&jump.real, __ATOMIC_RELAXED) == nullptr) __atomic_store_n(&jump.real, dlsym(RTLD_NEXT, jump.name), __ATOMIC_RELAXED);
}

} // namespace libprofile

/// Returns the real function. `stack_pointer`: that of the interposed function at its entry, below its caller's frame. `argument`: its first argument.
extern "C" [[gnu::visibility("hidden")]] void* libprofile_before_jump(int index, std::uintptr_t stack_pointer, const void* argument) {
    using namespace libprofile;
    ThreadLocal& local = thread_local_block;
    Jump& jump = jumps[index];
    void* real = __atomic_load_n(&jump.real, __ATOMIC_RELAXED);
    if (real == nullptr) {
        real = find_real(jump.name);
        __atomic_store_n(&jump.real, real, __ATOMIC_RELAXED);
    }
    if (local.thread == nullptr) return real;
    const InTool guard; // samples place no mark meanwhile
    if (!__atomic_load_n(&jump.is_prepared, __ATOMIC_RELAXED) && real != nullptr) {
        __atomic_store_n(&jump.is_prepared, true, __ATOMIC_RELAXED);
        prepare_backtrace(real);
    }
    local.thread->paths.about_to_jump(); // or to look; before the thread is in the unwinder, a sample cannot know what is coming
    const std::uintptr_t target = jump.kind == Kind::Long ? longjmp_target(argument) : 0;
    if (is_own_stack(target)) local.thread->leave_calls_to(target);
    if (local.thread->regions != nullptr && target != 0 && !local.thread->finished) {
        if (guard.is_nested())
            local.thread->regions->abandon_hook(); // a handler may have interrupted one
        else if (target > stack_pointer)
            local.thread->regions->leave_to(*local.thread, target);
    }
    if (jump.kind == Kind::Look) restore_losses(local.mark, stack_pointer);
    bool is_found = has_fixed_return_slot;
    if constexpr (!has_fixed_return_slot)
        if (jump.kind != Kind::Long) is_found = find_marks(local.mark, caller_of_jump(stack_pointer));
    if (local.mark.slot == 0) return real;
    if (is_own_stack(stack_pointer) && target > stack_pointer && is_own_stack(target)) {
        jump_mark(local.mark, target);
    } else {
        // On a stack other than the thread's own, the mark's frame is only suspended, and is restored, too.
        remove_mark(local.mark, is_own_stack(stack_pointer) ? stack_pointer : local.stack_low, is_found);
    }
    return real;
}
