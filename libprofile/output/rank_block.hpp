// What is known of this process as a whole.
// Contract: by the thread that writes, after all locations are closed or for a checkpoint.
#pragma once

#include "format/profile_file.hpp"
#include "libprofile/output/written_locations.hpp"

#include <cstdint>

namespace libprofile {

/// What the exit line needs, besides the blocks.
struct RankSummary {
    const char* phase = "";       // the outermost phase with iterations that takes most of the time
    std::uint64_t iterations = 0; // of it
    std::uint64_t clusters = 0;
    std::uint64_t samples_taken = 0;
    std::uint64_t samples_lost = 0;
    std::uint64_t samples_inside = 0; // of those taken: in libprofile itself
    std::uint64_t overhead_ns = 0;
    std::uint64_t wall_ns = 0;
    std::uint64_t repairs = 0;
    std::uint64_t quota_losses = 0;
    std::uint64_t paths_wrong = 0; // found by LIBPROFILE_MARKS=check
    std::uint64_t memory_peak = 0; // of the quota and of the live file in memory
};

/// Fills the summary and the record, but for what is known only when all else is written.
RankRecord describe_rank(bool complete, RankSummary& summary, RunningThread running) noexcept;

} // namespace libprofile
