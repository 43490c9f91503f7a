// Call stacks through libunwind, brought in so that it cannot disturb the job: for what recipes do not express
// (frame_walk.hpp), for stacks other than the thread's own, and to check the other ways against.
//
// Contract: load() once per session, outside signal handlers. here() is for ordinary context (MPI calls), interrupted()
// for signal handlers; both run with the in-tool flag set, so that neither ever runs inside the other. They allocate
// nothing from the application's malloc.
//
// Why dlopen: libunwind.so.8 exports _Unwind_RaiseException and friends; as a dependency of a preloaded library it would
// replace the exception unwinder of C, Fortran and Python programs. RTLD_LOCAL keeps its names to itself.
// Why two ways: unw_backtrace is 40 times faster than unw_step, but keeps a cache in dynamic thread-local storage, whose
// first touch may call malloc, and which is not re-entrant (libunwind #425): fine in ordinary context, not in a handler.
// Why our own memory access: libunwind checks addresses by writing the byte through a pipe it has opened, which is some
// other file once the application has closed all descriptors and opened its own (see stack_memory.hpp).
// While either runs, our dl_iterate_phdr answers from the load map, so the loader's lock is never waited for.
#pragma once

#include "libprofile/callpath/raw_path.hpp"

#include <cstdint>
#include <pthread.h>

namespace libprofile {

class Unwinder {
  public:
    /// False: libunwind is not there; then here() gives the call site only and interrupted() the instruction only.
    bool load() noexcept;
    bool available() const { return backtrace_ != nullptr; }
    /// libunwind opens its pipe just now, on this thread: it would take two files from a program that may open few. It does without until
    /// the application itself uses libunwind, and then opens one.
    bool refuses_pipe() const { return loading_ != 0 && pthread_equal(loading_, pthread_self()) != 0; }

    /// The raw call path of the function that returns to `return_address`, beginning with that call site; without slots.
    void here(void* return_address, RawPath& path) noexcept;
    /// The raw call path interrupted by a signal; `context` is the handler's third argument.
    void interrupted(void* context, RawPath& path) noexcept;
    /// A module was unloaded: forget what was learned about its addresses.
    void flush() noexcept;

    /// `address` lies in the executable's first instructions, which call main.
    bool is_process_start(std::uintptr_t address) const noexcept {
        constexpr std::uintptr_t size = 64; // _start is some 40 bytes long
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
    void recognise_root(RawPath& path) const noexcept;

    std::uintptr_t entry_ = 0; // _start of the executable
    pthread_t loading_ = 0;
};
extern Unwinder unwinder;

} // namespace libprofile
