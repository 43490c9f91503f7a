// What ranks call, in order, in the iteration that is most frequent on each (LIBPROFILE_ORDER): where two ranks differ, and all of them in one tree.
// Contract: TypicalIterations is constant after construction and then thread-safe; memory and time as those of the trees (structure/ordered_tree.hpp);
// throws std::bad_alloc only.
#pragma once

#include "tools/reader/model.hpp"
#include "tools/structure/merged_tree.hpp"
#include "tools/structure/tree_changes.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace libprofile::tools {

/// A position of a sequence's timeline; an iteration of a phase inside is a call of its phase.
struct TypicalCall {
    std::uint32_t path = 0;  // a call path of the profile; behind them all its phases
    std::uint64_t count = 1; // in a row
    double begin = 0;        // mean, in ns since the iteration began; of the first in a row
    double length = 0;       // mean, in ns; of all in a row
};

/// In the order in which they began.
std::vector<TypicalCall> typical_calls(const Profile& profile, const EventSequence& sequence);

/// As ordered_tree() wants them.
std::vector<CallEvent> events_of(std::span<const TypicalCall> calls);

/// Who is to be named where a subtree was added or moved: the only event in it, or the function that calls several.
std::uint32_t named_node(const OrderedTree& tree, std::uint32_t at);

/// The calls of a row's most frequent sequence. Iterations of phases inside are calls of their phase.
struct TypicalIteration {
    OrderedTree tree;             // empty: the order of the row's calls was not recorded
    std::uint64_t iterations = 0; // that have this sequence
    std::uint64_t all = 0;        // of the phase
};

class TypicalIterations {
  public:
    /// @param locations rows; those without the phase have none
    TypicalIterations(const Profile& profile, const std::vector<const Location*>& locations, std::uint32_t phase);

    bool is_known() const;
    const TypicalIteration& of(std::uint32_t row) const { return rows_[row]; }
    TreeChanges changes(std::uint32_t from, std::uint32_t to) const { return tree_changes(rows_[from].tree, rows_[to].tree); }
    /// Of all rows with a tree; sets are of rows.
    MergedTree merged() const;
    /// "MPI_Send", "phase solve".
    std::string name(std::uint32_t path) const;

  private:
    const Profile& profile_;
    std::vector<std::uint32_t> parent_of_path_; // of call paths, then of phases
    std::vector<std::uint64_t> key_of_path_;
    std::vector<TypicalIteration> rows_;
};

} // namespace libprofile::tools
