#include "tools/reader/counters.hpp"

#include "format/metrics.hpp"

namespace libprofile::tools {

std::size_t in_regions(const std::vector<MetricInfo>& metrics, std::size_t metric) {
    for (std::size_t m = metric_count; m < metrics.size(); ++m)
        if (metrics[m].name == region_counter_prefix + metrics[metric].name) return m;
    return 0;
}

std::size_t chosen_counters(const std::vector<MetricInfo>& metrics) {
    if (metrics.size() <= metric_count) return 0;
    const std::size_t all = metrics.size() - metric_count;
    for (std::size_t i = 0; i < all / 2; ++i)
        if (metrics[metric_count + all / 2 + i].name != region_counter_prefix + metrics[metric_count + i].name) return all;
    return all % 2 == 0 ? all / 2 : all;
}

std::vector<std::string> counter_names(const Profile& profile, std::uint32_t rank) {
    const auto info = profile.ranks.find(rank);
    std::vector<std::string> names;
    if (info == profile.ranks.end() || !info->second.affinity || info->second.affinity->counters.empty()) return names;
    const std::string& list = info->second.affinity->counters;
    for (std::size_t at = 0, comma = 0; comma != std::string::npos; at = comma + 1) {
        comma = list.find(',', at);
        names.push_back(list.substr(at, comma - at));
    }
    return names;
}

std::string counter_unit(const Profile& profile, const std::string& name) {
    for (const MetricInfo& metric : profile.metrics)
        if (metric.name == name) return metric.unit;
    return "";
}

std::pair<std::uint64_t, std::uint64_t> times_of(const KeptEvents& events, const TracedCount& count) {
    if (count.is_of_run) return {events.runs[count.event].begin_ns, events.runs[count.event].end_ns};
    return {events.intervals[count.event].begin_ns, events.intervals[count.event].end_ns};
}

} // namespace libprofile::tools
