#include "tools/diagnosis/evidence.hpp"

#include "tools/analysis/inside.hpp"
#include "tools/analysis/sample_strata.hpp"
#include "tools/analysis/totals.hpp"
#include "tools/diagnosis/one_factor.hpp"
#include "tools/names/labels.hpp"
#include "tools/names/waiting.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace libprofile::tools {

namespace {

constexpr std::size_t most_ranks = 8;     // of either side: they stand for the others
constexpr std::size_t most_ranges = 64;   // of one rank, spread over the run
constexpr double same = 0.02;             // counts that differ by less are equal
constexpr double function_has = 0.6;      // of the excess: then a function has it
constexpr double function_has_more = 0.3; // of the excess, than its usual share

using Ranges = std::vector<IterationRange>;

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

/// Sums over some iterations of some ranks.
struct Sums {
    double iterations = 0;
    std::vector<double> spot_ns;
    std::map<std::uint32_t, double> path_ns;
    std::vector<double> node_ns;          // outside MPI, by node of the tree
    std::vector<SampledParts> sampled_at; // by node
    SampledStrata strata;
    double io = 0, calls = 0, bytes = 0, received = 0;
    double parts[5] = {};                      // computing, off CPU, file I/O, threads, other MPI
    std::map<std::uint32_t, double> as_source; // by spot

    double mean(std::uint32_t spot) const { return iterations == 0 ? 0 : spot_ns[spot] / iterations; }
    double per_iteration(double sum) const { return iterations == 0 ? 0 : sum / iterations; }
};

bool is_mpi(TimeCategory category) {
    const CatalogueId row = catalogue_of(category);
    return row >= CatalogueId::Mpi && row < CatalogueId::OpenMp;
}
bool is_threads(TimeCategory category) { return catalogue_of(category) >= CatalogueId::OpenMp && catalogue_of(category) <= CatalogueId::OmpTask; }
bool is_file(TimeCategory category) { return category == TimeCategory::MpiFile || category == TimeCategory::MpiFileColl; }
bool is_left_out(TimeCategory category) {
    return category == TimeCategory::Overhead || category == TimeCategory::NotRecorded || category == TimeCategory::MpiInitExit;
}

class Summer {
  public:
    Summer(const Profile& profile, const IterationMatrix& matrix, const NamedSpots& names) : profile_(profile), matrix_(matrix), names_(names) {}

    Sums empty() const {
        Sums sums;
        sums.spot_ns.resize(names_.table.spots.size());
        sums.node_ns.resize(names_.tree.nodes.size());
        sums.sampled_at.resize(names_.tree.nodes.size());
        return sums;
    }

    void add(Sums& to, std::size_t row, const Ranges& ranges) const {
        const Location& location = *matrix_.locations[row];
        if (matrix_.is_whole_run) {
            to.iterations += 1;
            for (const PhaseData& data : location.phases) {
                for_each_cell(data, [&](const Cell& cell) { add_cell(to, cell.path, cell.metric, static_cast<double>(cell.value)); });
                add_samples(to, sampled_selection(profile_, data));
            }
            return;
        }
        if (ranges.empty()) return;
        const WithInside with = cells_with_inside(profile_, location, *find_phase(&location, matrix_.phase), ranges, true);
        for (const IterationRange& range : ranges) to.iterations += static_cast<double>(range.last - range.first + 1);
        for (const auto& cells : with.cells)
            for (const SelectedCell& cell : cells) add_cell(to, cell.path, cell.metric, static_cast<double>(cell.value));
        for (const SampledSelection& selection : with.sampled) add_samples(to, selection);
    }

  private:
    void add_samples(Sums& to, const SampledSelection& selection) const {
        to.strata.add(selection,
                      [&](std::uint32_t path, std::uint32_t stratum, double ns) { add_part(to.sampled_at[names_.tree.node_of_path[path]], stratum, ns); });
    }
    void add_cell(Sums& to, std::uint32_t path, std::uint32_t metric, double value) const {
        const std::uint32_t spot = names_.table.of_path[path];
        if (metric == 0) {
            const TimeCategory category = category_of(profile_, profile_.paths[path]);
            if (is_left_out(category)) return;
            to.spot_ns[spot] += value;
            to.path_ns[path] += value;
            if (is_file(category) || !is_mpi(category)) to.node_ns[names_.tree.node_of_path[path]] += value;
            if (is_file(category) || (names_.is_io[path] && !is_mpi(category))) to.io += value;
            to.parts[is_file(category) ? 2 : is_mpi(category) ? 4 : is_threads(category) ? 3 : category == TimeCategory::OffCpu ? 1 : 0] += value;
            return;
        }
        if (metric >= metric_count) return;
        const auto id = static_cast<Metric>(metric);
        if (id == Metric::CollAsSource) to.as_source[spot] += value;
        for (const Metric count : {Metric::P2pSends, Metric::P2pRecvs, Metric::CollAsSource, Metric::CollAsDestination, Metric::CollExchanges,
                                   Metric::P2pSendSyncs, Metric::P2pRecvSyncs, Metric::CollSyncs})
            if (id == count) to.calls += value;
        for (const Metric bytes : {Metric::P2pBytesSent, Metric::P2pBytesReceived, Metric::CollBytesIn, Metric::CollBytesOut})
            if (id == bytes) to.bytes += value;
        if (id == Metric::P2pBytesReceived || id == Metric::CollBytesIn) to.received += value;
    }

    const Profile& profile_;
    const IterationMatrix& matrix_;
    const NamedSpots& names_;
};

std::vector<const Location*> main_threads_of(const Profile& profile) {
    std::vector<const Location*> list = main_threads(profile);
    std::erase(list, nullptr);
    return list;
}

/// Of a sum of parts; ns an iteration.
double error_of(const Sums& sums, const SampledParts& parts) {
    return sums.iterations == 0 || parts.empty() ? 0 : sampling_error(parts, sums.strata.list()) / sums.iterations;
}

/// In MPI without files, the largest first.
std::vector<SpotDifference> differences(const Profile& profile, const NamedSpots& names, const Sums& here, const Sums& there) {
    std::vector<SpotDifference> list;
    std::vector<std::uint32_t> place(names.table.spots.size(), static_cast<std::uint32_t>(-1));
    std::vector<double> most(names.table.spots.size());
    for (const auto& [path, ns] : here.path_ns) {
        const TimeCategory category = category_of(profile, profile.paths[path]);
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

/// Sums over a node and all below it.
std::vector<double> inclusive(const NamedSpots& names, std::vector<double> ns) {
    for (std::size_t n = ns.size(); n-- > 1;) ns[static_cast<std::size_t>(names.tree.nodes[n].parent)] += ns[n];
    return ns;
}

double error_below(const NamedSpots& names, const Sums& sums, std::uint32_t node) {
    std::vector<bool> is_below(names.tree.nodes.size());
    is_below[node] = true;
    SampledParts parts = sums.sampled_at[node];
    for (std::size_t n = node + 1; n < is_below.size(); ++n) {
        if (!is_below[static_cast<std::size_t>(names.tree.nodes[n].parent)]) continue;
        is_below[n] = true;
        add_parts(parts, sums.sampled_at[n]);
    }
    return error_of(sums, parts);
}

/// From the outermost function down, as long as one of those that are called has most of the excess; or clearly more of it than its usual share, and
/// the others do not: iterations of one cluster share their samples, which hides a part of what they differ by.
class HotFunctionSearch {
  public:
    HotFunctionSearch(const NamedSpots& names, const Sums& here, const Sums& there, double excess, double usual)
        : names_(names), here_(here), there_(there), more_(inclusive(names, here.node_ns)), less_(inclusive(names, there.node_ns)), excess_(excess),
          usual_(usual <= 0 ? 0 : excess / usual) {}

    HotFunction find() const {
        std::uint32_t found = 0;
        for (std::uint32_t at = 0; excess_ > 0 && (at = next(at)) != 0;) {
            // What the kernel or the C library does is less than who asks for it.
            const NodeKind kind = names_.tree.nodes[at].kind;
            if ((kind == NodeKind::Frame || kind == NodeKind::Python) && !names_.is_system[at]) found = at;
        }
        if (found == 0) return {};
        return {found, here_.per_iteration(more_[found]), there_.per_iteration(less_[found]), error(found)};
    }

  private:
    double difference(std::uint32_t n) const { return here_.per_iteration(more_[n]) - there_.per_iteration(less_[n]); }
    double surplus(std::uint32_t n) const { return difference(n) - usual_ * there_.per_iteration(less_[n]); }
    /// Of the function itself, without what it calls.
    double own_surplus(std::uint32_t n) const {
        const double there = there_.per_iteration(there_.node_ns[n]);
        return here_.per_iteration(here_.node_ns[n]) - there - usual_ * there;
    }
    double error(std::uint32_t n) const { return std::hypot(error_below(names_, here_, n), error_below(names_, there_, n)); }

    std::uint32_t next(std::uint32_t at) const {
        std::uint32_t most = 0, first = 0, second = 0;
        for (const std::uint32_t n : names_.tree.nodes[at].children) {
            if (most == 0 || difference(n) > difference(most)) most = n;
            if (first == 0 || surplus(n) > surplus(first)) {
                second = first;
                first = n;
            } else if (second == 0 || surplus(n) > surplus(second)) {
                second = n;
            }
        }
        if (most == 0 || difference(most) >= function_has * excess_) return most;
        const double rest = std::max(second == 0 ? 0 : surplus(second), own_surplus(at));
        const bool is_alone = rest <= 0.5 * surplus(first);
        return is_alone && surplus(first) >= function_has_more * excess_ && surplus(first) > 1.5 * error(first) ? first : 0;
    }

    const NamedSpots& names_;
    const Sums& here_;
    const Sums& there_;
    const std::vector<double> more_, less_; // by node, with all below it
    const double excess_, usual_;
};

/// Cuts the call tree into functions with enough of the time, each with all that it calls but what is cut off below. By call path: a function
/// that all others call is longer where one of them has more work, and would hide that.
class TreeCut {
  public:
    TreeCut(const NamedSpots& names, const Sums& here, const Sums& there)
        : names_(names), here_(here), there_(there), parts_here_(here.sampled_at), parts_there_(there.sampled_at), open_(names.tree.nodes.size()) {
        const auto& nodes = names_.tree.nodes;
        for (std::size_t n = 1; n < nodes.size(); ++n)
            if (is_code(nodes[n].kind)) all_ += open_[n] = {here_.per_iteration(here_.node_ns[n]), there_.per_iteration(there_.node_ns[n])};
        for (std::size_t n = nodes.size(); n-- > 1;) close(n);
    }

    double here() const { return all_.here; }
    double there() const { return all_.there; }
    const std::vector<ComparedFunction>& functions() const { return functions_; }

  private:
    static constexpr double enough = 0.03; // of the time of either side
    struct Means {
        double here = 0, there = 0; // ns an iteration
        void operator+=(const Means& more) { here += more.here, there += more.there; }
    };

    bool is_enough(const Means& means) const { return means.here >= enough * all_.here || means.there >= enough * all_.there; }

    /// A node's rest becomes a function, or its caller's.
    void close(std::size_t n) {
        if (is_enough(open_[n])) {
            constexpr double deviations = 1.96; // that sampling errors hold
            const double error = std::hypot(error_of(here_, parts_here_[n]), error_of(there_, parts_there_[n])) / deviations;
            functions_.push_back({open_[n].here, open_[n].there, error});
            return;
        }
        const auto parent = static_cast<std::size_t>(names_.tree.nodes[n].parent);
        open_[parent] += open_[n];
        add_parts(parts_here_[parent], parts_here_[n]);
        add_parts(parts_there_[parent], parts_there_[n]);
    }

    const NamedSpots& names_;
    const Sums& here_;
    const Sums& there_;
    std::vector<SampledParts> parts_here_, parts_there_; // by node, with what was closed below it
    std::vector<Means> open_;                            // the same
    Means all_;
    std::vector<ComparedFunction> functions_;
};

/// All functions longer by one factor: what a slow processor does, and more work in one function does not.
void compare_factors(const NamedSpots& names, const Sums& here, const Sums& there, Evidence& e) {
    const TreeCut cut(names, here, there);
    if (cut.there() <= 0 || cut.here() <= cut.there()) return;
    e.factor = cut.here() / cut.there();
    e.odds_of_one_factor = odds_of_one_factor(cut.functions());
}

/// Iterations in which another suspect has excess, unless it has that in most of them; none if that leaves too few at either end.
std::vector<bool> with_another_excess(const Suspect& suspect, const std::vector<Suspect>& all) {
    const std::size_t n = suspect.pattern.excess.size();
    std::vector<bool> is_other(n);
    for (const Suspect& other : all) {
        const std::vector<float>& excess = other.pattern.excess;
        const auto with = static_cast<std::size_t>(std::count_if(excess.begin(), excess.end(), [](float x) { return x > 0; }));
        if (&other == &suspect || excess.size() != n || with * 2 > n) continue;
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

NamedSpots::NamedSpots(const Profile& profile)
    : table(spot_table(profile)), tree(make_function_tree(profile, main_threads_of(profile), true, "")), is_io(profile.paths.size()),
      is_system(tree.nodes.size()) {
    for (std::size_t p = 1; p < profile.paths.size(); ++p) {
        const CallPath& path = profile.paths[p];
        is_io[p] = is_io[path.parent];
        if (!is_code(path.kind)) continue;
        const Label label = label_of(profile, path);
        const std::string module = base_name(label.module);
        if (!is_io[p]) is_io[p] = waiting_kind(short_function_name(label.name), module) == "I/O";
        for (const char* system : {"linux-vdso", "libc.so", "libc-", "ld-linux"})
            if (module.starts_with(system)) is_system[tree.node_of_path[p]] = true;
    }
}

bool Evidence::same_calls() const {
    const auto is_same = [](double a, double b) { return std::abs(a - b) <= same * std::max(a, b); };
    return is_same(calls_here, calls_there) && is_same(bytes_here, bytes_there);
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
    e.compares_ranks = is_always && !others.empty();
    if (e.compares_ranks) there_rows = some_of(others);

    const Summer summer(profile, matrix, names);
    Sums here = summer.empty(), there = summer.empty(), waiting = summer.empty();
    const Ranges all = ranges_of(matrix, [](std::size_t) { return true; });
    for (const std::size_t row : here_rows) summer.add(here, row, ranges_of(matrix, [&](std::size_t i) { return is_here(row, i); }));
    for (const std::size_t row : there_rows)
        summer.add(there, row, e.compares_ranks ? all : ranges_of(matrix, [&](std::size_t i) { return is_there(row, i); }));
    for (const std::size_t row : some_of(others))
        if (!e.compares_ranks) summer.add(waiting, row, ranges_of(matrix, [&](std::size_t i) { return is_here(suspect.rows[0], i); }));
    if (e.compares_ranks) waiting = there;

    const auto mean_excess = [&](auto is_wanted) {
        double sum = 0, count = 0;
        for (const std::size_t row : here_rows)
            for (std::size_t i = 0; i < n; ++i) {
                if (!is_wanted(row, i)) continue;
                sum += excess(row, i);
                ++count;
            }
        return count == 0 ? 0 : sum / count;
    };
    e.expected = mean_excess(is_here) - (e.compares_ranks ? 0 : mean_excess(is_there));

    const auto difference = [&](std::size_t part) { return here.per_iteration(here.parts[part]) - there.per_iteration(there.parts[part]); };
    e.off_cpu = difference(1);
    e.file_io = difference(2);
    e.threads = difference(3);
    e.mpi = difference(4);
    for (std::size_t part = 0; part < 4; ++part) {
        e.local_here += here.per_iteration(here.parts[part]);
        e.local_there += there.per_iteration(there.parts[part]);
    }
    e.io = here.per_iteration(here.io) - there.per_iteration(there.io);
    e.calls_here = here.per_iteration(here.calls);
    e.calls_there = there.per_iteration(there.calls);
    e.bytes_here = here.per_iteration(here.bytes);
    e.bytes_there = there.per_iteration(there.bytes);
    e.received_here = here.per_iteration(here.received);
    e.received_there = there.per_iteration(there.received);
    e.received_by_others = waiting.per_iteration(waiting.received);
    e.function = HotFunctionSearch(names, here, there, e.excess(), e.local_there).find();
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
