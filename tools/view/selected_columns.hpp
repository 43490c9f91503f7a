// Profiles of chosen iterations as columns for the page, each value with how far it may be off.
// Contract: one thread; allocates; throws std::bad_alloc only.
#pragma once

#include "tools/analysis/sample_strata.hpp"
#include "tools/analysis/selection.hpp"
#include "tools/view/cell_columns.hpp"

#include <vector>

namespace libprofile::tools {

/// Like CellColumns, but values are whole, and errors() has for each one its error plus 1; 0 if unknown. Times that samples shared out have no
/// error here: see SampledColumns.
class SelectedColumns {
  public:
    SelectedColumns(const Profile& profile, const CellTables& tables) : profile_(profile), tables_(tables) {}

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
    const Profile& profile_;
    const CellTables& tables_;
    std::vector<Entry> entries_;
    NumberColumn counts_, keys_, values_, errors_;
};

/// What samples shared out of chosen iterations: per location the number of its strata and of its parts; per stratum what SampleStratum has;
/// per part its node, its stratum at the location, and its time.
class SampledColumns {
  public:
    explicit SampledColumns(const CellTables& tables) : tables_(tables) {}

    void add(const SampledSelection& selection);
    void end();

    const NumberColumn& counts() const { return counts_; }
    const std::vector<SampleStratum>& strata() const { return strata_; }
    const NumberColumn& parts() const { return parts_; }

  private:
    const CellTables& tables_;
    std::vector<SampleStratum> strata_;
    std::size_t strata_before_ = 0, parts_here_ = 0;
    NumberColumn counts_, parts_;
};

} // namespace libprofile::tools
