// Builds a table in canonical order (path_table.hpp) from call paths in any order.
// Contract: one thread; never throws. Memory comes from the budget; functions return false when that runs out.
#pragma once

#include "libprofile/merge/path_table.hpp"

namespace libprofile {

/// Call paths to be sorted: several trees with one root. The same path may occur more than once.
class TableBuilder {
  public:
    explicit TableBuilder(PageBudget& budget) : budget_(&budget), nodes_(budget), numbers_(budget) {}

    /// Node n of the next tree will be node `base() + n`.
    std::uint32_t base() const { return nodes_.is_empty() ? 0 : static_cast<std::uint32_t>(nodes_.size() - 1); }
    bool reserve(std::size_t nodes) noexcept { return nodes_.reserve(nodes + 1); }
    /// Adds a node. `parent`: 0, or the number of an earlier one. `target`: index in the table's modules or functions, else 0.
    bool add(std::uint32_t parent, NodeKind kind, std::uint32_t target, std::uint64_t b) noexcept;

    /// Fills a table that has its modules and functions, but no nodes. Uses up the builder's nodes.
    bool build(PathTable& table) noexcept;
    /// After build(): the number of a node in the table.
    std::uint32_t number_of(std::uint32_t node) const { return numbers_[node]; }

  private:
    PageBudget* budget_;
    PageArray<TableNode> nodes_;
    PageArray<std::uint32_t> numbers_;
};

} // namespace libprofile
