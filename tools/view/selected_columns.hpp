// Profiles of chosen iterations as columns for the page, each value with how far it may be off.
// Contract: one thread; allocates; throws std::bad_alloc only.
#pragma once

#include "tools/analysis/selection.hpp"
#include "tools/view/cell_columns.hpp"

#include <vector>

namespace libprofile::tools {

/// Like CellColumns, but values are whole, and errors() has for each one its error plus 1; 0 if unknown.
class SelectedColumns {
  public:
    explicit SelectedColumns(const CellTables& tables) : tables_(tables) {}

    /// Adds cells to the profile that end() closes.
    void add(const std::vector<SelectedCell>& cells);
    void end();

    const NumberColumn& counts() const { return counts_; }
    const NumberColumn& keys() const { return keys_; }
    const NumberColumn& values() const { return values_; }
    const NumberColumn& errors() const { return errors_; }

  private:
    struct Entry {
        std::uint64_t key, value, bound;
    };
    const CellTables& tables_;
    std::vector<Entry> entries_;
    NumberColumn counts_, keys_, values_, errors_;
};

} // namespace libprofile::tools
