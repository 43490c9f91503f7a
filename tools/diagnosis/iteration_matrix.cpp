#include "tools/diagnosis/iteration_matrix.hpp"

#include "tools/analysis/in_parallel.hpp"
#include "tools/analysis/inside.hpp"
#include "tools/analysis/totals.hpp"

#include <algorithm>
#include <atomic>
#include <limits>

namespace libprofile::tools {

namespace {

using enum CatalogueId;

double value(const MetricValues& values, CatalogueId id) { return static_cast<double>(values[static_cast<std::size_t>(id)]); }

/// Adds the values of an iteration, or of what lies inside it.
void add_values(IterationMatrix& matrix, std::size_t rank, std::size_t column, const MetricValues& v) {
    const auto add = [&](IterationPart part, double more) { matrix.at(part, rank, column) += static_cast<float>(more); };
    const double computing = value(v, Execution) - value(v, Mpi) - value(v, OpenMp) - value(v, OffCpu);
    add(IterationPart::Local, std::max(0.0, computing) + value(v, OffCpu) + value(v, MpiFileIo) + value(v, OpenMp));
    add(IterationPart::Mpi, std::max(0.0, value(v, Mpi) - value(v, MpiFileIo)));
    add(IterationPart::CollectiveCalls, value(v, CollComms) + value(v, CollSyncs));
}

/// The mean iteration of each cluster, and of the rest as the last one: for iterations whose own values were not kept.
std::vector<MetricValues> means_of(const Profile& profile, const PhaseData& data) {
    std::vector<MetricValues> means;
    const auto add_mean = [&](const std::vector<Cell>& cells, std::uint64_t size) {
        means.push_back(condense(profile, cells));
        for (std::uint64_t& v : means.back()) v = size == 0 ? 0 : (v + size / 2) / size;
    };
    for (const Cluster& cluster : data.clusters) add_mean(cluster.cells, cluster.size);
    add_mean(data.rest, data.unclustered);
    return means;
}

/// Returns false if some iterations got means.
bool fill_row(const Profile& profile, const PhaseData& data, IterationMatrix& matrix, std::size_t rank) {
    const Location& location = *matrix.locations[rank];
    const std::vector<MetricValues> means = means_of(profile, data);
    const RowsInside inside = rows_inside(profile, location, data);
    std::optional<SeriesReader> reader;
    if (data.series) reader.emplace(*data.series, false);
    bool is_exact = true;
    const std::uint64_t begin = reader ? reader->skip_before(matrix.first) : matrix.first, end = matrix.first + matrix.iterations();
    for (std::uint64_t i = begin; i < end; ++i) {
        const bool read = reader && reader->next();
        if (i < matrix.first) continue;
        const std::size_t column = i - matrix.first;
        const bool is_known = read && reader->has_totals();
        add_values(matrix, rank, column, is_known ? reader->condensed() : means[std::min<std::size_t>(data.cluster_of_iteration[i], means.size() - 1)]);
        is_exact = is_exact && is_known;
        if (i < inside.rows.size()) add_values(matrix, rank, column, inside.rows[i]);
        // Nothing but the time of what is untold is known; it counts as computing, so that sums stay those of the iteration.
        if (i < inside.untold.size()) matrix.at(IterationPart::Local, rank, column) += static_cast<float>(inside.untold[i]);
    }
    return is_exact;
}

} // namespace

IterationMatrix iteration_matrix(const Profile& profile, const std::vector<const Location*>& locations, std::uint32_t phase, IterationRange range) {
    std::vector<const Location*> rows;
    std::uint64_t iterations = std::numeric_limits<std::uint64_t>::max(), most = 0;
    for (const Location* location : locations) {
        const PhaseData* data = find_phase(location, phase);
        if (data == nullptr || data->cluster_of_iteration.empty()) continue;
        iterations = std::min<std::uint64_t>(iterations, data->cluster_of_iteration.size());
        most = std::max<std::uint64_t>(most, data->cluster_of_iteration.size());
        rows.push_back(location);
    }
    if (rows.empty()) iterations = 0;
    const std::uint64_t first = std::min(range.first, iterations), end = range.last >= iterations ? iterations : range.last + 1;
    IterationMatrix matrix(rows.size(), std::max(first, end) - first);
    matrix.locations = std::move(rows);
    matrix.fewest = iterations;
    matrix.most = most;
    matrix.phase = phase;
    matrix.first = first;
    std::atomic<bool> is_exact = true;
    in_parallel(matrix.ranks(), [&](std::size_t r) {
        if (!fill_row(profile, *find_phase(matrix.locations[r], phase), matrix, r)) is_exact = false;
    });
    matrix.is_estimated = !is_exact;
    return matrix;
}

IterationMatrix whole_run_matrix(const Profile& profile, const std::vector<const Location*>& locations) {
    std::vector<const Location*> rows;
    std::copy_if(locations.begin(), locations.end(), std::back_inserter(rows), [](const Location* location) { return location != nullptr; });
    IterationMatrix matrix(rows.size(), 1);
    matrix.locations = rows;
    matrix.is_whole_run = true;
    for (std::size_t r = 0; r < rows.size(); ++r) {
        const MetricValues values = totals(profile, *rows[r]); // waiting at the end of MPI is waiting, too
        add_values(matrix, r, 0, values);
    }
    return matrix;
}

} // namespace libprofile::tools
