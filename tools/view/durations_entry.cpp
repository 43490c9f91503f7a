#include "tools/view/durations_entry.hpp"

#include "tools/names/labels.hpp"

#include <map>
#include <string>

namespace libprofile::tools {

namespace {

nlohmann::ordered_json entry_of(const DurationCounts& counts) {
    const DurationCounts::Median median = counts.median();
    nlohmann::ordered_json bins = nlohmann::ordered_json::array();
    for (const auto& [bin, number] : counts.histogram()) bins.push_back({bin, number});
    return {{"number", counts.count()},
            {"total", counts.total()},
            {"least", counts.least()},
            {"most", counts.most()},
            {"median", median.ns},
            {"exact", median.is_exact},
            {"bins", bins}};
}

} // namespace

DurationScan::CallGroups call_groups(const PageTables& tables) {
    std::map<std::string, std::uint32_t> first;
    std::vector<std::uint32_t> of_node;
    for (std::uint32_t n = 0; n < tables.tree.size(); ++n) of_node.push_back(n == 0 ? 0 : first.try_emplace(tables.tree[n].name, n).first->second);
    DurationScan::CallGroups groups;
    groups.groups = tables.tree.size();
    for (const std::uint32_t node : tables.cells.node_of_path) groups.of_path.push_back(of_node[node]);
    return groups;
}

nlohmann::ordered_json durations_entry(const DurationScan& scan) {
    if (!scan.is_done()) return {{"counting", scan.is_at_tasks() ? "tasks" : "calls"}, {"share", scan.share()}};
    nlohmann::ordered_json calls = nlohmann::ordered_json::array(), tasks = nlohmann::ordered_json::array();
    for (std::size_t node = 0; node < scan.calls().size(); ++node) {
        if (scan.calls()[node].count() == 0) continue;
        calls.push_back(entry_of(scan.calls()[node]));
        calls.back()["node"] = node;
    }
    for (const auto& [name, type] : scan.tasks()) {
        tasks.push_back(entry_of(type.durations));
        tasks.back()["function"] = printable(name.first);
        tasks.back()["source"] = printable(name.second);
        tasks.back()["stolen"] = type.stolen;
    }
    return {{"calls", calls},
            {"tasks", tasks},
            {"incomplete", scan.incomplete()},
            {"too_long", scan.too_long()},
            {"unfinished", scan.unfinished()},
            {"error", DurationCounts::most_error}};
}

} // namespace libprofile::tools
