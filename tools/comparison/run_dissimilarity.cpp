#include "tools/comparison/run_dissimilarity.hpp"

#include "tools/analysis/in_parallel.hpp"
#include "tools/analysis/totals.hpp"
#include "tools/comparison/common_paths.hpp"
#include "tools/processes/iteration_structures.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>
#include <utility>

namespace libprofile::tools {

namespace {

/// What the iterations of a run's ranks call, by common paths.
class RunStructures {
  public:
    RunStructures(const OrderedRun& run, const std::vector<std::uint32_t>& common) {
        for (const Location* location : run.locations)
            if (location != nullptr && find_phase(location, run.phase) != nullptr) locations_.push_back(location);
        structures_ = iteration_structures(EventPaths(*run.profile), locations_, run.phase);
        for (IterationStructures::Structure& structure : structures_.list) {
            for (EventCount& count : structure.visits) count.event = common[count.event];
            normalise(structure.visits);
        }
    }
    /// The row of a rank; the number of rows if it has none.
    std::size_t row_of(std::uint32_t rank) const {
        const auto row = std::find_if(locations_.begin(), locations_.end(), [&](const Location* location) { return location->rank == rank; });
        return static_cast<std::size_t>(row - locations_.begin());
    }
    std::size_t rows() const { return locations_.size(); }
    std::uint32_t rank(std::size_t row) const { return locations_[row]->rank; }
    std::uint32_t number(std::size_t row, std::size_t iteration) const { return structures_.of_iteration[row][iteration]; }
    /// Null: not known.
    const EventVisits* visits(std::uint32_t number) const {
        return number == unknown_structure || !structures_.list[number].is_kept ? nullptr : &structures_.list[number].visits;
    }

  private:
    std::vector<const Location*> locations_;
    IterationStructures structures_;
};

} // namespace

std::vector<float> run_dissimilarities(const OrderedRun& before, const OrderedRun& after, std::span<const AlignedPair> pairs) {
    const CommonPaths common(std::array{before.profile, after.profile});
    const RunStructures a(before, common.of(0)), b(after, common.of(1));
    std::vector<double> sums(pairs.size());
    std::vector<std::uint32_t> known(pairs.size());
    std::mutex adding;
    in_parallel(a.rows(), [&](std::size_t row) {
        const std::size_t other = b.row_of(a.rank(row));
        if (other == b.rows()) return;
        std::map<std::pair<std::uint32_t, std::uint32_t>, float> shares; // by structure in both runs
        std::vector<float> of_rank;
        for (const AlignedPair& pair : pairs) {
            const std::uint32_t x = a.number(row, pair.before), y = b.number(other, pair.after);
            const auto [at, is_new] = shares.try_emplace({x, y}, std::numeric_limits<float>::quiet_NaN());
            const EventVisits *here = a.visits(x), *there = b.visits(y);
            if (is_new && here != nullptr && there != nullptr) at->second = static_cast<float>(share_alone(*here, *there));
            of_rank.push_back(at->second);
        }
        const std::lock_guard lock(adding);
        for (std::size_t p = 0; p < of_rank.size(); ++p) {
            if (std::isnan(of_rank[p])) continue;
            sums[p] += of_rank[p];
            ++known[p];
        }
    });
    std::vector<float> result;
    for (std::size_t p = 0; p < sums.size(); ++p)
        result.push_back(known[p] == 0 ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(sums[p] / known[p]));
    return result;
}

} // namespace libprofile::tools
