// Operations of the application's own (MPI_Op_create), which MPI calls inside reductions: their time is the program's work, and no communication.
// Contract: any thread; takes no lock and never allocates. MPI gets a function of ours, which calls the application's with the same arguments.
#pragma once

#include "libprofile/events/mpi_events.hpp"

namespace libprofile {

/// The function that MPI gets instead: one for each of the application's functions. It is this itself if there are too many of them, which is counted, or
/// if it is of MPI's own language bindings. `event`: MPI_Op_create.
void* followed_operation(const MpiEvent& event, void* function) noexcept;

/// MPI_User_function*, or that of large counts.
template <class Function> Function* followed_operation(const MpiEvent& event, Function* function) noexcept {
    return reinterpret_cast<Function*>(followed_operation(event, reinterpret_cast<void*>(function)));
}

} // namespace libprofile
