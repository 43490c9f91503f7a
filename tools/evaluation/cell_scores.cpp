#include "tools/evaluation/cell_scores.hpp"

#include <algorithm>
#include <cmath>

namespace libprofile::tools {

namespace {

std::size_t bucket_of(double error) {
    if (error == 0) return 0;
    std::size_t bucket = 1;
    for (const double end : {1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1}) bucket += error >= end ? 1 : 0;
    return bucket;
}

constexpr std::uint32_t path_of(std::uint32_t key) { return key >> libprofile::Cell::metric_bits; }

} // namespace

void CellError::add(double error) {
    ++cells;
    sum += error;
    largest = std::max(largest, error);
    ++histogram[bucket_of(error)];
}

double CellError::share(std::size_t bucket) const { return cells == 0 ? 0 : static_cast<double>(histogram[bucket]) / static_cast<double>(cells); }

void count_phantoms(const PathKinds& paths, const RecordedIteration& original, const ReconstructedCells& cells, Phantoms& sum) {
    auto have = original.cells.begin();
    std::uint32_t last = UINT32_MAX;
    for (const auto& [key, value] : cells) {
        const std::uint32_t path = path_of(key);
        if (value == 0 || path == last || paths[path] == CellKind::Own) continue;
        last = path;
        while (have != original.cells.end() && have->node() < path) ++have;
        const bool phantom = have == original.cells.end() || have->node() != path;
        const bool mpi = paths[path] == CellKind::Event;
        ++sum.pairs;
        sum.phantoms += phantom ? 1 : 0;
        sum.mpi_pairs += mpi ? 1 : 0;
        sum.mpi_phantoms += mpi && phantom ? 1 : 0;
    }
}

CellScores::CellScores(const PathKinds& paths, const RecordedLocation& location) : paths_(&paths) {
    for (const RecordedIteration& iteration : location.iterations)
        for (const libprofile::Cell& cell : iteration.cells) {
            const CellKind kind = kind_of_cell(paths, cell.key);
            const auto value = static_cast<double>(cell.value);
            if (kind != CellKind::Own) largest_[cell.metric()] = std::max(largest_[cell.metric()], value);
            if (kind == CellKind::Event) largest_event_[cell.metric()] = std::max(largest_event_[cell.metric()], value);
        }
}

void CellScores::add(const RecordedIteration& original, const ReconstructedCells& cells, CellErrors& sum) const {
    auto have = cells.begin();
    for (const libprofile::Cell& cell : original.cells) {
        const CellKind kind = kind_of_cell(*paths_, cell.key);
        if (kind == CellKind::Own) continue;
        while (have != cells.end() && have->first < cell.key) ++have;
        const double value = have != cells.end() && have->first == cell.key ? have->second : 0;
        const double largest = (kind == CellKind::Event ? largest_event_ : largest_)[cell.metric()];
        const double error = std::fabs(value - static_cast<double>(cell.value)) / largest;
        const bool time = cell.metric() == static_cast<std::uint32_t>(Metric::Time);
        if (kind == CellKind::Event)
            (time ? sum.event_time : sum.event_count).add(error);
        else
            (time ? sum.sampled_time : sum.sampled_count).add(error);
    }
}

} // namespace libprofile::tools
