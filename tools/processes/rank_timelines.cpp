#include "tools/processes/rank_timelines.hpp"

#include "tools/analysis/in_parallel.hpp"
#include "tools/analysis/totals.hpp"
#include "tools/structure/edit_script.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <unordered_map>

namespace libprofile::tools {

namespace {

constexpr std::size_t most_edits = 40'000; // with more, iterations are paired by number

/// Partners of the iterations of a row. Ranks that make equally many iterations make them together.
std::vector<std::uint32_t> partners_in(const IterationStructures& structures, std::uint32_t row, std::uint32_t reference) {
    const std::vector<std::uint32_t>&a = structures.of_iteration[row], &b = structures.of_iteration[reference];
    std::vector<std::uint32_t> partners(a.size(), no_partner);
    if (a.size() != b.size()) {
        const std::vector<std::uint64_t> x(a.begin(), a.end()), y(b.begin(), b.end());
        if (auto found = partners_of(x, y, most_edits)) partners = std::move(*found);
    }
    pair_in_gaps(partners, b.size());
    return partners;
}

/// Mean times of a visit to the events of a row's clusters.
class EventTimes {
  public:
    EventTimes(const EventPaths& events, const PhaseData& data) : data_(data) {
        const auto add = [&](const std::vector<Cell>& cells) {
            std::unordered_map<std::uint32_t, double>& times = times_.emplace_back();
            std::unordered_map<std::uint32_t, double> ns;
            for (const Cell& cell : cells)
                if (cell.metric == 0 && events.is_event(cell.path)) ns[cell.path] += static_cast<double>(cell.value);
            for (const EventCount& count : events.visits_of(cells))
                if (const auto at = ns.find(count.event); at != ns.end()) times[count.event] = at->second / static_cast<double>(count.visits);
        };
        for (const Cluster& cluster : data.clusters) add(cluster.cells);
        add(data.rest);
    }
    double of(std::uint64_t iteration, std::uint32_t event) const {
        const std::unordered_map<std::uint32_t, double>& times = times_[std::min<std::size_t>(data_.cluster_of_iteration[iteration], times_.size() - 1)];
        const auto at = times.find(event);
        return at == times.end() ? 0 : at->second;
    }

  private:
    const PhaseData& data_;
    std::vector<std::unordered_map<std::uint32_t, double>> times_; // by cluster, the rest last
};

/// Calls visit(iteration here, there, dissimilarity, unmatched ns, skew in ns) for each pair; returns how many have none.
template <class Visit> std::pair<std::uint64_t, std::uint64_t> for_each_pair(const EventPaths& events, const IterationStructures& structures,
                                                                             const RankStates& states, std::uint32_t row, std::uint32_t reference,
                                                                             Visit visit) {
    const PhaseData& data = *find_phase(states.locations[row], states.phase);
    std::optional<EventTimes> times;
    std::map<std::pair<std::uint32_t, std::uint32_t>, float> known; // dissimilarity of structures
    const std::vector<std::uint32_t> partners = partners_in(structures, row, reference);
    std::uint64_t pairs = 0;
    for (std::size_t i = 0; i < partners.size(); ++i) {
        const std::uint32_t j = partners[i];
        if (j == no_partner) continue;
        ++pairs;
        if (i < states.first || j < states.first || i >= states.first + states.iterations || j >= states.first + states.iterations) continue;
        const std::uint32_t a = structures.of_iteration[row][i], b = structures.of_iteration[reference][j];
        float share = 0;
        double unmatched = 0;
        if (a != b || a == unknown_structure) {
            const auto [at, is_new] = known.try_emplace({a, b}, 0.0f);
            if (is_new) at->second = static_cast<float>(dissimilarity(structures, a, b));
            share = at->second;
            if (!std::isnan(share)) {
                if (!times) times.emplace(events, data);
                for_each_event(structures.list[a].visits, structures.list[b].visits, [&](std::uint32_t event, std::uint64_t here, std::uint64_t there) {
                    if (here > there) unmatched += static_cast<double>(here - there) * times->of(i, event);
                });
            }
        }
        const double skew = states.computing_ns(row, i - states.first) - states.computing_ns(reference, j - states.first);
        visit(static_cast<std::uint32_t>(i), j, share, unmatched, skew);
    }
    return {partners.size() - pairs, structures.of_iteration[reference].size() - pairs};
}

} // namespace

PairTimeline pair_timeline(const EventPaths& events, const IterationStructures& structures, const RankStates& states, std::uint32_t row,
                           std::uint32_t reference) {
    PairTimeline timeline;
    std::tie(timeline.alone_here, timeline.alone_there) =
        for_each_pair(events, structures, states, row, reference, [&](std::uint32_t i, std::uint32_t j, float share, double unmatched, double skew) {
            timeline.here.push_back(i);
            timeline.there.push_back(j);
            timeline.dissimilarity.push_back(share);
            timeline.unmatched_ns.push_back(static_cast<float>(unmatched));
            timeline.skew.push_back(static_cast<float>(skew));
        });
    return timeline;
}

RankTimelines rank_timelines(const EventPaths& events, const IterationStructures& structures, const RankStates& states, std::uint32_t reference) {
    const std::size_t n = states.iterations;
    RankTimelines result;
    result.reference = reference;
    result.rows.resize(states.locations.size());
    result.mean_dissimilarity.resize(n);
    result.most_dissimilarity.resize(n);
    result.most_dissimilar.assign(n, reference);
    result.behind.resize(n);
    result.ahead.resize(n);
    result.most_behind.assign(n, reference);
    result.most_ahead.assign(n, reference);
    std::vector<double> sums(n);
    std::vector<std::uint32_t> known(n);
    std::mutex adding;
    in_parallel(result.rows.size(), [&](std::size_t r) {
        const auto row = static_cast<std::uint32_t>(r);
        RankDistance& distance = result.rows[r];
        std::uint64_t pairs = 0;
        std::vector<float> shares(n, std::nanf(""));
        std::vector<double> skews(n, std::nan(""));
        std::tie(distance.alone_here, distance.alone_there) =
            for_each_pair(events, structures, states, row, reference, [&](std::uint32_t i, std::uint32_t j, float share, double unmatched, double skew) {
                if (!std::isnan(skew)) distance.skew_ns += skew;
                distance.unmatched_ns += unmatched;
                skews[j - states.first] = distance.skew_ns;
                if (std::isnan(share)) {
                    ++distance.unknown;
                    return;
                }
                ++pairs;
                distance.dissimilarity += share;
                shares[j - states.first] = share;
                if (share > 0 && distance.different++ == 0) distance.first_other = i;
            });
        if (distance.different != 0) distance.of_different = distance.dissimilarity / static_cast<double>(distance.different);
        distance.dissimilarity = pairs == 0 ? std::nan("") : distance.dissimilarity / static_cast<double>(pairs);
        double last = 0; // where a row has no partner, it is as far behind as before
        for (double& sum : skews) last = sum = std::isnan(sum) ? last : sum;
        const std::lock_guard lock(adding);
        // Of equal rows the first, whichever thread comes first.
        const auto is_first = [&](bool is_more, bool is_equal, std::uint32_t now) { return is_more || (is_equal && (now == reference || row < now)); };
        for (std::size_t i = 0; i < n; ++i) {
            if (!std::isnan(shares[i])) {
                sums[i] += shares[i];
                ++known[i];
                if (shares[i] > 0 && is_first(shares[i] > result.most_dissimilarity[i], shares[i] == result.most_dissimilarity[i], result.most_dissimilar[i])) {
                    result.most_dissimilarity[i] = shares[i];
                    result.most_dissimilar[i] = row;
                }
            }
            if (skews[i] > 0 && is_first(skews[i] > result.behind[i], skews[i] == result.behind[i], result.most_behind[i])) {
                result.behind[i] = skews[i];
                result.most_behind[i] = row;
            }
            if (skews[i] < 0 && is_first(skews[i] < result.ahead[i], skews[i] == result.ahead[i], result.most_ahead[i])) {
                result.ahead[i] = skews[i];
                result.most_ahead[i] = row;
            }
        }
    });
    for (std::size_t i = 0; i < n; ++i) result.mean_dissimilarity[i] = known[i] == 0 ? std::nanf("") : static_cast<float>(sums[i] / known[i]);
    return result;
}

} // namespace libprofile::tools
