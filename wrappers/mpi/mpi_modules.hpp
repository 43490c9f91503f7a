// Which loaded module is the MPI library, and which addresses belong to it.
// Contract: is_mpi_library_address takes no lock and does not allocate; any thread, also from a signal
// handler. The rest is for the dispatcher: find_mpi_library takes the loader's lock.
#pragma once

namespace libprofile {

/// True for addresses in the MPI library and in its plugins and companions (its run-time environment, its
/// network libraries); false for language bindings (Fortran, C++, Java): calls through those are the
/// application's. Meant for return addresses, whose module cannot be unloaded meanwhile. Valid after the
/// first MPI call.
bool is_mpi_library_address(const void* address);

/// Finds the MPI library that the program uses: of several the one that was loaded first, since the loader
/// would have bound the program to that. Returns a handle for dlsym, never closed; nullptr: none is loaded.
void* find_mpi_library();

} // namespace libprofile
