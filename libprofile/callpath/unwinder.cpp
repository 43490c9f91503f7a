#include "libprofile/callpath/unwinder.hpp"

#include "libprofile/callpath/load_map.hpp"
#include "libprofile/callpath/stack_memory.hpp"
#include "libprofile/session/thread.hpp"

#define UNW_LOCAL_ONLY
#include <dlfcn.h>
#include <libunwind.h>
#include <sys/auxv.h>
#include <ucontext.h>

namespace libprofile {

constinit Unwinder unwinder;

namespace {

template <class F> bool find(void* library, F& pointer, const char* name) {
    pointer = reinterpret_cast<F>(dlsym(library, name));
    return pointer != nullptr;
}

int (*original_access)(unw_addr_space_t, unw_word_t, unw_word_t*, int, void*) = nullptr;

/// Stands in for libunwind's own access to memory while we unwind; the application's use of libunwind is not touched.
int access_memory(unw_addr_space_t space, unw_word_t address, unw_word_t* value, int write, void* argument) {
    if (thread_local_block.in_tool == 0 || write != 0) return original_access(space, address, value, write, argument);
    return read_stack_word(address, value) ? 0 : -UNW_EUNSPEC;
}

constexpr std::size_t start_code_size = 64; // _start is some 40 bytes long

} // namespace

bool Unwinder::load() noexcept {
    entry_ = getauxval(AT_ENTRY);
    void* library = dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return false;
    int (*trace)(void**, int) = nullptr;
    const bool found = find(library, trace, "unw_backtrace") && find(library, init_, "_ULx86_64_init_local2") &&
                       find(library, step_, "_ULx86_64_step") && find(library, get_register_, "_ULx86_64_get_reg") &&
                       find(library, flush_, "_Ux86_64_flush_cache") &&
                       find(library, address_space_, "_ULx86_64_local_addr_space");
    unw_accessors_t* (*accessors)(void*) = nullptr;
    if (!found || !find(library, accessors, "_Ux86_64_get_accessors")) return false;
    unw_accessors_t* local = accessors(*address_space_);
    if (local->access_mem != access_memory) {
        original_access = local->access_mem;
        local->access_mem = access_memory;
    }
    backtrace_ = trace;
    return true;
}

void Unwinder::flush() noexcept {
    if (flush_ != nullptr) flush_(*address_space_, 0, 0);
}

void Unwinder::here(void* return_address, RawPath& path) noexcept {
    path.size = 0;
    path.complete = false;
    const auto site = reinterpret_cast<std::uintptr_t>(return_address);
    if (available()) {
        static_assert(sizeof(void*) == sizeof(std::uintptr_t));
        const int count = backtrace_(reinterpret_cast<void**>(path.addresses), RawPath::capacity);
        int first = 0;
        while (first < count && path.addresses[first] != site) ++first;
        // Our own frames come first; they are few.
        for (int i = first; i < count; ++i) path.addresses[path.size++] = path.addresses[i] - 1;
        if (path.size != 0) return;
    }
    path.addresses[0] = site - 1;
    path.size = 1;
}

void Unwinder::interrupted(void* context, RawPath& path) noexcept {
    path.size = 0;
    path.complete = false;
    auto* machine = static_cast<ucontext_t*>(context);
    if (!available()) {
        path.addresses[path.size++] = static_cast<std::uintptr_t>(machine->uc_mcontext.gregs[REG_RIP]);
        return;
    }
    unw_cursor_t cursor;
    std::uintptr_t stack = 0;
    bool failed = init_(&cursor, machine, UNW_INIT_SIGNAL_FRAME) < 0;
    while (!failed && path.size < RawPath::capacity) {
        std::uintptr_t address = 0;
        std::uintptr_t pointer = 0;
        if (get_register_(&cursor, UNW_REG_IP, &address) < 0 || get_register_(&cursor, UNW_REG_SP, &pointer) < 0) break;
        if (address == 0 || (path.size != 0 && pointer <= stack)) break; // the stack must grow towards its base
        stack = pointer;
        path.addresses[path.size] = path.size == 0 ? address : address - 1;
        ++path.size;
        if (step_(&cursor) <= 0) break;
    }
    if (path.size == 0) path.addresses[path.size++] = static_cast<std::uintptr_t>(machine->uc_mcontext.gregs[REG_RIP]);
}

void Unwinder::trim(RawPath& path) noexcept {
    const std::uintptr_t last = path.addresses[path.size - 1];
    const bool at_start = last >= entry_ && last < entry_ + start_code_size;
    const std::uint32_t module = load_map.find(last);
    if (module == LoadMap::none) return; // unknown code: the path is partial
    // Threads begin in libc (clone); so does a main program whose _start has no unwind information.
    path.complete = path.size < RawPath::capacity && (at_start || load_map[module].is_libc);
    if (!path.complete) return;
    if (at_start && path.size > 1) --path.size;
    while (path.size > 1) {
        const std::uint32_t outer = load_map.find(path.addresses[path.size - 1]);
        if (outer == LoadMap::none || !(load_map[outer].is_libc || load_map[outer].is_libprofile)) break;
        --path.size;
    }
}

} // namespace libprofile
