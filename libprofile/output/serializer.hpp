// The profile of this process as blocks of the profile file (format/profile_file.hpp).
// Contract: after all locations are closed, or for a checkpoint while they run; one thread at a time; memory from the buffer only. Each returns false when the buffer
// could not grow.
#pragma once

#include "format/profile_file.hpp"
#include "libprofile/output/byte_buffer.hpp"

#include <cstdint>

namespace libprofile {

struct Thread;

/// What the exit line needs, besides the blocks.
struct RankSummary {
    const char* phase = "";       // the outermost phase with iterations that takes most of the time
    std::uint64_t iterations = 0; // of it
    std::uint64_t clusters = 0;
    std::uint64_t samples_taken = 0;
    std::uint64_t samples_lost = 0;
    std::uint64_t overhead_ns = 0;
    std::uint64_t wall_ns = 0;
    std::uint64_t repairs = 0;
    std::uint64_t quota_losses = 0;
    std::uint64_t paths_wrong = 0; // found by LIBPROFILE_MARKS=check
};

/// File header, job and metric catalogue: what a file begins with. `ranks_in_file` and `flags` as in FileHeader.
bool write_file_start(ByteBuffer& buffer, std::uint64_t ranks_in_file, std::uint32_t flags) noexcept;

/// A thread that goes on running after it has been written: the calling one, settled at `now` (PhaseStack::settle).
struct RunningThread {
    Thread* thread = nullptr;
    std::uint64_t now = 0;
};

/// Everything of this process. `complete`: it reached MPI_Finalize. With a `running` thread it is a checkpoint: of that thread
/// and those that have ended.
bool write_rank(ByteBuffer& buffer, bool complete, RankSummary& summary, RunningThread running = {}) noexcept;

} // namespace libprofile
