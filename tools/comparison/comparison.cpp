#include "tools/comparison/comparison.hpp"

#include "tools/comparison/callers_apart.hpp"
#include "tools/comparison/concerned_ranks.hpp"
#include "tools/comparison/group_values.hpp"
#include "tools/comparison/run_values.hpp"
#include "tools/names/labels.hpp"
#include "tools/text/layout.hpp"
#include "tools/text/phrases.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>

namespace libprofile::tools {

namespace {

constexpr double well_matched = 0.9; // share of the time

/// The time of its longest rank; of another metric the mean over ranks.
RunValue whole_of(const Run& run, bool is_of_time) {
    const Frame& frame = run.frame;
    const FrameColumn& column = frame.columns.front();
    double most = 0, sum = 0;
    std::size_t ranks = 0;
    for (std::size_t p = 0; p < frame.places.size(); ++p) {
        const bool is_first = p == 0 || frame.places[p].rank != frame.places[p - 1].rank;
        ranks += is_first;
        double total = 0;
        for (std::uint64_t i = column.begin[p]; i < column.begin[p + 1]; ++i) total += column.value[i];
        sum += total;
        if (is_first) most = std::max(most, total); // worker threads live shorter
    }
    return {is_of_time ? most : sum / static_cast<double>(ranks), 0};
}

/// By node: some run of the group came there or below.
std::vector<bool> present_in(const RunGroup& group) {
    std::vector<bool> present(group.runs.front().frame.nodes.size());
    for (const Run& run : group.runs)
        for (const std::uint32_t node : run.frame.columns.front().node) present[node] = true;
    const std::vector<std::uint32_t>& parent = group.runs.front().frame.nodes.parent;
    for (std::size_t n = present.size(); n-- > 1;)
        if (present[n]) present[parent[n]] = true;
    return present;
}

/// The share of values at nodes that both groups have; the program itself tells nothing of it.
double matched_share(const RunGroup& a, const RunGroup& b) {
    const std::vector<bool> in_a = present_in(a), in_b = present_in(b);
    double all = 0, matched = 0;
    for (const RunGroup* group : {&a, &b})
        for (const Run& run : group->runs) {
            const FrameColumn& column = run.frame.columns.front();
            for (std::size_t i = 0; i < column.node.size(); ++i) {
                const std::uint32_t node = column.node[i];
                if (node == 0) continue;
                all += std::abs(column.value[i]);
                if (in_a[node] && in_b[node]) matched += std::abs(column.value[i]);
            }
        }
    return all == 0 ? 1 : matched / all;
}

/// Phases with iterations that both groups have, in different numbers.
void compare_iterations(const RunGroup& before, const RunGroup& after, GroupComparison& result) {
    for (const RunPhase& phase : before.runs.front().phases)
        for (const RunPhase& other : after.runs.front().phases) {
            if (other.name != phase.name || phase.iterations == 0 || other.iterations == 0 || phase.iterations == other.iterations) continue;
            const double each = phase.ns / static_cast<double>(phase.iterations), now = other.ns / static_cast<double>(other.iterations);
            result.remarks.push_back(printable(fmt::format("{} did {} iterations of {}, {} did {}; one takes {}, in {} {}", after.name,
                                                           count(static_cast<double>(other.iterations)), phase.name, before.name,
                                                           count(static_cast<double>(phase.iterations)), duration(now, {}), before.name, duration(each, {}))));
        }
}

template <class Changes> void sort_by_difference(Changes& list) {
    std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return std::abs(a.change.difference()) > std::abs(b.change.difference()); });
}

GroupComparison compare_two(const std::vector<RunGroup>& groups, std::size_t group, const Activities& functions_and_calls, const RunChoice& choice) {
    const RunGroup &before = groups.front(), &after = groups[group];
    GroupComparison result;
    result.group = group;
    std::vector<RunValue> a, b;
    for (const Run& run : before.runs) a.push_back(whole_of(run, choice.is_of_time()));
    for (const Run& run : after.runs) b.push_back(whole_of(run, choice.is_of_time()));
    result.whole = change_between(a, b);
    result.spread = std::max(spread_of_runs(a), spread_of_runs(b));
    result.ranks_before = ranks_of(before.runs.front()).size();
    result.ranks_after = ranks_of(after.runs.front()).size();
    result.matched = matched_share(before, after);
    if (result.matched == 0)
        throw FrameError(
            fmt::format("{} and {} have no call path in common; compare runs of one program", before.runs.front().place, after.runs.front().place));

    const std::size_t nodes = functions_and_calls.of_node.size();
    std::vector<std::uint32_t> all(nodes), own(nodes), use(nodes);
    std::iota(own.begin(), own.end(), 0u);
    for (std::size_t n = 0; n < nodes; ++n) use[n] = static_cast<std::uint32_t>(functions_and_calls.list[functions_and_calls.of_node[n]].use);
    const auto both = [&](std::string_view metric, std::span<const std::uint32_t> row_of, std::size_t count) {
        return std::pair(values_of(before, metric, row_of, count), values_of(after, metric, row_of, count));
    };
    const auto whole = both(choice.metric, all, 1);
    result.mean = change_of(whole.first, whole.second, 0);
    const Activities activities = with_callers_apart(before, after, choice.metric, result.mean, functions_and_calls);
    const std::size_t rows = activities.list.size();
    const auto uses = both(choice.metric, use, time_use_count), functions = both(choice.metric, activities.of_node, rows),
               visits = both("visits", activities.of_node, rows), bytes = both("bytes", activities.of_node, rows), paths = both(choice.metric, own, nodes);
    for (std::size_t k = 0; k < time_use_count; ++k) result.by_use[k] = change_of(uses.first, uses.second, k);
    for (std::size_t row = 0; row < rows; ++row) {
        ActivityChange one;
        one.activity = activities.list[row];
        one.change = one.there = change_of(functions.first, functions.second, row);
        one.visits = change_of(visits.first, visits.second, row);
        one.bytes = change_of(bytes.first, bytes.second, row);
        if (one.change.difference() != 0) result.activities.push_back(std::move(one));
    }
    sort_by_difference(result.activities);
    for (std::uint32_t n = 0; n < nodes; ++n)
        if (const Change change = change_of(paths.first, paths.second, n); change.difference() != 0)
            result.paths.push_back({n, static_cast<TimeUse>(use[n]), change});
    sort_by_difference(result.paths);

    find_concerned_ranks(before, after, activities, result);
    if (result.ranks_before != result.ranks_after)
        result.remarks.push_back(fmt::format("{} ran on {}, {} on {}: means over ranks differ for that alone; libprofile scale compares sizes", after.name,
                                             plural(result.ranks_after, "rank"), before.name, plural(result.ranks_before, "rank")));
    if (result.matched < well_matched)
        result.remarks.push_back(
            fmt::format("only {} of the time is on call paths that {} and {} have both", percent(result.matched), before.name, after.name));
    compare_iterations(before, after, result);
    return result;
}

} // namespace

Comparison compare_groups(std::vector<RunGroup>& groups, const RunChoice& choice) {
    std::vector<Run*> runs;
    for (RunGroup& group : groups)
        for (Run& run : group.runs) runs.push_back(&run);
    Comparison result;
    result.remarks = unify_runs(runs);
    const Run& first = *runs.front();
    result.metric = choice.metric;
    result.unit = first.frame.columns.front().unit;
    result.is_of_time = choice.is_of_time();
    const Activities activities = activities_of(first.frame);
    for (std::size_t group = 1; group < groups.size(); ++group) result.groups.push_back(compare_two(groups, group, activities, choice));
    for (const Run* run : runs) result.remarks.insert(result.remarks.end(), run->notes.begin(), run->notes.end());
    if (choice.is_of_time() && !first.is_error_known)
        result.remarks.push_back(first.tool == "libprofile" ? "how far the times of functions may be off by chance is not known here"
                                                            : "how far the times of this tool may be off by chance is not known");
    return result;
}

} // namespace libprofile::tools
