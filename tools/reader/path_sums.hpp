// Sums by call path of some metrics, of which few occur, for one thread after the other.
// Contract: not thread-safe; takes memory in proportion to all call paths for each metric that occurs, and keeps it; throws std::bad_alloc only.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace libprofile::tools {

/// Values of one metric by ascending call path.
struct PathColumn {
    std::vector<std::uint32_t> path;
    std::vector<std::uint64_t> value;
};

class PathSums {
  public:
    PathSums(std::size_t metrics, std::size_t paths) : of_metric_(metrics), paths_(paths) {}

    void add(std::uint32_t metric, std::uint32_t path, std::uint64_t value) {
        Sums& sums = of_metric_[metric];
        if (sums.value.empty()) {
            sums.value.resize(paths_);
            sums.is_touched.resize(paths_ / stretch + 1);
        }
        sums.value[path] += value;
        sums.is_touched[path / stretch] = 1;
    }

    /// Calls visit(metric, column) for metrics that occur, and starts anew. What adds up to nothing is not there, as in a table.
    template <class Visit> void take(Visit visit) {
        for (std::uint32_t m = 0; m < of_metric_.size(); ++m) {
            column_.path.clear();
            column_.value.clear();
            Sums& sums = of_metric_[m];
            for (std::size_t s = 0; s < sums.is_touched.size(); ++s) {
                if (sums.is_touched[s] == 0) continue;
                sums.is_touched[s] = 0;
                for (std::size_t p = s * stretch; p < std::min((s + 1) * stretch, paths_); ++p)
                    if (sums.value[p] != 0) {
                        column_.path.push_back(static_cast<std::uint32_t>(p));
                        column_.value.push_back(sums.value[p]);
                        sums.value[p] = 0;
                    }
            }
            if (!column_.path.empty()) visit(m, column_);
        }
    }

  private:
    static constexpr std::size_t stretch = 256; // call paths: a thread that came to few of them is not asked for all
    struct Sums {
        std::vector<std::uint64_t> value; // by path
        std::vector<unsigned char> is_touched;
    };

    std::vector<Sums> of_metric_;
    std::size_t paths_;
    PathColumn column_;
};

} // namespace libprofile::tools
