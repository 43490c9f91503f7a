// The call tree from below: each function, merged over its call paths, with its callers, and with theirs.
// Contract: one thread; keeps references to the tree and its values; allocates what was asked for; throws std::bad_alloc only.
//
// A row stands for the nodes of the tree that are calls of one function by one chain of callers. Its own value is the sum of theirs: the
// sums over all functions are those of the tree, and each of its nodes is in one row of each level. Its inclusive value counts only the
// outermost of them, so that a recursive function has its time once.
// Source: Adhianto et al., HPCToolkit (Concurrency and Computation 22, 2010), section 5.1: the callers view and its exposed instances.
#pragma once

#include "tools/analysis/selected_tree.hpp"

#include <cstdint>
#include <vector>

namespace libprofile::tools {

class BottomUp {
  public:
    /// A row of this level is none's caller.
    static constexpr std::uint32_t none = 0xffffffffu;

    struct Row {
        std::uint32_t called = none;          // the row that it calls; none: a function, with any callers
        std::uint32_t depth = 0;              // how many rows it is away from the function
        std::uint32_t node = 0;               // of the tree: one with its name, the one with most of the function's value
        std::vector<SelectedValue> own;       // by metric of the values
        std::vector<SelectedValue> inclusive; // the same
    };

    /// Makes the rows of the functions that have some value, those with most of their own first.
    BottomUp(const FunctionTree& tree, const SelectedTree& values);

    const std::vector<Row>& rows() const { return rows_; }
    std::size_t functions() const { return functions_; }

    /// Makes the rows of a row's callers, those with most first. What has no caller is in none of them.
    /// @return the first one and the one after the last
    std::pair<std::uint32_t, std::uint32_t> add_callers(std::uint32_t row);

  private:
    struct Call {
        std::uint32_t node; // whose value counts
        std::uint32_t at;   // the node of the row's function above it
    };
    using Calls = std::vector<Call>;

    void add_rows(std::vector<Calls>&& groups, std::uint32_t called);
    bool has_value(std::uint32_t node) const;

    const FunctionTree& tree_;
    const SelectedTree& values_;
    std::vector<std::uint32_t> function_;    // by node: a number for its kind and name
    std::vector<std::uint32_t> first_, end_; // by node: places of what is below it in the order of the tree
    std::vector<Row> rows_;
    std::vector<Calls> calls_; // by row
    std::size_t functions_ = 0;
};

} // namespace libprofile::tools
