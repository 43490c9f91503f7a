// How long the calls and tasks of a selection take, for the page.
// Contract: thread-safe (no state); allocates its results; throws std::bad_alloc only.
//
// "counting" ("calls", then "tasks") and "share" while not all are counted. Then "calls" and "tasks": "number", "total", "least", "most", "median" in ns,
// "exact" (whether the median is; else "error" says as which share of it), "bins" ([bin, number], as DurationCounts::histogram()); of calls "node", one of
// those of the function; of tasks "function", "source", "stolen"; "incomplete", "too_long" and "unfinished" tasks are not among them.
#pragma once

#include "tools/timeline/duration_scan.hpp"
#include "tools/view/page_tables.hpp"

#include <nlohmann/json.hpp>

namespace libprofile::tools {

/// Calls of the same name, by the first node of the page that has it.
DurationScan::CallGroups call_groups(const PageTables& tables);
nlohmann::ordered_json durations_entry(const DurationScan& scan);

} // namespace libprofile::tools
