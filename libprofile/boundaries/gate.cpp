// Compiled with -mgeneral-regs-only: the program's vector registers are not saved yet when stub.S calls this.
#include "libprofile/session/process_state.hpp"
#include "libprofile/session/thread.hpp"

/// Whether a pass of a place means anything now.
extern "C" [[gnu::visibility("hidden")]] bool libprofile_boundary_is_wanted() noexcept {
    using namespace libprofile;
    const SessionState state = process_state.session.load(std::memory_order_acquire);
    return (state == SessionState::Measuring || state == SessionState::Silent) && thread_local_block.in_tool == 0;
}
