// Writing the profile at the end of the job.
// Contract: called once by the thread that ends the job, after all locations are closed; never from a handler. Uses
// system calls and its own pages; the only place where libprofile communicates. Never throws, never ends the job.
#pragma once

#include "libprofile/base/process.hpp"

namespace libprofile {

/// Rank 0, after MPI_Init: makes the output folder, so that an unwritable one is known at the start of a long job.
void prepare_output_folder(Output output) noexcept;

/// All ranks at MPI_Finalize: one file. A rank that does not arrive within LIBPROFILE_FINALIZE_TIMEOUT costs the others
/// nothing but the common file: then each writes alone.
void write_together() noexcept;

/// One file for this process. Together: it is a rank of a job that could not write together.
void write_alone(Output intended) noexcept;

} // namespace libprofile
