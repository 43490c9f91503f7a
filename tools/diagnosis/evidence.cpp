#include "tools/diagnosis/evidence.hpp"

#include "tools/analysis/totals.hpp"
#include "tools/diagnosis/iteration_sums.hpp"
#include "tools/diagnosis/own_work.hpp"
#include "tools/diagnosis/tree_cut.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

namespace libprofile::tools {

namespace {

constexpr std::size_t most_ranks = 8;         // of either side: they stand for the others
constexpr std::size_t most_ranges = 64;       // of one rank, spread over the run
constexpr double same = 0.02;                 // counts that differ by less are equal
constexpr double most_change_of_others = 0.5; // of the excess
constexpr double doubt = 1.5;                 // times the error that samples have which are shared with iterations without the excess

/// Runs of iterations that `is_wanted`, counted from the phase's first; some of them if there are many.
template <class Wanted> Ranges ranges_of(const IterationMatrix& matrix, Wanted is_wanted) {
    Ranges all;
    for (std::size_t i = 0; i < matrix.iterations(); ++i) {
        if (!is_wanted(i)) continue;
        const std::uint64_t number = matrix.first + i;
        if (!all.empty() && all.back().last + 1 == number)
            all.back().last = number;
        else
            all.push_back({number, number});
    }
    if (all.size() <= most_ranges) return all;
    Ranges some;
    for (std::size_t k = 0; k < most_ranges; ++k) some.push_back(all[k * all.size() / most_ranges]);
    return some;
}

std::vector<std::size_t> some_of(const std::vector<std::size_t>& rows) {
    if (rows.size() <= most_ranks) return rows;
    std::vector<std::size_t> some;
    for (std::size_t k = 0; k < most_ranks; ++k) some.push_back(rows[k * rows.size() / most_ranks]);
    return some;
}

/// In MPI without files, the largest first.
std::vector<SpotDifference> differences(const Profile& profile, const NamedSpots& names, const IterationSums& here, const IterationSums& there) {
    std::vector<SpotDifference> list;
    std::vector<std::uint32_t> place(names.table.spots.size(), static_cast<std::uint32_t>(-1));
    std::vector<double> most(names.table.spots.size());
    for (const auto& [path, ns] : here.path_ns) {
        const TimeCategory category = work_category(profile, profile.paths[path]);
        if (!is_mpi(category) || is_file(category)) continue;
        const std::uint32_t spot = names.table.of_path[path];
        if (place[spot] == static_cast<std::uint32_t>(-1)) {
            place[spot] = static_cast<std::uint32_t>(list.size());
            list.push_back({spot, here.mean(spot), there.mean(spot), path});
        }
        const auto other = there.path_ns.find(path);
        const double difference = here.per_iteration(ns) - (other == there.path_ns.end() ? 0 : there.per_iteration(other->second));
        if (difference <= most[spot]) continue;
        most[spot] = difference;
        list[place[spot]].path = path;
    }
    std::stable_sort(list.begin(), list.end(), [](const SpotDifference& a, const SpotDifference& b) { return a.difference() > b.difference(); });
    return list;
}

/// All functions longer by one factor: what a slow processor does, and more work in one function does not.
void compare_factors(const NamedSpots& names, const IterationSums& here, const IterationSums& there, Evidence& e) {
    constexpr double least = 0.5; // of the excess: else it is no code's, but MPI's own work or sleep
    const TreeCut cut = cut_tree(names, here, there);
    if (cut.there <= 0) return;
    if (cut.here <= cut.there || cut.here - cut.there < least * e.excess()) {
        e.odds_of_one_factor = 0;
        return;
    }
    e.factor = cut.here / cut.there;
    e.odds_of_one_factor = odds_of_one_factor(cut.functions);
}

/// Iterations of one cluster share their samples. Where some of them have the excess and others do not, only other ranks tell what it is: if they have
/// less by just the excess, and the function is beyond doubt.
std::optional<HotFunction> function_of_ranks(const NamedSpots& names, const IterationSums& own, const IterationSums& theirs, double excess) {
    constexpr double least = 0.7, most = 1.4;
    const double more = own.local() - theirs.local();
    if (more < least * excess || more > most * excess) return std::nullopt;
    HotFunction function = find_hot_function(names, own, theirs, excess, theirs.local());
    function.is_of_ranks = true;
    if (!function.tells() || function.difference() > most * excess || function.difference() < doubt * function.error) return std::nullopt;
    return function;
}

/// Whether a rank of the suspect has another excess, too.
bool has_another(const Suspect& suspect, const std::vector<Suspect>& all) {
    return std::any_of(all.begin(), all.end(), [&](const Suspect& other) {
        return &other != &suspect && std::any_of(suspect.rows.begin(), suspect.rows.end(),
                                                 [&](std::size_t row) { return std::find(other.rows.begin(), other.rows.end(), row) != other.rows.end(); });
    });
}

/// Iterations in which another suspect has excess, unless it has that in most of them; none if that leaves too few at either end.
std::vector<bool> with_another_excess(const Suspect& suspect, const std::vector<Suspect>& all) {
    const std::size_t n = suspect.pattern.excess.size();
    std::vector<bool> is_other(n);
    for (const Suspect& other : all) {
        const std::vector<float>& excess = other.pattern.excess;
        if (&other == &suspect || excess.size() != n || other.pattern.iterations() * 2 > n) continue;
        for (std::size_t i = 0; i < n; ++i) is_other[i] = is_other[i] || excess[i] > 0;
    }
    const auto tenth = static_cast<std::ptrdiff_t>(n / 10);
    const auto left = std::min(std::count(is_other.begin(), is_other.begin() + tenth, false), std::count(is_other.end() - tenth, is_other.end(), false));
    return left * 5 < tenth || left == 0 ? std::vector<bool>(n) : is_other;
}

/// Whether a rank is longer in MPI than the suspect in the suspect's iterations, by half of the excess or more.
bool waits_for(const IterationMatrix& matrix, const Suspect& suspect, std::size_t rank) {
    double waited = 0, excess = 0;
    for (std::size_t i = 0; i < matrix.iterations(); ++i) {
        if (suspect.pattern.excess[i] <= 0) continue;
        waited += matrix.at(IterationPart::Mpi, rank, i) - matrix.at(IterationPart::Mpi, suspect.rows[0], i);
        excess += suspect.pattern.excess[i];
    }
    return waited > 0.5 * excess;
}

} // namespace

bool Evidence::same_calls() const {
    const auto is_same = [](double a, double b) { return std::abs(a - b) <= same * std::max(a, b); };
    return is_same(calls_here, calls_there) && is_same(bytes_here, bytes_there);
}

bool Evidence::is_mostly_computing() const {
    constexpr double hardly = 0.25; // of the excess
    double other = 0;
    for (const double part : {off_cpu, file_io, threads}) other += std::max(0.0, part);
    return excess() <= 0 || other <= hardly * excess();
}

Evidence evidence_of(const Profile& profile, const IterationMatrix& matrix, const Suspect& suspect, const NamedSpots& names,
                     const std::vector<Suspect>& all_suspects) {
    Evidence e;
    const std::size_t n = matrix.iterations();
    std::vector<const std::vector<float>*> excess_of(matrix.ranks());
    if (suspect.kind != SuspectKind::UnevenRanks)
        for (const RankExcess& part : suspect.parts) excess_of[part.rank] = &part.ns;
    std::vector<bool> is_suspect(matrix.ranks());
    for (const std::size_t row : suspect.rows) is_suspect[row] = true;
    const bool is_always = suspect.pattern.kind == PatternKind::Steady && suspect.kind != SuspectKind::MovingRank;
    const bool is_growing = suspect.pattern.kind == PatternKind::Growing, is_shrinking = suspect.pattern.kind == PatternKind::Shrinking;
    const auto excess = [&](std::size_t row, std::size_t i) { return excess_of[row] == nullptr ? suspect.pattern.excess[i] : (*excess_of[row])[i]; };
    // What grows is compared with its beginning, what shrinks with its end, without iterations that are long for another reason.
    const std::vector<bool> is_other = is_growing || is_shrinking ? with_another_excess(suspect, all_suspects) : std::vector<bool>(n);
    const auto is_here = [&](std::size_t row, std::size_t i) {
        return is_always || (!is_other[i] && (is_growing ? i * 10 >= n * 7 : is_shrinking ? i * 10 < n * 3 : excess(row, i) > 0));
    };
    const auto is_there = [&](std::size_t row, std::size_t i) {
        return !is_other[i] && (is_growing ? i * 10 < n : is_shrinking ? i * 10 >= n * 9 : excess(row, i) <= 0);
    };

    std::vector<std::size_t> here_rows = some_of(suspect.rows), there_rows = here_rows, others;
    for (std::size_t r = 0; r < matrix.ranks(); ++r)
        if (!is_suspect[r]) others.push_back(r);
    for (const std::size_t other : others) e.waiting_ranks += waits_for(matrix, suspect, other) ? 1 : 0;
    if (suspect.kind == SuspectKind::UnevenRanks) {
        std::vector<std::size_t> order(matrix.ranks());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::vector<double> local(matrix.ranks());
        for (std::size_t r = 0; r < matrix.ranks(); ++r)
            for (std::size_t i = 0; i < n; ++i) local[r] += matrix.local(r, i);
        std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return local[a] > local[b]; });
        const std::size_t quarter = std::max<std::size_t>(1, order.size() / 4);
        here_rows = some_of({order.begin(), order.begin() + static_cast<std::ptrdiff_t>(quarter)});
        others.assign(order.end() - static_cast<std::ptrdiff_t>(quarter), order.end());
    }
    const auto mean_of = [&](const std::vector<std::size_t>& rows, auto is_wanted, auto value) {
        double sum = 0, count = 0;
        for (const std::size_t row : rows)
            for (std::size_t i = 0; i < n; ++i) {
                if (!is_wanted(row, i)) continue;
                sum += value(row, i);
                ++count;
            }
        return count == 0 ? 0 : sum / count;
    };
    const auto mean_excess = [&](auto is_wanted) { return mean_of(here_rows, is_wanted, excess); };
    // Where the others change, too, a rank's other iterations do not tell what it has more than they.
    const auto others_change = [&] {
        const auto of_suspect = [&](auto is_wanted) {
            return mean_of(
                some_of(others), [&](std::size_t, std::size_t i) { return is_wanted(suspect.rows[0], i); },
                [&](std::size_t row, std::size_t i) { return matrix.local(row, i); });
        };
        return std::abs(of_suspect(is_here) - of_suspect(is_there)) > most_change_of_others * (mean_excess(is_here) - mean_excess(is_there));
    };
    e.compares_ranks = !others.empty() && (is_always || (suspect.kind == SuspectKind::FewRanks && others_change()));
    if (e.compares_ranks) there_rows = some_of(others);

    const Summer summer(profile, matrix, names);
    IterationSums here = summer.empty(), there = summer.empty(), waiting = summer.empty();
    const Ranges all = ranges_of(matrix, [](std::size_t) { return true; }),
                 of_suspect = ranges_of(matrix, [&](std::size_t i) { return is_here(suspect.rows[0], i); });
    for (const std::size_t row : here_rows) summer.add(here, row, ranges_of(matrix, [&](std::size_t i) { return is_here(row, i); }));
    for (const std::size_t row : there_rows)
        summer.add(there, row, e.compares_ranks ? of_suspect : ranges_of(matrix, [&](std::size_t i) { return is_there(row, i); }));
    for (const std::size_t row : some_of(others))
        if (!e.compares_ranks) summer.add(waiting, row, of_suspect);
    if (e.compares_ranks) waiting = there;

    e.expected = mean_excess(is_here) - (e.compares_ranks ? 0 : mean_excess(is_there));

    const auto difference = [&](std::size_t part) { return here.per_iteration(here.parts[part]) - there.per_iteration(there.parts[part]); };
    e.off_cpu = difference(1);
    e.file_io = difference(2);
    e.threads = difference(3);
    e.mpi = difference(4);
    e.mpi_there = there.per_iteration(there.parts[4]);
    e.local_here = here.local();
    e.local_there = there.local();
    e.io = here.per_iteration(here.io) - there.per_iteration(there.io);
    if (e.off_cpu > 0.5 * e.excess()) e.files = file_wait(names, here, there, e.off_cpu);
    e.calls_here = here.per_iteration(here.calls);
    e.calls_there = there.per_iteration(there.calls);
    e.instructions_here = here.per_iteration(here.instructions);
    e.instructions_there = there.per_iteration(there.instructions);
    e.bytes_here = here.per_iteration(here.bytes);
    e.bytes_there = there.per_iteration(there.bytes);
    e.received_here = here.per_iteration(here.received);
    e.received_there = there.per_iteration(there.received);
    e.received_by_others = waiting.per_iteration(waiting.received);
    std::optional<HotFunction> of_ranks;
    if (suspect.kind == SuspectKind::FewRanks && suspect.pattern.kind != PatternKind::Scattered && !e.compares_ranks && !others.empty() &&
        !has_another(suspect, all_suspects)) {
        IterationSums own = summer.empty(), theirs = summer.empty();
        for (const std::size_t row : here_rows) summer.add(own, row, all);
        for (const std::size_t row : some_of(others)) summer.add(theirs, row, all);
        of_ranks = function_of_ranks(names, own, theirs, mean_excess([](std::size_t, std::size_t) { return true; }));
    }
    if (of_ranks) {
        e.function = *of_ranks;
    } else {
        const HotFunction f = find_hot_function(names, here, there, e.excess(), e.local_there);
        // Iterations of one cluster have the same mix of functions: what has its usual share of the growth is not what grows.
        const double usual = f.usual <= 0 ? 0 : f.there / f.usual * e.excess();
        const bool is_usual = (is_growing || is_shrinking) && f.difference() - usual < 0.1 * e.excess();
        const bool is_doubtful = suspect.kind == SuspectKind::MovingRank && f.difference() < doubt * f.error;
        if (!is_usual && !is_doubtful) e.function = f;
    }
    if (const GrowingFunction& told = suspect.function; told.node != 0) {
        const double usual = told.share * e.local_there;
        e.function = {told.node, usual + e.expected, usual, 1.96 * told.error * e.expected, e.local_there, false};
    }
    e.mpi_of_all = differences(profile, names, here, there);
    if (!others.empty()) {
        e.waits = differences(profile, names, waiting, here);
        std::erase_if(e.waits, [](const SpotDifference& one) { return one.difference() <= 0; });
        if (!e.waits.empty()) {
            const auto at = here.as_source.find(e.waits[0].spot), not_at = waiting.as_source.find(e.waits[0].spot);
            e.is_root = at != here.as_source.end() && at->second > 0 && (not_at == waiting.as_source.end() || not_at->second == 0);
        }
    }
    compare_factors(names, here, there, e);

    // What the others wait in these iterations and the next ones: ranks may meet at the beginning of an iteration.
    double expected = 0, seen = 0;
    for (std::size_t i = 0; i < n && suspect.kind != SuspectKind::AllRanks && suspect.kind != SuspectKind::Communication; ++i) {
        const bool counts = is_always || suspect.pattern.excess[i] > 0 || (i > 0 && suspect.pattern.excess[i - 1] > 0);
        if (!counts) continue;
        double longest = 0, least = std::numeric_limits<double>::max();
        for (std::size_t r = 0; r < matrix.ranks(); ++r) {
            longest = std::max(longest, matrix.local(r, i));
            least = std::min<double>(least, matrix.at(IterationPart::Mpi, r, i));
        }
        for (std::size_t r = 0; r < matrix.ranks(); ++r) {
            expected += longest - matrix.local(r, i);
            seen += matrix.at(IterationPart::Mpi, r, i) - least;
        }
    }
    e.coupling = expected <= 0 ? 1 : std::min(1.0, seen / expected);
    return e;
}

} // namespace libprofile::tools
