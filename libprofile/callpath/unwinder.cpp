#include "libprofile/callpath/unwinder.hpp"

#include "libprofile/base/load_epoch.hpp"
#include "libprofile/base/loaded_objects.hpp"
#include "libprofile/callpath/arch/machine.hpp"
#include "libprofile/callpath/load_map.hpp"
#include "libprofile/callpath/stack_memory.hpp"
#include "libprofile/callpath/thread_block.hpp"

#define UNW_LOCAL_ONLY
#include <dlfcn.h>
#include <libunwind.h>
#include <sys/auxv.h>
#include <ucontext.h>

namespace libprofile {

constinit Unwinder unwinder;

namespace {

// libunwind's functions have the architecture in their names.
#define TEXT(name) #name
#define NAME(name) TEXT(name)

template <class F> bool find(void* library, F& pointer, const char* name) {
    pointer = reinterpret_cast<F>(dlsym(library, name));
    return pointer != nullptr;
}

int (*original_access)(unw_addr_space_t, unw_word_t, unw_word_t*, int, void*) = nullptr;

/// Replaces libunwind's own access to memory while we unwind. The application's use of libunwind is not changed.
int access_memory(unw_addr_space_t space, unw_word_t address, unw_word_t* value, int write, void* argument) {
    if (thread_local_block.in_tool == 0 || write != 0) return original_access(space, address, value, write, argument);
    return read_stack_word(address, value) ? 0 : -UNW_EUNSPEC;
}

/// Returns true if what unw_backtrace() remembers of this thread's earlier calls may be about modules that are gone.
bool is_trace_stale() {
    const std::uint32_t epoch = load_epoch();
    if (thread_local_block.traced_since == 0) thread_local_block.traced_since = epoch_to_keep(epoch);
    return thread_local_block.traced_since != epoch;
}

} // namespace

bool Unwinder::load() noexcept {
    entry_ = getauxval(AT_ENTRY);
    void* library = dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return false;
    int (*trace)(void**, int) = nullptr;
    const bool found = find(library, trace, "unw_backtrace") && find(library, init_, NAME(UNW_OBJ(init_local2))) && find(library, step_, NAME(UNW_OBJ(step))) &&
                       find(library, get_register_, NAME(UNW_OBJ(get_reg))) && find(library, flush_, NAME(UNW_ARCH_OBJ(flush_cache))) &&
                       find(library, is_signal_frame_, NAME(UNW_OBJ(is_signal_frame))) && find(library, address_space_, NAME(UNW_OBJ(local_addr_space)));
    unw_accessors_t* (*accessors)(void*) = nullptr;
    if (!found || !find(library, accessors, NAME(UNW_ARCH_OBJ(get_accessors)))) return false;
    loading_ = pthread_self();
    unw_accessors_t* local = accessors(*address_space_);
    loading_ = 0;
    if (local->access_mem != access_memory) {
        original_access = local->access_mem;
        local->access_mem = access_memory;
    }
    LoadedObject own;
    if (find_loaded_object(reinterpret_cast<std::uintptr_t>(trace), own)) start_ = own.start, size_ = own.end - own.start;
    backtrace_ = trace;
    return true;
}

void Unwinder::flush() noexcept {
    if (flush_ != nullptr) flush_(*address_space_, 0, 0);
}

void Unwinder::here(void* return_address, RawPath& path) noexcept {
    const auto site = reinterpret_cast<std::uintptr_t>(return_address);
    if (!available()) return keep(path, site - 1);
    if (is_trace_stale()) return step_from_here(site, path);
    path.clear();
    static_assert(sizeof(void*) == sizeof(std::uintptr_t));
    const int count = backtrace_(reinterpret_cast<void**>(path.slots), RawPath::capacity);
    int first = 0;
    // Our own frames come first. libunwind 1.3 gives the end of the call instead of where it returns to.
    const auto is_at = [&](std::uintptr_t address) { return code_address(path.slots[first]) == address; };
    while (first < count && !is_at(site) && !is_at(site - 1)) ++first;
    const std::uintptr_t back = first < count && is_at(site) ? 1 : 0;
    for (int i = first; i < count; ++i) path.addresses[path.size++] = code_address(path.slots[i]) - back;
    for (std::size_t i = 0; i < path.size; ++i) path.slots[i] = path.flags[i] = 0;
    if (path.size != 0) return recognise_root(path);
    path.push(site - 1, 0);
}

void Unwinder::step_from_here(std::uintptr_t site, RawPath& path) noexcept {
    ucontext_t context;
    if (getcontext(&context) != 0) return keep(path, site - 1);
    interrupted(&context, path);
    std::size_t first = 0; // our own frames come first
    while (first < path.size && path.addresses[first] != site - 1) ++first;
    if (first == path.size) {
        path.clear();
        path.push(site - 1, 0);
        return;
    }
    path.size -= first;
    for (std::size_t i = 0; i < path.size; ++i) {
        path.addresses[i] = path.addresses[first + i];
        path.slots[i] = path.flags[i] = 0;
    }
}

/// The path that our own walk has found so far.
void Unwinder::keep(RawPath& path, std::uintptr_t innermost) noexcept {
    if (path.size == 0) path.push(innermost, 0);
    path.end = PathEnd::Lost;
}

void Unwinder::interrupted(void* context, RawPath& path) noexcept {
    auto* machine = static_cast<ucontext_t*>(context);
    if (!available()) return keep(path, registers_of(machine).instruction);
    if (!is_settled(load_epoch())) flush(); // what lies at an address may be another module's already
    path.clear();
    unw_cursor_t cursor;
    std::uintptr_t stack = 0;
    bool interrupted = true;      // a signal, not a call, left the frame
    bool was_interrupted = false; // the one inside
    const bool begun = init_(&cursor, machine, UNW_INIT_SIGNAL_FRAME) >= 0;
    while (begun) {
        std::uintptr_t address = 0;
        std::uintptr_t pointer = 0;
        if (get_register_(&cursor, UNW_REG_IP, &address) < 0 || get_register_(&cursor, UNW_REG_SP, &pointer) < 0) break;
        const std::uintptr_t least = was_interrupted && !has_fixed_return_slot ? stack : stack + 1; // a function that saves nothing has no frame
        if (address == 0 || (path.size != 0 && pointer < least)) break;                             // the stack must grow towards its base
        stack = pointer;
        if (!(interrupted ? path.push(address, 0) : path.push(code_address(address) - 1, slot_below(pointer)))) break;
        if (step_(&cursor) <= 0) break;
        was_interrupted = interrupted;
        interrupted = is_signal_frame_(&cursor) > 0; // the step crossed a signal frame
        path.crossed_signal = path.crossed_signal || interrupted;
    }
    if (path.size == 0) path.push(registers_of(machine).instruction, 0);
    recognise_root(path);
}

/// Threads begin in libc (clone). So does a main program whose _start has no unwind information.
void Unwinder::recognise_root(RawPath& path) const noexcept {
    const std::uintptr_t last = path.addresses[path.size - 1];
    const std::uint32_t module = load_map.find(last);
    const bool is_root = is_process_start(last) || (module != LoadMap::none && load_map[module].is_libc);
    if (is_root && path.size < RawPath::capacity) path.end = PathEnd::Root;
}

} // namespace libprofile
