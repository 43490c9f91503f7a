#include "tools/diagnosis/rank_suspects.hpp"

#include "tools/analysis/in_parallel.hpp"
#include "tools/diagnosis/jitter_tail.hpp"
#include "tools/diagnosis/levels.hpp"
#include "tools/diagnosis/lone_spike.hpp"
#include "tools/diagnosis/moving_suspect.hpp"
#include "tools/diagnosis/ranges_in_turn.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace libprofile::tools {

namespace {

constexpr std::size_t most_with_periods = 16; // ranks in which any period is looked for
constexpr double smallest_spike = 0.01;       // of a typical iteration
constexpr double same_iterations = 0.6;       // of the shorter list
constexpr double usual = 0.3;                 // of the iterations have some slow rank: then that may move, and be no noise
constexpr double as_much = 0.5;               // of the other's excess: less is another matter, and not the same work elsewhere

/// The pattern of one rank's excess over the others.
struct RankPattern {
    std::size_t rank = 0;
    double weight = 0; // ns: excess that jitter does not explain
    ExcessPattern pattern;
};

std::vector<float> excess_of(const RunModel& model, std::size_t rank) {
    std::vector<float> excess(model.iterations());
    for (std::size_t i = 0; i < excess.size(); ++i) excess[i] = model.local(rank, i) - model.base()[i];
    return excess;
}

/// Those with `least_sum`, and others with half of it, which may have a turn of the same work.
std::vector<RankPattern> patterns_of_ranks(const RunModel& model, double least_sum) {
    std::vector<RankPattern> list(model.ranks());
    const float noise = static_cast<float>(3 * model.jitter());
    in_parallel(model.ranks(), [&](std::size_t r) {
        double sum = 0, above = 0;
        for (std::size_t i = 0; i < model.iterations(); ++i) {
            const float excess = model.local(r, i) - model.base()[i];
            sum += excess;
            above += std::max(0.0f, excess - noise);
        }
        list[r].rank = r;
        list[r].weight = std::max(sum, above);
    });
    std::stable_sort(list.begin(), list.end(), [](const RankPattern& a, const RankPattern& b) { return a.weight > b.weight; });
    while (!list.empty() && list.back().weight < as_much * least_sum) list.pop_back();
    PatternSearch search{model.typical(), least_sum};
    search.usual_noise = 4 * model.jitter(); // of a difference of two ranks, one of which may have more of it
    const auto find = [&](std::size_t rank, PatternSearch mine) {
        const std::vector<float> excess = excess_of(model, rank);
        ExcessPattern pattern = find_pattern(excess, mine);
        mine.least_sum *= as_much;
        return pattern.is_empty() ? find_pattern(excess, mine) : pattern;
    };
    in_parallel(list.size(), [&](std::size_t k) {
        PatternSearch mine = search;
        mine.may_be_periodic = k < most_with_periods;
        list[k].pattern = find(list[k].rank, mine);
    });
    // The others may have the period of the longest ones.
    const auto periodic =
        std::find_if(list.begin(), list.end(), [](const RankPattern& p) { return p.pattern.kind == PatternKind::Periodic && !p.pattern.is_empty(); });
    if (periodic != list.end() && list.size() > most_with_periods) {
        PatternSearch again = search;
        again.only_period = periodic->pattern.period;
        in_parallel(list.size() - most_with_periods, [&](std::size_t k) {
            RankPattern& one = list[k + most_with_periods];
            one.pattern = find(one.rank, again);
        });
    }
    std::erase_if(list, [](const RankPattern& p) { return p.pattern.is_empty(); });
    std::stable_sort(list.begin(), list.end(), [](const RankPattern& a, const RankPattern& b) { return a.pattern.sum > b.pattern.sum; });
    return list;
}

/// The largest excess of each iteration.
ExcessPattern joined(const std::vector<const RankPattern*>& members, std::size_t iterations) {
    ExcessPattern pattern = members[0]->pattern;
    pattern.sum = 0;
    for (std::size_t i = 0; i < iterations; ++i) {
        for (const RankPattern* member : members) pattern.excess[i] = std::max(pattern.excess[i], member->pattern.excess[i]);
        pattern.sum += pattern.excess[i];
    }
    return pattern;
}

Suspect suspect_of(const RunModel& model, SuspectKind kind, const std::vector<const RankPattern*>& members) {
    Suspect suspect{kind, joined(members, model.iterations()), {}, {}, {}};
    for (const RankPattern* member : members) {
        suspect.parts.push_back({member->rank, member->pattern.excess});
        suspect.rows.push_back(member->rank);
    }
    suspect.gain = model.gain_without(suspect.parts);
    return suspect;
}

/// All ranks on their mean: what spreading the work evenly would give. `mean_local` is by rank.
std::vector<RankExcess> evened_out(const RunModel& model, const std::vector<double>& mean_local) {
    const double mean = std::accumulate(mean_local.begin(), mean_local.end(), 0.0) / static_cast<double>(mean_local.size());
    std::vector<RankExcess> parts;
    for (std::size_t r = 0; r < model.ranks(); ++r) parts.push_back({r, std::vector<float>(model.iterations(), static_cast<float>(mean_local[r] - mean))});
    return parts;
}

ExcessPattern all_excess_of(const RunModel& model, std::size_t rank) {
    ExcessPattern pattern;
    pattern.excess = excess_of(model, rank);
    for (float& value : pattern.excess) pattern.sum += value = std::max(value, 0.0f);
    return pattern;
}

/// In all parts of the run, whatever jitter does in single iterations.
bool is_there_always(const std::vector<float>& excess) {
    constexpr std::size_t around = 25; // iterations
    const double mean = std::accumulate(excess.begin(), excess.end(), 0.0) / static_cast<double>(excess.size());
    return quantile(running_median(excess, around), 0.1) >= 0.3 * mean;
}

/// A few ranks above all others, or ranks that all differ.
Suspect steady_suspect(const RunModel& model, std::vector<const RankPattern*> steady) {
    const std::size_t ranks = model.ranks(), few = std::max<std::size_t>(1, ranks / 2);
    std::vector<double> mean_local(ranks);
    for (std::size_t r = 0; r < ranks; ++r) {
        for (std::size_t i = 0; i < model.iterations(); ++i) mean_local[r] += model.local(r, i);
        mean_local[r] /= static_cast<double>(model.iterations());
    }
    std::vector<double> order = mean_local;
    std::sort(order.begin(), order.end(), std::greater<>());
    const double middle = order[std::min(ranks - 1, ranks * 3 / 4)];
    // The widest gap between the longest ranks and the next one.
    std::size_t above = 0;
    double widest = 0;
    for (std::size_t k = 1; k <= few && k < ranks; ++k)
        if (order[k - 1] - order[k] > widest) widest = order[k - 1] - order[k], above = k;
    const std::vector<RankExcess> even = evened_out(model, mean_local);
    if (above != 0 && widest >= 0.4 * (order[0] - middle)) {
        std::vector<const RankPattern*> longest = steady;
        std::erase_if(longest, [&](const RankPattern* one) { return mean_local[one->rank] < order[above - 1]; });
        if (!longest.empty()) {
            // Those as long as these are some of them, whatever pattern fits them best alone.
            std::vector<RankPattern> more;
            for (std::size_t r = 0; r < ranks; ++r) {
                if (mean_local[r] < order[above - 1] || std::any_of(longest.begin(), longest.end(), [&](const RankPattern* one) { return one->rank == r; }))
                    continue;
                RankPattern one{r, 0, all_excess_of(model, r)};
                if (is_there_always(excess_of(model, r))) more.push_back(std::move(one));
            }
            for (const RankPattern& one : more) longest.push_back(&one);
            Suspect suspect = suspect_of(model, SuspectKind::FewRanks, longest);
            suspect.gain.low = std::min(suspect.gain.low, model.gain_without(even).value);
            return suspect;
        }
    }
    Suspect suspect = suspect_of(model, SuspectKind::UnevenRanks, steady);
    suspect.parts = even;
    suspect.gain = model.gain_without(even);
    return suspect;
}

/// A range that lies inside a longer one is another matter.
bool has_iterations_of(const RankPattern& a, const RankPattern& b) {
    const auto in_a = static_cast<double>(a.pattern.iterations()), in_b = static_cast<double>(b.pattern.iterations());
    const bool is_as_long = a.pattern.kind != PatternKind::Range || std::min(in_a, in_b) >= same_iterations * std::max(in_a, in_b);
    return is_as_long && overlap(a.pattern, b.pattern) >= same_iterations;
}

/// Of the iterations that have some.
double mean_excess(const ExcessPattern& pattern) { return pattern.sum / static_cast<double>(pattern.iterations()); }

bool has_as_much_as(const RankPattern& a, const RankPattern& b) {
    const double of_a = mean_excess(a.pattern), of_b = mean_excess(b.pattern);
    return std::min(of_a, of_b) >= as_much * std::max(of_a, of_b);
}

/// Ranks with the same kind of pattern: in the same iterations, or one after another.
std::vector<Suspect> grouped(const RunModel& model, const std::vector<RankPattern>& patterns, double least_sum) {
    std::vector<Suspect> suspects;
    std::vector<bool> is_used(patterns.size());
    for (std::size_t p = 0; p < patterns.size(); ++p) {
        if (patterns[p].pattern.sum < least_sum) break;
        if (is_used[p] || patterns[p].pattern.kind == PatternKind::Scattered) continue; // these come from scattered_suspects()
        std::vector<const RankPattern*> same, others;
        for (std::size_t q = p; q < patterns.size(); ++q) {
            if (is_used[q] || patterns[q].pattern.kind != patterns[p].pattern.kind || patterns[q].pattern.period != patterns[p].pattern.period) continue;
            if (has_iterations_of(patterns[p], patterns[q])) {
                if (patterns[q].pattern.sum < least_sum) continue;
                same.push_back(&patterns[q]);
                is_used[q] = true;
            } else if (has_as_much_as(patterns[p], patterns[q])) {
                others.push_back(&patterns[q]);
            }
        }
        const PatternKind kind = patterns[p].pattern.kind;
        if (kind == PatternKind::Steady) {
            suspects.push_back(steady_suspect(model, std::move(same)));
            continue;
        }
        if ((kind == PatternKind::Periodic || kind == PatternKind::Range) && same.size() * 2 <= model.ranks()) {
            std::vector<const RankPattern*> all = same;
            all.insert(all.end(), others.begin(), others.end());
            const ExcessPattern together = joined(all, model.iterations());
            if (all.size() * 2 > model.ranks() && !others.empty() && together.iterations() * 2 > model.iterations()) {
                suspects.push_back(suspect_of(model, SuspectKind::MovingRank, all));
                break;
            }
        }
        suspects.push_back(suspect_of(model, SuspectKind::FewRanks, same));
    }
    return suspects;
}

/// Single iterations of any rank that stick out, beyond what patterns say, and beyond what is usual for the rank.
std::vector<Suspect> scattered_suspects(const RunModel& model, const std::vector<RankPattern>& patterns, double least_sum) {
    const std::size_t iterations = model.iterations(), ranks = model.ranks();
    if (iterations < 10) return {};
    const auto least = static_cast<float>(smallest_spike * model.typical() + 4 * model.jitter());
    std::vector<const ExcessPattern*> of_rank(ranks);
    for (const RankPattern& one : patterns)
        if (one.pattern.kind != PatternKind::Scattered) of_rank[one.rank] = &one.pattern;
    const auto excess_at = [&](std::size_t r, std::size_t i) {
        return model.local(r, i) - model.base()[i] - (of_rank[r] == nullptr ? 0 : of_rank[r]->excess[i]);
    };
    const std::vector<float> jitter = highest_by_jitter(ranks, iterations, excess_at);
    const auto no_jitter = static_cast<float>(no_jitter_from(model, least_sum)); // whatever the tail of jitter is
    std::vector<RankPattern> list(ranks);
    const auto collect = [&](std::size_t r, float above) {
        ExcessPattern& pattern = list[r].pattern = {};
        list[r].rank = r;
        pattern.kind = PatternKind::Scattered;
        for (std::size_t i = 0; i < iterations; ++i) {
            const float excess = excess_at(r, i);
            if (excess < above) continue;
            if (pattern.excess.empty()) pattern.excess.resize(iterations);
            pattern.excess[i] = excess;
            pattern.sum += excess;
        }
    };
    const auto above = [&](std::size_t r) { return std::max(least, std::min(jitter[r], no_jitter)); };
    in_parallel(ranks, [&](std::size_t r) { collect(r, above(r)); });
    std::vector<float> all;
    for (const RankPattern& one : list)
        std::copy_if(one.pattern.excess.begin(), one.pattern.excess.end(), std::back_inserter(all), [](float x) { return x > 0; });
    const float no_trifle = beside_the_largest(all);
    if (no_trifle > 0) in_parallel(ranks, [&](std::size_t r) { collect(r, std::max(above(r), no_trifle)); });
    std::erase_if(list, [](const RankPattern& one) { return one.pattern.is_empty(); });
    std::stable_sort(list.begin(), list.end(), [](const RankPattern& a, const RankPattern& b) { return a.pattern.sum > b.pattern.sum; });
    std::vector<const RankPattern*> members;
    double sum = 0;
    for (const RankPattern& one : list) {
        members.push_back(&one);
        sum += one.pattern.sum;
    }
    if (list.empty() || sum < least_sum) return {};
    std::vector<Suspect> suspects;
    // One rank, or hardly another. What it does in most iterations is no exception, if it has a pattern of its own.
    if (list[0].pattern.sum > 0.8 * sum) {
        if (of_rank[list[0].rank] != nullptr && static_cast<double>(list[0].pattern.iterations()) > usual * static_cast<double>(iterations)) return {};
        suspects.push_back(suspect_of(model, SuspectKind::FewRanks, {members[0]}));
        return suspects;
    }
    suspects.push_back(suspect_of(model, SuspectKind::ScatteredRank, members));
    return suspects;
}

} // namespace

std::vector<Suspect> rank_suspects(const RunModel& model, double least_sum) {
    if (model.ranks() < 2) return {};
    if (std::optional<Suspect> spike = lone_spike(model, least_sum)) return {std::move(*spike)};
    std::vector<RankPattern> patterns = patterns_of_ranks(model, least_sum);
    std::vector<Suspect> suspects = grouped(model, patterns, least_sum);
    std::erase_if(patterns, [&](const RankPattern& one) { return one.pattern.sum < least_sum; });
    std::vector<Suspect> singles = scattered_suspects(model, patterns, least_sum);
    const auto is_in_many = [&](const Suspect& suspect) {
        return suspect.kind == SuspectKind::ScatteredRank &&
               static_cast<double>(suspect.pattern.iterations()) > usual * static_cast<double>(model.iterations());
    };
    const auto gains = [&](const Suspect& suspect) { return suspect.gain.value >= least_sum; };
    const bool is_open = std::none_of(suspects.begin(), suspects.end(), gains) && std::none_of(singles.begin(), singles.end(), gains);
    if (is_open || std::any_of(singles.begin(), singles.end(), is_in_many)) {
        std::optional<Suspect> moving = moving_suspect(model);
        if (!moving && is_open) moving = ranges_in_turn(model);
        if (moving) singles = {std::move(*moving)};
    }
    std::move(singles.begin(), singles.end(), std::back_inserter(suspects));
    std::erase_if(suspects, [&](const Suspect& suspect) { return suspect.pattern.sum < least_sum; });
    return suspects;
}

} // namespace libprofile::tools
