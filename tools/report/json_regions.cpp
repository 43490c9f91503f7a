#include "tools/report/json_regions.hpp"

#include "tools/analysis/affinity.hpp"
#include "tools/analysis/regions.hpp"

#include <nlohmann/json.hpp>

namespace libprofile::tools {

using Json = nlohmann::ordered_json;

nlohmann::ordered_json regions_json(const Profile& profile) {
    const std::optional<RegionsRecord> losses = region_losses(profile);
    if (!losses) return nullptr;
    const RegionCounters counters = region_counters(profile);
    Json list = Json::array();
    for (const RegionRow& row : region_rows(profile)) {
        list.push_back({{"name", row.name},
                        {"kind", row.kind == NodeKind::FunctionRegion ? "function" : region_class_names[static_cast<std::size_t>(row.region_class)]},
                        {"place", row.source},
                        {"visits", row.visits},
                        {"time", row.inclusive_ns},
                        {"exclusive_time", row.exclusive_ns}});
        if (row.counted.empty()) continue;
        Json& counted = list.back()["counters"];
        for (std::size_t i = 0; i < row.counted.size(); ++i)
            counted[counters.names[i]] = row.counted[i] != 0 || had_counter(profile, counters.metrics[i]) ? Json(row.counted[i]) : Json();
    }
    return {{"rows", std::move(list)},
            {"repairs", losses->repairs},
            {"left_functions", losses->left},
            {"unmatched_exits", losses->unmatched},
            {"too_deep", losses->too_deep},
            {"without_memory", losses->without_memory},
            {"without_module", losses->without_module},
            {"inside_libprofile", losses->inside},
            {"excluded_functions", losses->excluded},
            {"visit_cost_ns", visit_cost_ns(profile)}};
}

} // namespace libprofile::tools
