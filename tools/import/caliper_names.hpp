// What attributes of Caliper mean.
// Contract: thread-safe (no state); allocates; throws nothing else.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace libprofile::tools {

struct CaliperMetric {
    std::string name, unit;
    double factor = 1; // to ns
    bool is_inclusive = false;
    bool is_unit_known = true; // if not: early versions wrote whole microseconds, later ones seconds
};

/// The metric of an attribute; none for statistics of a metric (least, most, mean) and for bookkeeping, which do not add up.
/// @param unit as the file says, else empty
inline std::optional<CaliperMetric> caliper_metric(std::string_view attribute, std::string_view unit) {
    for (const std::string_view statistic : {"min#", "max#", "avg#", "avg.sum#", "avg.count#", "scount#", "ratio#", "percent_total#", "variance#"})
        if (attribute.substr(0, statistic.size()) == statistic) return {};
    for (const std::string_view other : {"mpi.rank", "thread", "Node order", "cali.", "aggregate.slot", "path.id", "event."})
        if (attribute.substr(0, other.size()) == other) return {};
    CaliperMetric metric;
    std::string_view name = attribute;
    for (bool more = true; more;) {
        more = false;
        for (const std::string_view prefix : {"sum#", "inclusive#", "iproduct#"})
            if (name.substr(0, prefix.size()) == prefix) {
                metric.is_inclusive |= prefix == "inclusive#";
                name.remove_prefix(prefix.size());
                more = true;
            }
    }
    const bool is_time = name == "time.duration" || name == "time" || name == "time.duration.ns" || name == "Total time" || unit == "sec";
    metric.name = name == "time.duration" || name == "time.duration.ns" ? "time" : std::string(name);
    metric.unit = is_time ? "ns" : std::string(unit);
    if (is_time) metric.factor = name == "time.duration.ns" ? 1 : 1e9;
    metric.is_unit_known = !is_time || unit == "sec" || name != "time.duration";
    return metric;
}

} // namespace libprofile::tools
