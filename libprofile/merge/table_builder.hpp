// Call paths in any order -> a table in canonical order (path_table.hpp).
// Contract: one thread; never throws; memory from the budget, false when that ran out.
#pragma once

#include "libprofile/merge/path_table.hpp"

namespace libprofile {

/// Call paths to be sorted, several trees with one root. The same path may come more than once.
class TableBuilder {
  public:
    explicit TableBuilder(PageBudget& budget) : budget_(&budget), nodes_(budget), numbers_(budget) {}

    /// The numbers that the nodes of the next tree begin at, less 1: its node n will be node `base + n`.
    std::uint32_t base() const { return nodes_.is_empty() ? 0 : static_cast<std::uint32_t>(nodes_.size() - 1); }
    bool reserve(std::size_t nodes) noexcept { return nodes_.reserve(nodes + 1); }
    /// The next node. `parent`: 0, or the number of an earlier one. `target`: position in the table's modules or functions, else 0.
    bool add(std::uint32_t parent, NodeKind kind, std::uint32_t target, std::uint64_t b) noexcept;

    /// Fills a table that has its modules and functions, and no nodes. The builder's nodes are used up.
    bool build(PathTable& table) noexcept;
    /// After build(): the number in the table of a node.
    std::uint32_t number_of(std::uint32_t node) const { return numbers_[node]; }

  private:
    PageBudget* budget_;
    PageArray<TableNode> nodes_;
    PageArray<std::uint32_t> numbers_;
};

} // namespace libprofile
