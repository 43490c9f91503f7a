// Writes the profile at the end of the job.
// Contract: called once by the thread that ends the job, after all locations are closed; never from a handler. Uses system calls and its own
// pages. Only here does libprofile communicate. Never throws, never ends the job.
#pragma once

#include "libprofile/base/process.hpp"

namespace libprofile {

/// Rank 0, after MPI_Init: makes the output folder, so that an unwritable one is reported at the start of a long job.
void prepare_output_folder() noexcept;

/// All ranks at MPI_Finalize: writes one file. `ended_at`: since then the time is that of the end (RankRecord::writing_ns). A rank that does not
/// arrive within LIBPROFILE_FINALIZE_TIMEOUT costs the others only the common file: then each writes alone.
void write_together(std::uint64_t ended_at) noexcept;

/// Writes one file for this process. With Output::Together it is a rank of a job that could not write together.
void write_alone(Output intended, std::uint64_t ended_at) noexcept;

} // namespace libprofile
