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

/// Stable key of a class: "computation", "wait", "synchronisation".
const char* class_key(NodeClass node_class);
/// "one cluster of ranks: 0-7".
std::string clusters_sentence(const TraceReport& report);
/// "imbalance 3.4 % (longest by rank 5), waiting 1.2 %".
std::string lost_sentence(const TraceReport& report, const LostPath& lost);
/// What cannot be told, and why.
std::vector<std::string> trace_untold(const TraceReport& report);
/// Ranks of the members of a cluster.
std::vector<std::uint32_t> cluster_ranks(const TraceAnalysis& trace, const TimeCluster& cluster);

std::string trace_text(const TraceReport& report, const TextStyle& style);
std::string trace_markdown(const TraceReport& report);
nlohmann::ordered_json trace_json(const TraceReport& report);

} // namespace libprofile::tools
