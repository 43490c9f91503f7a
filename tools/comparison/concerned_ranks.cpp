#include "tools/comparison/concerned_ranks.hpp"

#include "tools/comparison/rank_parts.hpp"
#include "tools/comparison/run_values.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace libprofile::tools {

namespace {

constexpr std::size_t looked_at_by_rank = 50; // activities with the largest differences
constexpr double concentrated = 3;            // times as large a difference on some ranks as on the others
constexpr double least_cause = 0.25;          // of a wait, that has to be known to say what it waits for
constexpr double explained = 0.5;             // of what some ranks take longer, the others wait so much more than these

/// In ascending order.
std::vector<std::uint32_t> positions_in(const std::vector<RankPart>& parts, std::span<const std::uint32_t> some, std::vector<std::uint32_t> RankPart::*side) {
    std::vector<std::uint32_t> positions;
    for (const std::uint32_t part : some) positions.insert(positions.end(), (parts[part].*side).begin(), (parts[part].*side).end());
    std::sort(positions.begin(), positions.end());
    return positions;
}

/// The parts with nearly all of a difference, those with most first; empty: all have some, or it is mixed.
/// @param difference by part, counted in the direction of their sum
std::vector<std::uint32_t> concerned_ranks(const std::vector<double>& difference) {
    std::vector<std::uint32_t> order(difference.size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return difference[a] > difference[b]; });
    std::size_t best = 0;
    double widest = 0;
    for (std::size_t k = 1; k < order.size(); ++k)
        if (const double gap = difference[order[k - 1]] - difference[order[k]]; gap > widest) {
            widest = gap;
            best = k;
        }
    if (best == 0) return {};
    double inside = 0, outside = 0;
    for (std::size_t i = 0; i < order.size(); ++i) (i < best ? inside : outside) += i < best ? difference[order[i]] : std::abs(difference[order[i]]);
    inside /= static_cast<double>(best);
    outside /= static_cast<double>(order.size() - best);
    if (inside < concentrated * outside) return {};
    order.resize(best);
    return order;
}

/// Differences part by part.
class ByPart {
  public:
    ByPart(const RunGroup& before, const RunGroup& after, const std::vector<RankPart>& parts, std::span<const std::uint32_t> row_of, std::size_t rows)
        : parts_(parts) {
        for (const Run& run : before.runs) before_.push_back(values_by_rank(run, run.frame.columns.front(), row_of, rows));
        for (const Run& run : after.runs) after_.push_back(values_by_rank(run, run.frame.columns.front(), row_of, rows));
    }
    std::vector<double> differences(std::size_t row) const {
        std::vector<double> result;
        for (const RankPart& part : parts_) {
            double& difference = result.emplace_back(0);
            for (const RankValues& run : after_) difference += run.mean(row, part.after).value / static_cast<double>(after_.size());
            for (const RankValues& run : before_) difference -= run.mean(row, part.before).value / static_cast<double>(before_.size());
        }
        return result;
    }
    /// Mean over the ranks of some parts.
    Change change(std::size_t row, std::span<const std::uint32_t> parts) const {
        const std::vector<std::uint32_t> of_before = positions_in(parts_, parts, &RankPart::before), of_after = positions_in(parts_, parts, &RankPart::after);
        std::vector<RunValue> a, b;
        for (const RankValues& run : before_) a.push_back(run.mean(row, of_before));
        for (const RankValues& run : after_) b.push_back(run.mean(row, of_after));
        return change_between(a, b);
    }

  private:
    const std::vector<RankPart>& parts_;
    std::vector<RankValues> before_, after_;
};

double mean_at(const std::vector<double>& values, const std::vector<bool>& chosen, bool wanted) {
    double sum = 0, n = 0;
    for (std::size_t i = 0; i < values.size(); ++i)
        if (chosen[i] == wanted) {
            sum += values[i];
            ++n;
        }
    return n == 0 ? 0 : sum / n;
}

} // namespace

void find_concerned_ranks(const RunGroup& before, const RunGroup& after, const Activities& activities, GroupComparison& result) {
    const std::vector<RankPart> parts = rank_parts(before, after);
    if (parts.size() < 2) return;
    const std::vector<std::uint32_t> names_before = ranks_of(before.runs.front()), names_after = ranks_of(after.runs.front());
    const std::size_t looked_at = std::min(looked_at_by_rank, result.activities.size());
    std::vector<std::uint32_t> row_of_activity(activities.list.size(), no_row), row_of(activities.of_node.size(), no_row), waiting(row_of.size(), no_row);
    for (std::uint32_t row = 0; row < looked_at; ++row) row_of_activity[activities.of_node[result.activities[row].activity.node]] = row;
    for (std::size_t n = 0; n < row_of.size(); ++n) {
        row_of[n] = row_of_activity[activities.of_node[n]];
        if (activities.list[activities.of_node[n]].use == TimeUse::Waiting) waiting[n] = 0;
    }
    const ByPart by_part(before, after, parts, row_of, looked_at);
    const std::vector<double> waits = ByPart(before, after, parts, waiting, 1).differences(0);
    for (std::uint32_t row = 0; row < looked_at; ++row) {
        ActivityChange& one = result.activities[row];
        std::vector<double> difference = by_part.differences(row);
        if (one.change.difference() < 0)
            for (double& d : difference) d = -d;
        one.is_everywhere = std::all_of(difference.begin(), difference.end(), [](double d) { return d > 0; });
        std::vector<std::uint32_t> concerned = concerned_ranks(difference);
        if (concerned.empty()) continue;
        std::sort(concerned.begin(), concerned.end());
        const Change there = by_part.change(row, concerned);
        if (there.is_chance()) continue;
        one.there = there;
        std::vector<bool> is_in(difference.size());
        for (const std::uint32_t part : concerned) is_in[part] = true;
        for (const std::uint32_t position : positions_in(parts, concerned, &RankPart::before)) one.ranks.push_back(names_before[position]);
        for (const std::uint32_t position : positions_in(parts, concerned, &RankPart::after)) one.ranks_after.push_back(names_after[position]);
        const bool takes_longer = there.difference() > 0 && one.activity.use != TimeUse::Waiting;
        one.is_waited_for = takes_longer && mean_at(waits, is_in, false) - mean_at(waits, is_in, true) >= explained * there.difference();
    }
    const auto wait = std::find_if(result.activities.begin(), result.activities.end(), [](const ActivityChange& one) {
        return one.activity.use == TimeUse::Waiting && one.change.difference() > 0 && !one.change.is_chance();
    });
    double caused = 0; // of the wait, by what is on other ranks
    for (ActivityChange& one : result.activities) {
        one.is_waited_for = one.is_waited_for && wait != result.activities.end() && (wait->ranks.empty() || wait->ranks != one.ranks);
        if (one.is_waited_for) caused += one.there.difference();
    }
    if (caused == 0) return;
    wait->waits = caused >= least_cause * wait->there.difference();
    if (wait->waits) return;
    for (ActivityChange& one : result.activities) one.is_waited_for = false;
}

} // namespace libprofile::tools
