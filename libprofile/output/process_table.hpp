// The call paths of all locations of this process as one table.
// Contract: used by the thread that ends the job, after all locations are closed; never throws; memory from the budget.
#pragma once

#include "libprofile/callpath/call_tree.hpp"
#include "libprofile/merge/table_builder.hpp"

namespace libprofile {

struct Thread;

class ProcessTable {
  public:
    explicit ProcessTable(PageBudget& budget) : budget_(&budget), table_(budget), builder_(budget), bases_(budget) {}

    /// Returns false, and leaves no table, if memory is short.
    bool build() noexcept;
    /// Empties the table and returns its memory.
    void forget() noexcept {
        table_.release();
        builder_ = TableBuilder(*budget_);
        bases_.release();
    }
    PathTable& table() { return table_; }
    /// Equal in two processes if all their nodes have the same numbers in equal tables.
    TableSignature layout() const { return layout_; }
    /// The number in the table of a thread's node.
    std::uint32_t number_of(const Thread& thread, NodeId node) const noexcept;

  private:
    bool add_nodes(const Thread& thread) noexcept;

    PageBudget* budget_;
    PathTable table_;
    TableBuilder builder_;
    PageArray<std::uint32_t> bases_;              // by thread
    PageArray<std::uint32_t>* modules_ = nullptr; // during build(): indexes in the table, by number in the process
    PageArray<std::uint32_t>* functions_ = nullptr;
    TableSignature layout_;
};

} // namespace libprofile
