// The record of this process as a whole.
// Contract: used by the thread that writes, after all locations are closed or for a checkpoint.
#pragma once

#include "format/profile_file.hpp"
#include "libprofile/output/written_locations.hpp"

#include <cstdint>

namespace libprofile {

/// The data of the exit line that are not in the blocks.
struct RankSummary {
    const char* phase = "";       // the most expensive outermost phase with iterations
    std::uint64_t iterations = 0; // of that phase
    std::uint64_t clusters = 0;
    std::uint64_t samples_taken = 0;
    std::uint64_t samples_lost = 0;
    std::uint64_t samples_inside = 0; // samples inside libprofile, of those taken
    std::uint64_t overhead_ns = 0;
    std::uint64_t wall_ns = 0;
    std::uint64_t repairs = 0;
    std::uint64_t quota_losses = 0;
    std::uint64_t paths_wrong = 0; // as found by LIBPROFILE_MARKS=check
    std::uint64_t memory_peak = 0; // of the quota and of the live file in memory
    std::uint64_t sampled_ns = 0;  // that the samples stand for, those that were lost included
    std::uint64_t partly_seen = 0; // ranks that did what is not calibrated (format/own_share.hpp)

    /// The end of the measurement is libprofile's own time, too.
    void add_end(std::uint64_t ns) {
        overhead_ns += ns;
        wall_ns += ns;
    }
};

/// Fills the summary and the record, except what is known only after all else was written.
RankRecord describe_rank(bool complete, RankSummary& summary, RunningThread running) noexcept;

} // namespace libprofile
