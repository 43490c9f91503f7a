#include "tools/evaluation/bounded_method.hpp"

#include "tools/evaluation/recording.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace libprofile::tools {

BoundedMethod::BoundedMethod(std::shared_ptr<ReplayMemory> memory, const Recording& recording, std::uint32_t clusters, EquivalenceChoice mode,
                             SeriesSettings settings)
    : memory_(memory), paths_(&recording.paths), settings_(settings), clusters_(memory, recording, clusters, mode, true), cluster_limit_(clusters),
      series_(memory->arena, memory->pool, settings) {}

std::string BoundedMethod::name() const { return fmt::format("bounded {:g}% K={}", settings_.time_error_ppm / 10000.0, cluster_limit_); }

void BoundedMethod::add(const RecordedIteration& iteration) {
    events_.clear();
    for (const libprofile::Cell& cell : iteration.cells)
        if (kind_of_cell(*paths_, cell.key) == CellKind::Event) events_.push_back(cell);
    static const libprofile::Cell none{};
    series_.add(events_.empty() ? &none : events_.data(), static_cast<std::uint32_t>(events_.size()), iteration.condensed.values, iteration.wall_ns,
                iteration.signatures);
    clusters_.add(iteration);
}

void BoundedMethod::finish() {
    clusters_.finish();
    data_ = series_data_of(series_);
    SeriesReader reader(data_);
    const std::vector<SeriesData::NumberedColumn> columns = data_.numbered_columns();
    while (reader.next()) {
        Known& known = known_.emplace_back();
        known.has_totals = reader.has_totals();
        known.has_cells = reader.has_cells();
        if (known.has_totals) known.whole.assign(reader.condensed().begin(), reader.condensed().end());
        if (!known.has_cells) continue;
        reader.for_each_cell([&](std::size_t number, std::uint64_t value) {
            const SeriesData::Column& column = columns[number].column;
            known.events.emplace_back(libprofile::Cell::make_key(column.path, column.metric), static_cast<double>(value));
        });
        std::sort(known.events.begin(), known.events.end());
    }
}

/// Events from the series; all else is the mean of the cluster, sampled times so scaled that the compute time is the
/// iteration's own.
std::vector<std::pair<std::uint32_t, double>> BoundedMethod::cells_of(std::size_t iteration) {
    const Known& known = known_.at(iteration);
    std::vector<std::pair<std::uint32_t, double>> mean = clusters_.cells_of(iteration);
    if (!known.has_cells) return mean;
    const auto is_sampled_time = [&](std::uint32_t key) {
        return key % (1u << libprofile::Cell::metric_bits) == 0 && kind_of_cell(*paths_, key) == CellKind::Sampled;
    };
    double sum = 0;
    for (const auto& [key, value] : mean) sum += is_sampled_time(key) ? value : 0;
    const auto whole = [&](CatalogueId id) { return known.whole[static_cast<std::size_t>(id)]; };
    const double compute = whole(CatalogueId::Execution) - whole(CatalogueId::Mpi) - whole(CatalogueId::OpenMp) - whole(CatalogueId::OffCpu);
    std::vector<std::pair<std::uint32_t, double>> cells = known.events;
    for (const auto& [key, value] : mean) {
        if (kind_of_cell(*paths_, key) == CellKind::Event) continue;
        // Samples that hit an MPI call: not where this iteration made none.
        const std::uint32_t path = key >> libprofile::Cell::metric_bits;
        const auto first = std::lower_bound(known.events.begin(), known.events.end(), std::pair(path << libprofile::Cell::metric_bits, 0.0));
        const bool is_visited = first != known.events.end() && first->first >> libprofile::Cell::metric_bits == path;
        if ((*paths_)[path] == CellKind::Event && !is_visited) continue;
        cells.emplace_back(key, is_sampled_time(key) && sum > 0 ? value * compute / sum : value);
    }
    std::sort(cells.begin(), cells.end());
    return cells;
}

std::vector<double> BoundedMethod::whole_of(std::size_t iteration) {
    return known_.at(iteration).has_totals ? known_[iteration].whole : clusters_.whole_of(iteration);
}

MethodMemory BoundedMethod::memory() const {
    MethodMemory result = clusters_.memory();
    result.running_event_bytes += series_.memory();
    constexpr std::uint64_t per_column = 3, per_chunk = 8; // in the file: node and metric; its record and the sizes
    result.stored_event_bytes += data_.bytes() + per_column * (data_.counts.size() + data_.times.size()) + per_chunk * data_.chunks.size() + 4 * metric_count;
    return result;
}

std::string BoundedMethod::remark() const { return fmt::format("{} clusters, {}", clusters_.cluster_count(), clusters_.remark()); }

MethodFactory bounded_factory(std::shared_ptr<ReplayMemory> memory, std::uint32_t clusters, EquivalenceChoice mode, SeriesSettings settings) {
    return [memory = std::move(memory), clusters, mode, settings](const Recording& recording, std::size_t) {
        return std::make_unique<BoundedMethod>(memory, recording, clusters, mode, settings);
    };
}

} // namespace libprofile::tools
