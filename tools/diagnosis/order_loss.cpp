#include "tools/diagnosis/order_loss.hpp"

#include "tools/analysis/inside.hpp"
#include "tools/analysis/totals.hpp"

#include <algorithm>
#include <numeric>

namespace libprofile::tools {

namespace {

/// Times in MPI and roots of all ranks, by spot.
struct MpiTimes {
    std::vector<std::vector<double>> ns; // by spot, then row
    std::vector<std::vector<bool>> is_root;
    std::vector<std::uint32_t> path; // with most time
    std::vector<TimeCategory> category;
};

MpiTimes times_of(const Profile& profile, const IterationMatrix& matrix, const NamedSpots& names) {
    const std::size_t spots = names.table.spots.size(), ranks = matrix.ranks();
    MpiTimes times{std::vector(spots, std::vector<double>()), std::vector(spots, std::vector<bool>()), std::vector<std::uint32_t>(spots),
                   std::vector<TimeCategory>(spots, TimeCategory::Compute)};
    std::vector<double> most(profile.paths.size());
    const auto add = [&](std::size_t row, std::uint32_t path, std::uint32_t metric, double value) {
        const TimeCategory category = category_of(profile, profile.paths[path]);
        const CatalogueId id = catalogue_of(category);
        if (id < CatalogueId::MpiSync || id > CatalogueId::MpiOneSided) return; // neither start and end nor files
        const std::uint32_t spot = names.table.of_path[path];
        if (times.ns[spot].empty()) {
            times.ns[spot].resize(ranks);
            times.is_root[spot].resize(ranks);
            times.path[spot] = path;
        }
        times.category[spot] = category;
        if (metric == static_cast<std::uint32_t>(Metric::CollAsSource) && value > 0) times.is_root[spot][row] = true;
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
    return times;
}

bool receives(const std::string& function) { return function.find("ecv") != std::string::npos; }
bool sends(const std::string& function) { return function.find("end") != std::string::npos; }

} // namespace

std::optional<OrderLoss> order_loss(const Profile& profile, const IterationMatrix& matrix, const NamedSpots& names, double least_sum, double told) {
    const std::size_t ranks = matrix.ranks();
    if (ranks < 2 || matrix.iterations() == 0) return std::nullopt;
    std::vector<double> local(ranks), mpi(ranks), explained(ranks);
    double together = 0; // local time of the slowest rank of each iteration
    for (std::size_t i = 0; i < matrix.iterations(); ++i) {
        double longest = 0;
        for (std::size_t r = 0; r < ranks; ++r) longest = std::max(longest, matrix.local(r, i));
        for (std::size_t r = 0; r < ranks; ++r) {
            local[r] += matrix.local(r, i);
            mpi[r] += matrix.at(IterationPart::Mpi, r, i);
            explained[r] += longest - matrix.local(r, i);
        }
        together += longest;
    }
    if (*std::min_element(mpi.begin(), mpi.end()) < least_sum) return std::nullopt; // somebody hardly waits
    const MpiTimes times = times_of(profile, matrix, names);
    std::vector<double> unexplained(ranks);
    for (std::size_t r = 0; r < ranks; ++r) unexplained[r] = -explained[r];
    std::size_t best = names.table.spots.size();
    double most = 0;
    for (std::size_t s = 0; s < times.ns.size(); ++s) {
        if (times.ns[s].empty()) continue;
        const double least = *std::min_element(times.ns[s].begin(), times.ns[s].end());
        const double largest = *std::max_element(times.ns[s].begin(), times.ns[s].end()) - least;
        for (std::size_t r = 0; r < ranks; ++r) unexplained[r] += times.ns[s][r] - least;
        // Waiting in messages and for roots has a cause that can be named; a synchronisation is where it ends.
        const bool has_root = std::any_of(times.is_root[s].begin(), times.is_root[s].end(), [](bool is) { return is; });
        // Of two ranks that wait for each other in turn, the one that only receives waits first.
        const double weight = largest * (receives(names.table.spots[s].name) && !sends(names.table.spots[s].name) ? 2.5
                                         : times.category[s] == TimeCategory::MpiP2p                              ? 2
                                         : has_root                                                               ? 1.5
                                                                                                                  : 1);
        if (weight > most) most = weight, best = s;
    }
    if (best == names.table.spots.size()) return std::nullopt;
    OrderLoss loss;
    loss.spot = static_cast<std::uint32_t>(best);
    loss.path = times.path[best];
    const std::vector<double>& there = times.ns[best];
    const double least = *std::min_element(there.begin(), there.end()), largest = *std::max_element(there.begin(), there.end()) - least;
    loss.waiting = largest;
    for (std::size_t r = 0; r < ranks; ++r) {
        (there[r] - least > largest / 2 ? loss.waits : loss.late).push_back(r);
        if (times.is_root[best][r]) loss.root.push_back(r);
    }
    double wall = 0;
    for (std::size_t r = 0; r < ranks; ++r) wall = std::max(wall, local[r] + mpi[r]);
    const double sum = std::accumulate(local.begin(), local.end(), 0.0), longest = *std::max_element(local.begin(), local.end());
    const double lost = *std::min_element(unexplained.begin(), unexplained.end()) - told;
    if (lost < least_sum || lost < 0.02 * wall) return std::nullopt;
    // Ranks that communicate long enough have such sums, too; but then they do not wait in different calls.
    if (sum > 0.8 * wall && sum < 1.15 * wall && longest < 0.65 * wall && largest > 0.5 * lost) {
        loss.cause = Cause::Serialisation;
        loss.gain = {lost, 0.8 * lost, wall - together};
        return loss;
    }
    // Waiting that is spread evenly comes from jitter between synchronisations.
    const std::size_t fewer = std::min(loss.waits.size(), loss.late.size());
    const bool is_one_sided = (fewer == 1 || fewer * 3 <= ranks) && largest > 0.7 * lost;
    if (!is_one_sided) return std::nullopt;
    const std::string& name = names.table.spots[best].name;
    loss.cause = times.category[best] == TimeCategory::MpiP2p ? (sends(name) && !receives(name) ? Cause::LateReceiver : Cause::LateSender)
                 : loss.root.size() == 1                      ? Cause::LateRoot
                                                              : Cause::StageImbalance;
    loss.gain = {lost, 0.5 * lost, std::max(lost, *std::max_element(unexplained.begin(), unexplained.end()))};
    return loss;
}

} // namespace libprofile::tools
