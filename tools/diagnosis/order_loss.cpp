#include "tools/diagnosis/order_loss.hpp"

#include "tools/analysis/in_parallel.hpp"
#include "tools/analysis/inside.hpp"
#include "tools/analysis/totals.hpp"
#include "tools/diagnosis/levels.hpp"
#include "tools/diagnosis/message_partners.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace libprofile::tools {

namespace {

/// Bytes may be on their way for so long, however early the other side is: a slow network, or memory that others use, too.
constexpr double most_ns_a_byte = 1;

/// Times in MPI and roots of all ranks, by spot.
struct MpiTimes {
    std::vector<std::vector<double>> ns;       // by spot, then row
    std::vector<std::vector<double>> transfer; // for so long bytes may have been on their way
    std::vector<std::vector<bool>> is_root;
    std::vector<std::uint32_t> path; // with most time
    std::vector<TimeCategory> category;
};

MpiTimes times_of(const Profile& profile, const IterationMatrix& matrix, const NamedSpots& names) {
    const std::size_t spots = names.table.spots.size(), ranks = matrix.ranks();
    MpiTimes times{std::vector(spots, std::vector<double>()), std::vector(spots, std::vector<double>()), std::vector(spots, std::vector<bool>()),
                   std::vector<std::uint32_t>(spots), std::vector<TimeCategory>(spots, TimeCategory::Compute)};
    std::vector<double> most(profile.paths.size());
    const auto add = [&](std::size_t row, std::uint32_t path, std::uint32_t metric, double value) {
        const TimeCategory category = category_of(profile, profile.paths[path]);
        const CatalogueId id = catalogue_of(category);
        if (id < CatalogueId::MpiSync || id > CatalogueId::MpiOneSided) return; // neither start and end nor files
        const std::uint32_t spot = names.table.of_path[path];
        if (times.ns[spot].empty()) {
            times.ns[spot].resize(ranks);
            times.transfer[spot].resize(ranks);
            times.is_root[spot].resize(ranks);
            times.path[spot] = path;
        }
        times.category[spot] = category;
        if (metric == static_cast<std::uint32_t>(Metric::CollAsSource) && value > 0) times.is_root[spot][row] = true;
        for (const Metric bytes : {Metric::P2pBytesSent, Metric::P2pBytesReceived, Metric::CollBytesIn, Metric::CollBytesOut})
            if (static_cast<Metric>(metric) == bytes) times.transfer[spot][row] += value * most_ns_a_byte;
        if (metric != 0) return;
        times.ns[spot][row] += value;
        most[path] += value;
        if (most[path] > most[times.path[spot]]) times.path[spot] = path;
    };
    for (std::size_t r = 0; r < ranks; ++r) {
        const Location& location = *matrix.locations[r];
        if (matrix.is_whole_run) {
            for (const PhaseData& data : location.phases)
                for_each_cell(data, [&](const Cell& cell) { add(r, cell.path, cell.metric, static_cast<double>(cell.value)); });
            continue;
        }
        const IterationRange range[] = {{matrix.first, matrix.first + matrix.iterations() - 1}};
        const WithInside with = cells_with_inside(profile, location, *find_phase(&location, matrix.phase), range);
        for (const SelectedCell& cell : with.cells[0]) add(r, cell.path, cell.metric, static_cast<double>(cell.value));
    }
    for (std::size_t spot = 0; spot < spots; ++spot)
        for (std::size_t r = 0; r < times.ns[spot].size(); ++r)
            if (has_only_itself_there(*matrix.locations[r], names.table, static_cast<std::uint32_t>(spot))) times.ns[spot][r] = 0;
    return times;
}

/// Who waits at a spot, and for whom.
OrderLoss loss_at(const MpiTimes& times, std::size_t spot) {
    OrderLoss loss;
    loss.spot = static_cast<std::uint32_t>(spot);
    loss.path = times.path[spot];
    const std::vector<double>& there = times.ns[spot];
    const double least = *std::min_element(there.begin(), there.end());
    loss.waiting = *std::max_element(there.begin(), there.end()) - least;
    for (std::size_t r = 0; r < there.size(); ++r) {
        (there[r] - least > loss.waiting / 2 ? loss.waits : loss.late).push_back(r);
        if (times.is_root[spot][r]) loss.root.push_back(r);
    }
    return loss;
}

/// What the rank that waits least waits longer than the root does; 0 if there is not one root.
double held_up_by_root(const std::vector<double>& times, const std::vector<bool>& is_root) {
    double root = 0, least = std::numeric_limits<double>::max();
    for (std::size_t r = 0; r < times.size(); ++r) {
        if (is_root[r])
            root += times[r];
        else
            least = std::min(least, times[r]);
    }
    return std::count(is_root.begin(), is_root.end(), true) == 1 ? std::max(0.0, least - root) : 0;
}

/// Each rank waits somewhat longer than the one before it, or somewhat less; not some of them, and the others not at all.
bool take_turns(const std::vector<double>& times) {
    constexpr std::size_t fewest_ranks = 4;
    constexpr double in_order = 0.85; // rank correlation
    const std::size_t n = times.size();
    std::vector<std::size_t> order(n);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return times[a] < times[b]; });
    const double least = times[order.front()], largest = times[order.back()] - least;
    if (n < fewest_ranks || largest <= 0 || times[order[n * 3 / 4]] - times[order[n / 4]] < 0.25 * largest) return false;
    double squares = 0;
    for (std::size_t k = 0; k < n; ++k)
        squares += (static_cast<double>(order[k]) - static_cast<double>(k)) * (static_cast<double>(order[k]) - static_cast<double>(k));
    const double size = static_cast<double>(n), correlation = 1 - 6 * squares / (size * (size * size - 1)); // Spearman, Am. J. Psychol. 15 (1904)
    return std::abs(correlation) >= in_order;
}

bool receives(const std::string& function) { return function.find("ecv") != std::string::npos; }
bool sends(const std::string& function) { return function.find("end") != std::string::npos; }

} // namespace

std::optional<OrderLoss> order_loss(const Profile& profile, const IterationMatrix& matrix, const NamedSpots& names, double least_sum, double told) {
    const std::size_t ranks = matrix.ranks();
    if (ranks < 2 || matrix.iterations() == 0) return std::nullopt;
    std::vector<double> local(ranks), mpi(ranks), explained(ranks);
    std::vector<double> longest_of(matrix.iterations()); // local time of the slowest rank
    for (std::size_t r = 0; r < ranks; ++r)
        for (std::size_t i = 0; i < longest_of.size(); ++i) longest_of[i] = std::max(longest_of[i], matrix.local(r, i));
    in_parallel(ranks, [&](std::size_t r) {
        for (std::size_t i = 0; i < longest_of.size(); ++i) {
            const double mine = matrix.local(r, i);
            local[r] += mine;
            mpi[r] += matrix.at(IterationPart::Mpi, r, i);
            explained[r] += longest_of[i] - mine;
        }
    });
    const double together = std::accumulate(longest_of.begin(), longest_of.end(), 0.0);
    if (*std::min_element(mpi.begin(), mpi.end()) < least_sum) return std::nullopt; // somebody hardly waits
    const MpiTimes times = times_of(profile, matrix, names);
    std::vector<double> unexplained(ranks);
    for (std::size_t r = 0; r < ranks; ++r) unexplained[r] = -explained[r];
    std::vector<std::pair<double, std::size_t>> spots; // by weight
    for (std::size_t s = 0; s < times.ns.size(); ++s) {
        if (times.ns[s].empty()) continue;
        const double least = *std::min_element(times.ns[s].begin(), times.ns[s].end());
        const double largest = *std::max_element(times.ns[s].begin(), times.ns[s].end()) - least;
        for (std::size_t r = 0; r < ranks; ++r) unexplained[r] += times.ns[s][r] - least;
        // Waiting in messages and for roots has a cause that can be named; a synchronisation is where it ends.
        const bool has_root = std::any_of(times.is_root[s].begin(), times.is_root[s].end(), [](bool is) { return is; });
        // Of two ranks that wait for each other in turn, the one that only receives waits first.
        spots.emplace_back(largest * (receives(names.table.spots[s].name) && !sends(names.table.spots[s].name) ? 2.5
                                      : times.category[s] == TimeCategory::MpiP2p                              ? 2
                                      : has_root                                                               ? 1.5
                                                                                                               : 1),
                           s);
    }
    std::stable_sort(spots.begin(), spots.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    double wall = 0;
    for (std::size_t r = 0; r < ranks; ++r) wall = std::max(wall, local[r] + mpi[r]);
    const double sum = std::accumulate(local.begin(), local.end(), 0.0), longest = *std::max_element(local.begin(), local.end());
    // Nobody can send so early that the bytes are there at once; and what one rank transfers, others may wait for.
    std::vector<double> transfer(ranks);
    for (const std::vector<double>& there : times.transfer)
        for (std::size_t r = 0; r < there.size(); ++r) transfer[r] += there[r];
    const double lost = *std::min_element(unexplained.begin(), unexplained.end()) - told - *std::max_element(transfer.begin(), transfer.end());
    for (const auto& [weight, spot] : spots) {
        // Nothing is hidden of what all others wait in the call of one root.
        const double held_up =
            held_up_by_root(times.ns[spot], times.is_root[spot]) - *std::max_element(times.transfer[spot].begin(), times.transfer[spot].end());
        if (held_up < std::max(least_sum, lost)) continue;
        OrderLoss loss = loss_at(times, spot);
        if (local[loss.root[0]] - quantile(local, 0.5) < 0.5 * held_up) continue; // long messages take long, too
        loss.cause = Cause::LateRoot;
        loss.gain = {held_up, 0.5 * held_up, std::max(held_up, loss.waiting)};
        return loss;
    }
    if (lost < least_sum) return std::nullopt;
    for (std::size_t k = 0; k < spots.size(); ++k) {
        const std::size_t spot = spots[k].second;
        OrderLoss loss = loss_at(times, spot);
        const std::vector<double>& there = times.ns[spot];
        const double largest = loss.waiting;
        // Ranks that communicate long enough have such sums, too; but then the bytes say so, or they do not wait in different calls.
        if (k == 0 && sum > 0.8 * wall && sum < 1.15 * wall && longest < 0.65 * wall && largest > 0.5 * lost) {
            loss.cause = Cause::Serialisation;
            loss.gain = {lost, 0.8 * lost, wall - together};
            return loss;
        }
        if (largest <= 0.7 * lost) continue;
        // Each rank has waited as long when all are done: they take turns.
        if (take_turns(there)) {
            loss.cause = Cause::Serialisation;
            loss.is_part = true;
            loss.gain = {lost, 0.5 * lost, std::max(lost, largest)};
            return loss;
        }
        // Waiting that is spread evenly comes from jitter between synchronisations.
        const std::size_t fewer = std::min(loss.waits.size(), loss.late.size());
        if (fewer != 1 && fewer * 3 > ranks) continue;
        const std::string& name = names.table.spots[spot].name;
        loss.cause = times.category[spot] == TimeCategory::MpiP2p ? (sends(name) && !receives(name) ? Cause::LateReceiver : Cause::LateSender)
                     : loss.root.size() == 1                      ? Cause::LateRoot
                                                                  : Cause::StageImbalance;
        loss.gain = {lost, 0.5 * lost, std::max(lost, *std::max_element(unexplained.begin(), unexplained.end()))};
        return loss;
    }
    return std::nullopt;
}

} // namespace libprofile::tools
