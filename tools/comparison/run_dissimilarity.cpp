#include "tools/comparison/run_dissimilarity.hpp"

#include "tools/analysis/in_parallel.hpp"
#include "tools/analysis/totals.hpp"
#include "tools/processes/iteration_structures.hpp"

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
    RunStructures(const OrderedRun& run, const std::vector<std::uint32_t>& common) : rows_(run.locations.size(), no_row) {
        std::vector<const Location*> locations;
        for (std::size_t place = 0; place < run.locations.size(); ++place) {
            if (find_phase(run.locations[place], run.phase) == nullptr) continue;
            rows_[place] = locations.size();
            locations.push_back(run.locations[place]);
        }
        structures_ = iteration_structures(EventPaths(*run.profile), locations, run.phase);
        for (IterationStructures::Structure& structure : structures_.list) {
            for (EventCount& count : structure.visits) count.event = common[count.event];
            normalise(structure.visits);
        }
    }
    std::size_t places() const { return rows_.size(); }
    bool has(std::size_t place) const { return rows_[place] != no_row; }
    std::uint32_t number(std::size_t place, std::size_t iteration) const { return structures_.of_iteration[rows_[place]][iteration]; }
    /// Null: not known.
    const EventVisits* visits(std::uint32_t number) const {
        return number == unknown_structure || !structures_.list[number].is_kept ? nullptr : &structures_.list[number].visits;
    }

  private:
    static constexpr std::size_t no_row = ~std::size_t{0};
    std::vector<std::size_t> rows_; // by place
    IterationStructures structures_;
};

} // namespace

std::vector<float> run_dissimilarities(const OrderedRun& before, const OrderedRun& after, const CommonPaths& common, std::span<const AlignedPair> pairs) {
    const RunStructures a(before, common.of(0)), b(after, common.of(1));
    std::vector<double> sums(pairs.size());
    std::vector<std::uint32_t> known(pairs.size());
    std::mutex adding;
    in_parallel(a.places(), [&](std::size_t place) {
        if (!a.has(place) || !b.has(place)) return;
        std::map<std::pair<std::uint32_t, std::uint32_t>, float> shares; // by structure in both runs
        std::vector<float> of_rank;
        for (const AlignedPair& pair : pairs) {
            const std::uint32_t x = a.number(place, pair.before), y = b.number(place, pair.after);
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
