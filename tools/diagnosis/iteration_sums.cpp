#include "tools/diagnosis/iteration_sums.hpp"

#include "tools/analysis/inside.hpp"
#include "tools/analysis/totals.hpp"
#include "tools/diagnosis/own_work.hpp"
#include "tools/reader/counters.hpp"

namespace libprofile::tools {

namespace {

bool is_threads(TimeCategory category) { return catalogue_of(category) >= CatalogueId::OpenMp && catalogue_of(category) <= CatalogueId::OmpTask; }
bool is_left_out(TimeCategory category) {
    return category == TimeCategory::Overhead || category == TimeCategory::NotRecorded || category == TimeCategory::MpiInitExit;
}

} // namespace

bool is_mpi(TimeCategory category) {
    const CatalogueId row = catalogue_of(category);
    return row >= CatalogueId::Mpi && row < CatalogueId::OpenMp;
}
bool is_file(TimeCategory category) { return category == TimeCategory::MpiFile || category == TimeCategory::MpiFileColl; }

namespace {

/// PAPI_TOT_INS, perf::INSTRUCTIONS and the like; of the whole thread, not of regions.
std::size_t instructions_metric(const Profile& profile) {
    const std::size_t end = metric_count + chosen_counters(profile.metrics);
    for (std::size_t m = metric_count; m < end; ++m) {
        const std::string& name = profile.metrics[m].name;
        if (name == "PAPI_TOT_INS" || name.ends_with("INSTRUCTIONS") || name.ends_with("::instructions")) return m;
    }
    return 0;
}

} // namespace

Summer::Summer(const Profile& profile, const IterationMatrix& matrix, const NamedSpots& names)
    : profile_(profile), matrix_(matrix), names_(names), instructions_(instructions_metric(profile)) {}

IterationSums Summer::empty() const {
    IterationSums sums;
    sums.spot_ns.resize(names_.table.spots.size());
    sums.node_ns.resize(names_.tree.nodes.size());
    sums.sampled_at.resize(names_.tree.nodes.size());
    return sums;
}

void Summer::add(IterationSums& to, std::size_t row, const Ranges& ranges) const {
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

void Summer::add_samples(IterationSums& to, const SampledSelection& selection) const {
    to.strata.add(selection,
                  [&](std::uint32_t path, std::uint32_t stratum, double ns) { add_part(to.sampled_at[names_.tree.node_of_path[path]], stratum, ns); });
}

void Summer::add_cell(IterationSums& to, std::uint32_t path, std::uint32_t metric, double value) const {
    const std::uint32_t spot = names_.table.of_path[path];
    if (metric == 0) {
        const TimeCategory category = work_category(profile_, profile_.paths[path]);
        if (is_left_out(category)) return;
        to.spot_ns[spot] += value;
        to.path_ns[path] += value;
        if (is_file(category) || !is_mpi(category)) to.node_ns[names_.tree.node_of_path[path]] += value;
        if (is_file(category) || (names_.is_io[path] && !is_mpi(category))) to.io += value;
        to.parts[is_file(category) ? 2 : is_mpi(category) ? 4 : is_threads(category) ? 3 : category == TimeCategory::OffCpu ? 1 : 0] += value;
        return;
    }
    if (metric == instructions_ && instructions_ != 0) to.instructions += value;
    if (metric >= metric_count) return;
    const auto id = static_cast<Metric>(metric);
    if (id == Metric::CollAsSource) to.as_source[spot] += value;
    for (const Metric count : {Metric::P2pSends, Metric::P2pRecvs, Metric::CollAsSource, Metric::CollAsDestination, Metric::CollExchanges, Metric::P2pSendSyncs,
                               Metric::P2pRecvSyncs, Metric::CollSyncs})
        if (id == count) to.calls += value;
    for (const Metric bytes : {Metric::P2pBytesSent, Metric::P2pBytesReceived, Metric::CollBytesIn, Metric::CollBytesOut})
        if (id == bytes) to.bytes += value;
    if (id == Metric::P2pBytesReceived || id == Metric::CollBytesIn) to.received += value;
}

double error_of(const IterationSums& sums, const SampledParts& parts) {
    return sums.iterations == 0 || parts.empty() ? 0 : sampling_error(parts, sums.strata.list()) / sums.iterations;
}

} // namespace libprofile::tools
