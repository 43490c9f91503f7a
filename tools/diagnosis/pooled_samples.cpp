#include "tools/diagnosis/pooled_samples.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace libprofile::tools {

PooledSamples samples_by_kind(const Profile& profile, const PhaseData& data) {
    PooledSamples pooled{sampled_selection(profile, data), {}};
    const auto none = static_cast<std::uint32_t>(pooled.selection.strata.size());
    pooled.pool_of_iteration.reserve(data.cluster_of_iteration.size());
    for (const std::uint32_t cluster : data.cluster_of_iteration)
        pooled.pool_of_iteration.push_back(cluster < data.pool_of_cluster.size() ? std::min(none, data.pool_of_cluster[cluster]) : none);
    return pooled;
}

std::optional<PooledSamples> samples_by_time(const Profile& profile, const Trace& trace, const PhaseData& data, const SampledSelection& by_kind) {
    constexpr std::size_t parts = 20; // of the run: what grows hardly does in one
    const std::size_t n = data.cluster_of_iteration.size();
    const std::vector<std::uint64_t>& begins = data.iteration_begin_ns;
    if (trace.samples.empty() || n < parts || begins.size() < n || data.iteration_ns.size() < n) return std::nullopt;
    std::vector<bool> is_computing(profile.paths.size());
    for (const SampledSelection::Part& part : by_kind.parts) is_computing[part.path] = true;

    PooledSamples pooled{{std::vector<SampleStratum>(parts), {}}, std::vector<std::uint32_t>(n)};
    std::vector<std::map<std::uint32_t, double>> hits(parts); // by path
    std::vector<double> samples(parts);
    for (const TraceSample& sample : trace.samples) {
        const auto after = std::upper_bound(begins.begin(), begins.begin() + static_cast<std::ptrdiff_t>(n), sample.time_ns);
        if (after == begins.begin() || !is_computing[sample.path]) continue;
        const auto iteration = static_cast<std::size_t>(after - begins.begin()) - 1;
        if (sample.time_ns >= begins[iteration] + data.iteration_ns[iteration]) continue; // between two iterations
        ++hits[iteration * parts / n][sample.path];
        ++samples[iteration * parts / n];
    }
    const std::vector<double> computing = compared_times(profile, data).ns;
    for (std::size_t i = 0; i < n; ++i) {
        const std::size_t part = i * parts / n;
        pooled.pool_of_iteration[i] = static_cast<std::uint32_t>(part);
        pooled.selection.strata[part].ns += computing[i];
    }
    for (std::uint32_t part = 0; part < parts; ++part) {
        if (samples[part] == 0) continue; // of no pool, then
        SampleStratum& stratum = pooled.selection.strata[part];
        stratum.squares = stratum.ns * stratum.ns / samples[part];
        for (const auto& [path, number] : hits[part]) pooled.selection.parts.push_back({path, part, stratum.ns * number / samples[part]});
    }
    return pooled;
}

} // namespace libprofile::tools
