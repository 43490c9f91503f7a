// Other tools in the process that wrap MPI functions: libraries between us and the MPI library in the loader's order.
// Contract: next_function is for the dispatcher (asks the loader, may make it allocate), after find_mpi_library; any
// thread. is_address takes no lock and does not allocate; any thread, also from a signal handler.
//
// Tools before us in that order need no care: their PMPI_X is ours. There are three kinds of tools after us:
//   - it defines MPI_X and calls PMPI_X, as MPI's profiling interface has it: the application's MPI_X is handed to it;
//   - it also defines PMPI_X and hands on to the next definition: our wrapper calls it in place of the MPI library;
//   - it defines MPI_X only and looks up what it calls: that comes after both of us, so we do not see such calls.
#pragma once

namespace libprofile::other_tools {

/// The next definition of an MPI or PMPI function after ours, if another tool made it; else nullptr.
void* next_function(const char* name);

/// Path of a tool of the third kind among those met so far, or nullptr.
const char* bypassing_tool();

} // namespace libprofile::other_tools
