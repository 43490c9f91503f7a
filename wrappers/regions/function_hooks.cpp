// The hooks of -finstrument-functions: every instrumented function calls the first at its entry and the second before it returns. And what
// the sleds of -fxray-instrument lead to (sleds.hpp), which does the same.
//
// glibc has both as empty functions, so that instrumented programs run without us. Ours stand before them, without a version,
// since the programs ask for glibc's (wrappers/exports.map).
//
// Contract: any thread, before our constructor, after MPI_Finalize, in signal handlers of the application; never fail, never
// touch errno or floating point. What costs little is done first: a process that is not measured, a function that is excluded.
#include "libprofile/base/process.hpp"
#include "libprofile/callpath/arch/machine.hpp"
#include "libprofile/regions/function_filter.hpp"
#include "libprofile/regions/regions.hpp"
#include "libprofile/regions/sleds.hpp"
#include "libprofile/regions/visits_inside.hpp"
#include "libprofile/session/session.hpp"
#include "libprofile/thread/recording.hpp"

#include <cerrno>

namespace libprofile {

namespace {

/// In programs that are instrumented, but not measured yet. An instrumented program is meant to be: like one with markers.
[[gnu::cold, gnu::noinline]] void begin_to_measure() noexcept {
    const int saved = errno;
    session.marker_used();
    errno = saved;
}

/// Recording is off: what is open may end.
[[gnu::cold, gnu::noinline]] void exit_unrecorded(std::uintptr_t function, std::uintptr_t stack) noexcept {
    if (process.state() != SessionState::Silent) return;
    const InTool guard;
    Thread* thread = thread_local_block.thread;
    if (guard.is_nested() || thread == nullptr || thread->finished || thread->regions == nullptr) return;
    thread->regions->exit_function(*thread, function, stack);
}

/// Returns the calling thread when it has no regions yet or does not record at the moment; nullptr if nothing is to be booked.
[[gnu::cold, gnu::noinline]] Thread* thread_with_regions() noexcept {
    const int saved = errno;
    Thread* thread = recording_thread();
    errno = saved;
    return thread == nullptr || (thread->regions == nullptr && Regions::create(*thread) == nullptr) ? nullptr : thread;
}

inline bool is_ready(const Thread* thread) noexcept { return thread != nullptr && !thread->is_silent() && thread->regions != nullptr; }

} // namespace

} // namespace libprofile

extern "C" [[gnu::visibility("default"), gnu::hot]] void __cyg_profile_func_enter(void* function, void*) noexcept {
    using namespace libprofile;
    if (!process.recording()) [[unlikely]] {
        if (process.state() != SessionState::Idle) return;
        begin_to_measure();
        if (!process.recording()) return;
    }
    const auto address = reinterpret_cast<std::uintptr_t>(function);
    if (function_filter.excludes(address)) return;
    const auto frame = reinterpret_cast<std::uintptr_t>(LIBPROFILE_OWN_FRAME);
    const InTool guard;
    if (guard.is_nested()) [[unlikely]]
        return count_visit_inside(); // a handler of the application has interrupted us
    Thread* thread = thread_local_block.thread;
    if (!is_ready(thread)) [[unlikely]] {
        thread = thread_with_regions();
        if (thread == nullptr) return;
    }
    if (thread->call_depth != 0) [[unlikely]]
        thread->drop_ended_calls(frame);
    thread->regions->enter_function(*thread, address, frame, stack_of_caller(frame));
}

extern "C" [[gnu::visibility("default"), gnu::hot]] void __cyg_profile_func_exit(void* function, void*) noexcept {
    using namespace libprofile;
    const auto address = reinterpret_cast<std::uintptr_t>(function);
    const auto stack = reinterpret_cast<std::uintptr_t>(LIBPROFILE_STACK_OF_CALLER);
    if (!process.recording()) [[unlikely]]
        return exit_unrecorded(address, stack);
    if (function_filter.excludes(address)) return;
    const InTool guard;
    if (guard.is_nested()) [[unlikely]]
        return;
    Thread* thread = thread_local_block.thread;
    if (!is_ready(thread)) [[unlikely]] {
        thread = thread_with_regions();
        if (thread == nullptr) return;
    }
    thread->regions->exit_function(*thread, address, stack);
}

// Called by sled_stub.S, when libprofile_sled_is_wanted() has said so. `frame` is like that of a function that was called by the
// instrumented one (entry, jump) or by its caller (return).
extern "C" [[gnu::visibility("hidden"), gnu::hot]] void libprofile_sled_passed(std::uintptr_t function, std::uintptr_t frame, int kind) noexcept {
    using namespace libprofile;
    const bool is_entry = kind == static_cast<int>(SledKind::Entry);
    // Where the function's return address lies.
    const std::uintptr_t stack = frame + (kind == static_cast<int>(SledKind::Return) ? 8 : 16);
    if (!process.recording()) [[unlikely]] {
        if (!is_entry) exit_unrecorded(function, stack);
        return;
    }
    const InTool guard;
    if (guard.is_nested()) [[unlikely]] { // the gate has seen most of them, but not those on an alternate stack
        if (is_entry) count_visit_inside();
        return;
    }
    Thread* thread = thread_local_block.thread;
    if (!is_ready(thread)) [[unlikely]] {
        thread = thread_with_regions();
        if (thread == nullptr) return;
    }
    if (!is_entry) return thread->regions->exit_exactly(*thread, function, stack);
    if (thread->call_depth != 0) [[unlikely]]
        thread->drop_ended_calls(frame);
    thread->regions->enter_exactly(*thread, function, frame, stack);
}
