// The profile of this process as blocks of the profile file (format/profile_file.hpp).
// Contract: after all locations are closed; one thread; memory from the buffer only. Each returns false when the buffer
// could not grow.
#pragma once

#include "format/profile_file.hpp"
#include "libprofile/output/byte_buffer.hpp"

#include <cstdint>

namespace libprofile {

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
};

/// File header, job and metric catalogue: what a file begins with. `ranks_in_file` and `flags` as in FileHeader.
bool write_file_start(ByteBuffer& buffer, std::uint64_t ranks_in_file, std::uint32_t flags) noexcept;

/// Everything of this process. `complete`: it reached MPI_Finalize.
bool write_rank(ByteBuffer& buffer, bool complete, RankSummary& summary) noexcept;

} // namespace libprofile
