// References of loaded modules to MPI functions that the MPI library lacks. Without us the loader would have left those that are weak null, and programs
// look before they call (mpi4py); with us they lead to a stub that has nothing to call.
// Contract: any thread; takes the loader's lock; not in handlers. A module that comes later is seen at its second MPI call.
#pragma once

#include <cstdint>

namespace libprofile {

/// Makes weak references to functions of ours null. For the dispatcher, when it has found the library.
/// @param is_missing whether neither the library nor a tool has the function "MPI_X" or "PMPI_X"; must not ask the loader, whose lock is held
void clear_weak_references(bool (*is_missing)(const char* name)) noexcept;
/// The same again, once for each number of modules that were loaded so far, whichever thread calls. Nothing before the first.
void clear_new_weak_references(std::uint32_t arrivals) noexcept;

} // namespace libprofile
