// Which loaded module is the MPI library, and which addresses belong to it.
// Contract: module_of, is_main_mpi_library and is_mpi_library_address take no lock and do not allocate; any thread, also from
// a signal handler. The rest is for the dispatcher: find_mpi_library takes the loader's lock.
#pragma once

struct link_map;

namespace libprofile {

/// The module that an address lies in, or nullptr.
const link_map* module_of(const void* address);

/// The one that find_mpi_library chose.
bool is_main_mpi_library(const link_map* module);

/// True for addresses in the MPI library and in its plugins and companions (its run-time environment, its
/// network libraries); false for language bindings (Fortran, C++, Java): calls through those are the
/// application's. Meant for return addresses, whose module cannot be unloaded meanwhile. Valid after the
/// first MPI call.
bool is_mpi_library_address(const void* address);

/// Finds the MPI library that the program uses: of several the one to which the loader would have bound the program without us, or
/// among those that plug-ins loaded for themselves the first. Returns a handle for dlsym, never closed, or nullptr if none is loaded.
void* find_mpi_library();

} // namespace libprofile
