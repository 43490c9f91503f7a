// Writing the profile at the end of the job.
// Contract: called once by the thread that ends the job, after all locations are closed; never from a handler. Uses
// system calls and its own pages; the only place where libprofile communicates. Never throws, never ends the job.
#pragma once

namespace libprofile {

/// Rank 0, after MPI_Init: makes the output folder, so that an unwritable one is known at the start of a long job.
void prepare_output_folder() noexcept;

/// All ranks at MPI_Finalize: one file. A rank that does not arrive within LIBPROFILE_FINALIZE_TIMEOUT costs the others
/// nothing but the common file: then each writes alone.
void write_together() noexcept;

/// One file for this process. `in_mpi_job`: it is a rank of an MPI job that could not write together.
void write_alone(bool in_mpi_job) noexcept;

} // namespace libprofile
