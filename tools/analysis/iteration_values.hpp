// The values of every iteration of a phase, one after the other, with what lies inside them.
// Contract: belongs to one thread; keeps references to the profile; throws std::bad_alloc only.
//
// An iteration whose own values were not kept has the mean of its cluster.
#pragma once

#include "tools/analysis/inside.hpp"
#include "tools/analysis/totals.hpp"
#include "tools/reader/model.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace libprofile::tools {

class IterationValues {
  public:
    IterationValues(const Profile& profile, const Location& location, const PhaseData& data);

    /// Before the first next(): begins with this iteration.
    void begin_with(std::uint64_t iteration);
    /// Returns false if there is no further iteration.
    bool next();

    /// By row of metric_rows, what the phase itself has; there may be fewer rows.
    const MetricValues& own() const { return is_exact_ ? reader_->condensed() : means_[cluster()]; }
    /// The same of what lies inside; null if nothing does.
    const MetricValues* inside() const { return iteration_ < inside_.rows.size() ? &inside_.rows[iteration_] : nullptr; }
    /// ns of phases inside of which nothing but their time is known.
    std::uint64_t untold() const { return iteration_ < inside_.untold.size() ? inside_.untold[iteration_] : 0; }
    /// The phase's own values are those of the iteration, and no mean.
    bool is_exact() const { return is_exact_; }
    /// Calls visit(values) for the own ones and for those inside.
    template <class Visit> void for_each(Visit visit) const {
        visit(own());
        if (const MetricValues* values = inside()) visit(*values);
    }

  private:
    std::size_t cluster() const { return std::min<std::size_t>(data_.cluster_of_iteration[iteration_], means_.size() - 1); }

    const PhaseData& data_;
    std::vector<MetricValues> means_; // by cluster, the rest last
    RowsInside inside_;
    std::optional<SeriesReader> reader_;
    std::size_t iteration_ = 0, read_ = 0, next_ = 0;
    bool is_exact_ = false;
};

} // namespace libprofile::tools
