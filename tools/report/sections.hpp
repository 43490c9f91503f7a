// The sections of the text report, each appended to what is written and preceded by an empty line.
// Contract: as text.hpp. All numbers are those of the main threads.
#pragma once

#include "tools/analysis/findings.hpp"
#include "tools/analysis/hot_spots.hpp"
#include "tools/analysis/kinds.hpp"
#include "tools/analysis/totals.hpp"
#include "tools/reader/model.hpp"
#include "tools/text/writer.hpp"

#include <string>
#include <vector>

namespace libprofile::tools {

/// What the sections share.
struct ReportContext {
    const Profile& profile;
    std::vector<const Location*> locations; // main threads in rank order, null without data
    std::vector<MetricRow> rows;
    std::vector<MetricValues> values; // per location of a rank with data
    double wall = 0;                  // ns, over all ranks
    SpotTable spots;
    bool full_paths = false;   // frames of interpreters, too
    std::vector<Trend> trends; // of the phases with iterations
};

/// Job, ranks, completeness and what is missing.
void append_header(const ReportContext& context, TextWriter& to);
/// Where the time goes, what changes over time, which ranks differ, what libprofile cost, and what it lost.
void append_findings(const ReportContext& context, TextWriter& to);
/// Commands that the user may want next.
/// @param path the profile's folder; FOLDER if empty
void append_hints(const ReportContext& context, const std::string& path, TextWriter& to);
/// One line per phase.
void append_phases(const ReportContext& context, TextWriter& to);
/// The metric tree.
void append_metrics(const ReportContext& context, TextWriter& to);
/// Graph and clusters of one phase of iterations.
void append_iterations(const ReportContext& context, std::uint32_t phase, const KindsOfPhase& kinds, TextWriter& to);
/// Kinds of iteration of one phase that ranks have in common, and which ranks went through the same. Writes nothing for one rank.
void append_kinds(const ReportContext& context, std::uint32_t phase, const KindsOfPhase& kinds, TextWriter& to);
/// Named regions and instrumented functions, by time. Writes nothing without any.
void append_regions(const ReportContext& context, TextWriter& to);
/// Which ranks exchange messages where. Writes nothing without any.
void append_partners(const ReportContext& context, TextWriter& to);
/// Functions by exclusive time.
void append_hot_spots(const ReportContext& context, const std::vector<const Location*>& locations, const std::string& title, const std::string& remark,
                      TextWriter& to);
/// Machines, NUMA nodes and cores that ranks ran on. Writes nothing if they are unknown.
void append_system(const ReportContext& context, TextWriter& to);
/// The call tree by inclusive time.
void append_call_tree(const ReportContext& context, TextWriter& to);

} // namespace libprofile::tools
