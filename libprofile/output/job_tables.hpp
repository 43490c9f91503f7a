// The call paths of all ranks as one tree, stored once: all ranks agree on it when the job ends.
// Contract: all ranks together, between two operations of PolledCollectives. Never throws, never hangs: an operation that fails to complete costs
// the waiting time and the common file. Memory in pages of its own, limited like the quota (LIBPROFILE_MEMORY), while the object lives.
#pragma once

#include "libprofile/merge/table_reduction.hpp"
#include "libprofile/output/block_writer.hpp"
#include "libprofile/output/polled_collectives.hpp"
#include "libprofile/output/process_table.hpp"

#include <cstdint>

namespace libprofile {

class JobTables {
  public:
    JobTables() noexcept;
    ~JobTables();
    JobTables(const JobTables&) = delete;
    JobTables& operator=(const JobTables&) = delete;

    /// This rank's own part, which needs no other rank. Call it before unify().
    void collect() noexcept;
    /// Returns false if a collective operation failed, so that the ranks no longer act together.
    bool unify(PolledCollectives& job) noexcept;

    /// The rank whose NodeMap leads from this rank's nodes to the job's tree; no_rank if this rank keeps its own tables.
    std::uint32_t map_rank() const { return map_rank_; }
    /// Writes this rank's part: the job's tables (rank 0) and its own node map. Returns false if memory is short.
    bool write(BlockBuffer& buffer) const noexcept;
    /// Returns all memory. Nothing else may follow.
    void release() noexcept;

  private:
    bool compare_all(PolledCollectives& job, bool& equal, bool& possible) noexcept;
    std::uint32_t job_node(const Thread& thread, NodeId node) const noexcept;

    PageBudget budget_;
    PageArray<int> words_; // of PolledPairs
    ProcessTable process_;
    TableSignature layout_;
    bool ready_ = false;                  // this rank has a table to offer
    bool on_its_own_ = false;             // for want of memory, that table has none of this rank's call paths
    TableReduction* reduction_ = nullptr; // in storage_; nullptr if all ranks have the same table
    alignas(TableReduction) unsigned char storage_[sizeof(TableReduction)];
    const PathTable* job_table_ = nullptr; // in rank 0
    std::uint32_t map_rank_ = no_rank;
};

} // namespace libprofile
