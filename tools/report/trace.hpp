// What `libprofile diagnose` prints of traces: segments with losses, clusters of ranks, loops with their iterations.
// Contract: thread-safe (no state); allocates; throws std::bad_alloc only.
#pragma once

#include "tools/text/layout.hpp"
#include "tools/timeseries/context_names.hpp"
#include "tools/timeseries/trace_analysis.hpp"

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace libprofile::tools {

struct TraceReport {
    const Profile& profile;
    const TraceAnalysis& trace;
    const BinaryLoops& loops;
    std::size_t most = 10;      // segments and loops that text shows
    bool is_part_asked = false; // other parts of the report are about some iterations or one phase
};

std::string trace_text(const TraceReport& report, const TextStyle& style);
std::string trace_markdown(const TraceReport& report);
nlohmann::ordered_json trace_json(const TraceReport& report);

} // namespace libprofile::tools
