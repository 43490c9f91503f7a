// The profile of this process as blocks of the profile file (format/profile_file.hpp).
// Contract: after all locations are closed, or for a checkpoint while they run; one thread at a time; memory from the buffer only. Functions return
// false if the buffer could not grow; everything written until then is complete.
#pragma once

#include "libprofile/output/block_writer.hpp"
#include "libprofile/output/rank_block.hpp"
#include "libprofile/output/written_locations.hpp"

#include <cstdint>

namespace libprofile {

/// Writes modules, functions and the call-path tree of every location, with the numbers of this process.
bool write_own_tables(BlockBuffer& buffer, RunningThread running) noexcept;

/// Writes the record of every location. `map_rank`: the rank whose NodeMap blocks, one per thread, lead from this process's nodes to the job's
/// tree; no_rank if the nodes are in the tables of this process.
bool write_locations(BlockBuffer& buffer, bool complete, std::uint32_t map_rank, RunningThread running) noexcept;

/// Writes the phases, series and traces of all locations.
bool write_measurements(BlockBuffer& buffer, RunningThread running) noexcept;

/// The buffer's size and the time when a rank began to write.
struct WritingCost {
    std::uint64_t bytes_before = 0;
    std::uint64_t began_at = 0;
};

/// Writes the Rank block. It comes last, because it contains the cost of the others.
bool write_rank_record(BlockBuffer& buffer, RankRecord& record, WritingCost cost) noexcept;

/// Writes everything of this process, with its own tables. `complete`: it reached MPI_Finalize. With a `running` thread it is a checkpoint: of that
/// thread and those that have ended. `began_at`: of this work, or the end of the measurement before it.
bool write_rank(BlockBuffer& buffer, bool complete, std::uint64_t began_at, RankSummary& summary, RunningThread running = {}) noexcept;

} // namespace libprofile
