// What the signal handler may know of the MPI call it has interrupted.
// Contract: async-signal-safe; called with the in-tool flag set.
#pragma once

#include "libprofile/session/mpi_events.hpp"
#include "libprofile/session/thread.hpp"

namespace libprofile {

struct MpiEventState {
    /// The row of the innermost counted MPI call that is running, or nullptr outside MPI.
    static Row* row_of_innermost(const Thread& thread) noexcept;
    /// Takes `ns` spent in libprofile out of the running MPI call's exclusive time.
    static void exclude_from_innermost(Thread& thread, std::uint64_t ns) noexcept;
};

} // namespace libprofile
