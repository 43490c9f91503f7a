// The call paths of all ranks as one tree, stored once: who agrees on it and how, when the job ends.
// Contract: all ranks together, between two operations of PolledCollectives; never throws, never hangs: what does not come in time costs the
// waiting time and the common file. Memory in pages of its own, limited like the quota (LIBPROFILE_MEMORY), for as long as the object lives.
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

    /// This rank's own part, which needs no others. Before unify().
    void collect() noexcept;
    /// False: a collective operation failed, so the ranks no longer act together.
    bool unify(PolledCollectives& job) noexcept;

    /// Whose NodeMap leads from this rank's nodes to the job's tree; no_rank: it keeps its own tables.
    std::uint32_t map_rank() const { return map_rank_; }
    /// What this rank has to write of it: the job's tables (rank 0) and its own node map. False: no memory.
    bool write(BlockBuffer& buffer) const noexcept;
    /// Gives all memory back; nothing else can follow.
    void release() noexcept;

  private:
    bool compare_all(PolledCollectives& job, bool& equal, bool& possible) noexcept;
    std::uint32_t job_node(const Thread& thread, NodeId node) const noexcept;

    PageBudget budget_;
    PageArray<int> words_; // of PolledPairs
    ProcessTable process_;
    TableSignature layout_;
    bool ready_ = false;                  // there is a table to offer
    bool on_its_own_ = false;             // it has none of this rank's call paths, for want of memory
    TableReduction* reduction_ = nullptr; // in place_; none when all ranks have the same table
    alignas(TableReduction) unsigned char place_[sizeof(TableReduction)];
    const PathTable* job_table_ = nullptr; // rank 0
    std::uint32_t map_rank_ = no_rank;
};

} // namespace libprofile
