// The call paths of all locations of this process as one table.
// Contract: by the thread that ends the job, after all locations are closed; never throws; memory from the budget.
#pragma once

#include "libprofile/callpath/call_tree.hpp"
#include "libprofile/merge/table_builder.hpp"

namespace libprofile {

struct Thread;

class ProcessTable {
  public:
    explicit ProcessTable(PageBudget& budget) : budget_(&budget), table_(budget), builder_(budget), bases_(budget) {}

    /// False: no memory, and there is no table.
    bool build() noexcept;
    /// Empty again, with its memory given back.
    void forget() noexcept {
        table_.release();
        builder_ = TableBuilder(*budget_);
        bases_.release();
    }
    PathTable& table() { return table_; }
    /// Equal in two processes when all their nodes have the same numbers in equal tables.
    TableSignature layout() const { return layout_; }
    /// Where a node of a thread is in the table.
    std::uint32_t number_of(const Thread& thread, NodeId node) const noexcept;

  private:
    bool add_nodes(const Thread& thread) noexcept;

    PageBudget* budget_;
    PathTable table_;
    TableBuilder builder_;
    PageArray<std::uint32_t> bases_;              // by thread
    PageArray<std::uint32_t>* modules_ = nullptr; // while it is built: positions in the table, by number in the process
    PageArray<std::uint32_t>* functions_ = nullptr;
    TableSignature layout_;
};

} // namespace libprofile
