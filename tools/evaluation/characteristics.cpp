#include "tools/evaluation/characteristics.hpp"

#include <algorithm>
#include <limits>
#include <set>

namespace libprofile::tools {

namespace {

constexpr std::size_t nowhere = std::numeric_limits<std::size_t>::max();

/// Counts the call paths of one sort, iteration by iteration.
class PathCounter {
  public:
    explicit PathCounter(std::size_t paths) : last_iteration_(paths, nowhere) {}

    void visit(std::uint32_t path, std::size_t iteration) {
        ++here_;
        statistics_.distinct += last_iteration_[path] == nowhere ? 1 : 0;
        statistics_.total += last_iteration_[path] != iteration ? 1 : 0;
        last_iteration_[path] = iteration;
    }
    /// Ends an iteration of a location.
    void end() {
        statistics_.minimum = ends_ == 0 ? here_ : std::min(statistics_.minimum, here_);
        statistics_.maximum = std::max(statistics_.maximum, here_);
        sum_ += here_;
        ++ends_;
        here_ = 0;
    }
    PathStatistics result() const {
        PathStatistics result = statistics_;
        result.average = ends_ == 0 ? 0 : static_cast<double>(sum_) / static_cast<double>(ends_);
        return result;
    }

  private:
    PathStatistics statistics_;
    std::vector<std::size_t> last_iteration_; // by path
    std::uint64_t here_ = 0;
    std::uint64_t sum_ = 0;
    std::uint64_t ends_ = 0;
};

void widen(LocalRange& range, std::uint64_t value, bool first) {
    range.least = first ? value : std::min(range.least, value);
    range.most = std::max(range.most, value);
}

std::uint64_t distinct(const std::vector<std::uint32_t>& classes) { return std::set<std::uint32_t>(classes.begin(), classes.end()).size(); }

} // namespace

Characteristics characterise(const Recording& recording) {
    Characteristics result;
    result.wall_ns = recording.wall_ns;
    result.locations = recording.locations.size();
    for (const RecordedLocation& location : recording.locations) {
        const bool first = &location == &recording.locations.front();
        widen(result.iterations, location.iterations.size(), first);
        widen(result.weak_classes, distinct(location.weak_class), first);
        widen(result.strong_classes, distinct(location.strong_class), first);
    }
    PathCounter all(recording.paths.size()), mpi(recording.paths.size());
    for (std::size_t i = 0; i < recording.iterations(); ++i) {
        for (const RecordedLocation& location : recording.locations) {
            if (i >= location.iterations.size()) continue;
            std::uint32_t last = std::numeric_limits<std::uint32_t>::max();
            for (const libprofile::Cell& cell : location.iterations[i].cells) {
                const CellKind kind = recording.paths[cell.node()];
                if (cell.node() == last || kind == CellKind::Own) continue;
                last = cell.node();
                all.visit(last, i);
                if (kind == CellKind::Event) mpi.visit(last, i);
            }
            all.end();
            mpi.end();
        }
    }
    result.all = all.result();
    result.mpi = mpi.result();
    return result;
}

} // namespace libprofile::tools
