// Compiled with -mgeneral-regs-only: the program's vector registers are not saved yet when code/arch/x86_64/patch_stub.S and sled_stub.S call this.
#include "libprofile/base/process_state.hpp"
#include "libprofile/regions/sleds.hpp"
#include "libprofile/regions/visits_inside.hpp"
#include "libprofile/thread/thread.hpp"

/// Whether a pass of an iteration point counts now.
extern "C" [[gnu::visibility("hidden")]] bool libprofile_iteration_is_wanted() noexcept {
    using namespace libprofile;
    const SessionState state = process_state.session.load(std::memory_order_acquire);
    if (state != SessionState::Measuring && state != SessionState::Silent) return false;
    // A handler of the application may have left us by siglongjmp: then the frame that set the flag is gone. What is called next looks closely.
    return thread_local_block.in_tool == 0 || thread_local_block.tool_frame < reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
}

/// The same for a sled. An entry is lost if the thread is inside libprofile.
extern "C" [[gnu::visibility("hidden")]] bool libprofile_sled_is_wanted(int kind) noexcept {
    using namespace libprofile;
    if (libprofile_iteration_is_wanted()) [[likely]]
        return true;
    const bool is_recording = process_state.session.load(std::memory_order_relaxed) == SessionState::Measuring;
    if (is_recording && kind == static_cast<int>(SledKind::Entry)) count_visit_inside();
    return false;
}
