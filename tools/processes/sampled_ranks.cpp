#include "tools/processes/sampled_ranks.hpp"

#include "tools/analysis/in_parallel.hpp"
#include "tools/processes/function_paths.hpp"
#include "tools/timeseries/thread_tree.hpp"
#include "tools/timeseries/trace_entries.hpp"

#include <algorithm>
#include <cmath>

namespace libprofile::tools {

namespace {

bool counts(const Profile& profile, std::uint32_t path) {
    const CallPath& node = profile.paths[path];
    if (node.kind != NodeKind::Mpi) return is_code(node.kind) || node.kind == NodeKind::Unknown;
    const TimeCategory category = profile.functions[node.target].category;
    return category == TimeCategory::MpiFile || category == TimeCategory::MpiFileColl;
}

/// What samples hit, in the order of time. A wait that counts has as many as a clock of the sampling period would tick in it.
std::vector<std::uint32_t> sightings_of(const Profile& profile, const Trace& trace, const Contexts& contexts, const FunctionPaths& functions) {
    std::vector<std::uint32_t> sightings;
    const double period = sampling_period(trace);
    for (const TraceEntry& entry : trace_entries(trace, contexts)) {
        if (!counts(profile, entry.path)) continue;
        const double ticks = !entry.is_wait ? 1 : period > 0 ? std::floor(entry.end / period) - std::floor(entry.begin / period) : 0;
        sightings.insert(sightings.end(), static_cast<std::size_t>(ticks), functions.of(entry.path));
    }
    return sightings;
}

} // namespace

double SampledRank::excess() const {
    const auto beyond = [](const UnmatchedSamples& part) { return part.is_told ? std::max(part.share - part.chance, part.of_path - part.chance_of_path) : 0; };
    return std::max(beyond(here.unmatched), beyond(reference.unmatched));
}

SampledRanks compare_by_samples(const Profile& profile, const std::vector<const Location*>& locations, const std::vector<std::uint32_t>& order) {
    SampledRanks result;
    std::vector<std::uint32_t> rows;
    for (const std::uint32_t row : order)
        if (locations[row]->thread == 0) rows.push_back(row);
    for (const std::uint32_t row : rows) result.has_trace = result.has_trace || !locations[row]->trace.samples.empty();
    if (!result.has_trace || rows.size() < 2) return result;
    if (rows.size() > most_sampled_ranks) {
        result.left.assign(rows.begin() + most_sampled_ranks, rows.end());
        std::sort(result.left.begin(), result.left.end());
        rows.resize(most_sampled_ranks);
    }
    const FunctionPaths functions(profile);
    const Contexts contexts(profile, nullptr); // no loops: their passes are not aligned
    std::vector<SampledProcess> processes(rows.size());
    in_parallel(rows.size(), [&](std::size_t r) {
        processes[r] = sampled_process(sightings_of(profile, locations[rows[r]]->trace, contexts, functions), functions.parents(), functions.keys());
    });
    const auto is_enough = [](const SampledProcess& process) { return process.tree.samples() >= fewest_samples; };
    const auto first = static_cast<std::size_t>(std::find_if(processes.begin(), processes.end(), is_enough) - processes.begin());
    if (first < rows.size()) result.reference = rows[first];
    std::vector<std::size_t> compared;
    for (std::size_t r = 0; r < rows.size(); ++r) {
        if (!is_enough(processes[r])) result.few.push_back(rows[r]);
        if (is_enough(processes[r]) && r != first) compared.push_back(r);
    }
    std::sort(result.few.begin(), result.few.end());
    std::sort(compared.begin(), compared.end(), [&](std::size_t a, std::size_t b) { return rows[a] < rows[b]; });
    result.ranks.resize(compared.size());
    in_parallel(compared.size(), [&](std::size_t c) {
        const SampledProcess &reference = processes[first], &here = processes[compared[c]];
        const SampledDifference found = sampled_difference(reference, here, functions.keys());
        const auto part = [&](const SampledProcess& process, const UnmatchedSamples& unmatched) {
            return SampledPart{process.samples, unmatched, unmatched.of_path == 0 ? "" : functions.name(unmatched.path)};
        };
        result.ranks[c] = {rows[compared[c]], part(here, found.of_b), part(reference, found.of_a)};
    });
    return result;
}

} // namespace libprofile::tools
