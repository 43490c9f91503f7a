#include "tools/names/expand_inlined.hpp"

#include <set>

namespace libprofile::tools {

namespace {

/// More nodes than real programs need; a damaged file of names can ask for the product of two large numbers.
std::size_t most_nodes(const Profile& profile) { return 1'000'000 + 32 * profile.paths.size(); }

} // namespace

std::vector<std::uint32_t> expand_inlined(Profile& profile) {
    const std::size_t limit = most_nodes(profile);
    std::vector<CallPath> paths;
    std::vector<std::uint32_t> innermost; // the new number of what a path's values belong to, by its old one
    std::vector<std::uint32_t> own;       // and that of the path itself
    innermost.reserve(profile.paths.size());
    own.reserve(profile.paths.size());
    for (const CallPath& path : profile.paths) {
        paths.push_back(path);
        if (!innermost.empty()) // the root has no parent
            // Time off the processor is known to lie in the function, not in what of it.
            paths.back().parent = (path.kind == NodeKind::OffCpu ? own : innermost)[path.parent];
        own.push_back(static_cast<std::uint32_t>(paths.size() - 1));
        if (path.kind == NodeKind::Frame) {
            const std::size_t inlined = profile.sites[path.target].inlined.size();
            const std::size_t depth = paths.size() + inlined <= limit ? inlined : 0; // all of a chain or nothing
            for (std::size_t i = 0; i < depth; ++i) paths.push_back({static_cast<std::uint32_t>(paths.size() - 1), NodeKind::Inlined, path.target, i});
        }
        innermost.push_back(static_cast<std::uint32_t>(paths.size() - 1));
    }
    profile.paths = std::move(paths);
    const auto move = [&](std::vector<Cell>& cells) {
        for (Cell& cell : cells) cell.path = innermost[cell.path];
    };
    move(profile.witnesses.cells);
    std::set<const void*> moved; // tables that locations share
    for (Location& location : profile.locations) {
        for (PhaseData& data : location.phases) {
            for (Cluster& cluster : data.clusters) move(cluster.cells);
            move(data.rest);
            if (data.sequences)
                for (EventSequence& sequence : data.sequences->sequences)
                    for (SequenceEvent& event : sequence.events) event.path = innermost[event.path]; // an iteration inside has the root
            if (data.series) data.series->for_each_column([&](SeriesData::Column& column) { column.path = innermost[column.path]; });
        }
        for (TraceSample& sample : location.trace.samples) sample.path = innermost[sample.path];
        for (PartnerRow& row : location.partners.rows) row.path = innermost[row.path];
        for (TraceWait& wait : location.trace.waits) wait.path = innermost[wait.path];
        for (TracedInterval& interval : location.events.intervals) interval.path = innermost[interval.path];
        for (TracedTask& task : location.events.tasks) task.path = innermost[task.path];
        for (TracedTaskRun& run : location.events.runs) run.path = innermost[run.path];
        if (location.left_events && moved.insert(location.left_events->paths.get()).second)
            for (std::uint32_t& path : *location.left_events->paths) path = innermost[path];
    }
    return innermost;
}

} // namespace libprofile::tools
