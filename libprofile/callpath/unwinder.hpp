// Call stacks through libunwind, loaded so that it cannot disturb the job: for code that recipes do not express (frame_walk.hpp), for
// stacks other than the thread's own, and for checks of the other ways.
//
// Contract: load() runs once per session, outside signal handlers. here() is for ordinary context (MPI calls), interrupted() for signal
// handlers. Both run with the in-tool flag set, so neither ever runs inside the other. They allocate nothing from the application's
// malloc.
//
// Why dlopen: libunwind.so.8 exports _Unwind_RaiseException and related functions. As a dependency of a preloaded library it would replace
// the exception unwinder of C, Fortran and Python programs. RTLD_LOCAL keeps its names to itself.
// Why two ways: unw_backtrace is 40 times faster than unw_step. But it keeps a cache in dynamic thread-local storage, whose first touch may
// call malloc, and it is not re-entrant (libunwind #425): fine in ordinary context, not in a handler. Nothing empties that cache, so it is left
// once something was unloaded.
// Why our own memory access: libunwind checks addresses by writing the byte to a pipe that it has opened. After the application has closed all
// descriptors and opened its own, that is another file (see stack_memory.hpp).
// While either runs, our dl_iterate_phdr answers libunwind from the load map, so they never wait for the loader's lock.
#pragma once

#include "libprofile/callpath/raw_path.hpp"

#include <cstdint>
#include <pthread.h>

namespace libprofile {

class Unwinder {
  public:
    /// Returns false if there is no libunwind. Then here() and interrupted() keep the frames that `path` has, or give the innermost one; it is partial.
    bool load() noexcept;
    bool available() const { return backtrace_ != nullptr; }
    /// Returns true while libunwind, on this thread, would open its pipe. That would take two files from a program that may open few. libunwind
    /// works without it and opens one later, if the application itself uses libunwind.
    bool refuses_pipe() const { return loading_ != 0 && pthread_equal(loading_, pthread_self()) != 0; }

    /// Returns true for code of the libunwind that load() has opened.
    bool holds(const void* address) const noexcept { return reinterpret_cast<std::uintptr_t>(address) - start_ < size_; }

    /// The raw call path of the function that returns to `return_address`, from that call site on, without slots.
    void here(void* return_address, RawPath& path) noexcept;
    /// The raw call path that a signal has interrupted. `context` is the handler's third argument.
    void interrupted(void* context, RawPath& path) noexcept;
    /// A module was unloaded: forgets what was learned about its addresses.
    void flush() noexcept;

    /// Returns true if `address` lies in the executable's first instructions, which call main.
    bool is_process_start(std::uintptr_t address) const noexcept {
        constexpr std::uintptr_t size = 64; // _start has about 40 bytes
        return address >= entry_ && address < entry_ + size;
    }

  private:
    int (*backtrace_)(void**, int) = nullptr;
    int (*init_)(void*, void*, int) = nullptr;
    int (*step_)(void*) = nullptr;
    int (*is_signal_frame_)(void*) = nullptr;
    int (*get_register_)(void*, int, std::uintptr_t*) = nullptr;
    void (*flush_)(void*, std::uintptr_t, std::uintptr_t) = nullptr;
    void** address_space_ = nullptr;
    static void keep(RawPath& path, std::uintptr_t innermost) noexcept;
    void step_from_here(std::uintptr_t site, RawPath& path) noexcept;
    void recognise_root(RawPath& path) const noexcept;

    std::uintptr_t entry_ = 0; // _start of the executable
    std::uintptr_t start_ = 0; // of libunwind
    std::uintptr_t size_ = 0;
    pthread_t loading_ = 0;
};
extern Unwinder unwinder;

} // namespace libprofile
