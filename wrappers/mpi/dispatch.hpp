// Where the exported MPI functions lead: through slots that are filled at the first MPI call of the process.
// Contract: libprofile_mpi_resolve is called by the entry points (mpi_stubs.S) on any thread, also before the
// library's constructor has run; it takes the loader's lock and no other, never waits for another thread, and may
// make the loader allocate.
#pragma once

extern "C" {

/// Two jump targets per function id: of MPI_X at 2 * id, of PMPI_X at 2 * id + 1. They point to `unresolved_X` until
/// the MPI library has been found.
extern void* libprofile_mpi_slots[];

/// Returns where a call through `slot` that returns to `return_address` must go now. Fills all slots if the MPI library is
/// loaded. Without one, leads to the definition that the loader would have taken without us (a serial stub), if any.
void* libprofile_mpi_resolve(unsigned slot, const void* return_address) noexcept;
}
