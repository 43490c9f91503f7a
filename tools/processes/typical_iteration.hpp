// What ranks call, in order, in the iteration that is most frequent on each (LIBPROFILE_ORDER): where two ranks differ, and all of them in one tree.
// Contract: TypicalIterations is constant after construction and then thread-safe; memory and time as those of the trees (structure/ordered_tree.hpp);
// throws std::bad_alloc only.
#pragma once

#include "tools/reader/model.hpp"
#include "tools/structure/merged_tree.hpp"
#include "tools/structure/tree_changes.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace libprofile::tools {

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
