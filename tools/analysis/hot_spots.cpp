#include "tools/analysis/hot_spots.hpp"

#include "tools/analysis/totals.hpp"
#include "tools/analysis/wrappers.hpp"
#include "tools/names/interpreters.hpp"
#include "tools/names/labels.hpp"
#include "tools/text/phrases.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>

namespace libprofile::tools {

namespace {

std::string source_of(const Label& label) {
    if (label.file.empty()) return "";
    return label.line == 0 ? base_name(label.file) : fmt::format("{}:{}", base_name(label.file), label.line);
}

/// Frames of the C library that lead to main() or to a thread's function: the same in every program.
bool is_start_up(const std::string& name) {
    constexpr const char* names[] = {
        "_start", "__libc_start_main", "__libc_start_main_impl", "__libc_start_call_main", "start_thread", "clone", "clone3", "__clone3", "__clone"};
    return std::any_of(std::begin(names), std::end(names), [&](const char* n) { return name == n; });
}

std::vector<std::uint64_t> sum_by_path(const Profile& profile, const std::vector<const Location*>& locations, std::uint32_t metric) {
    std::vector<std::uint64_t> sums(profile.paths.size());
    for (const Location* location : locations) {
        if (location == nullptr) continue;
        for (const PhaseData& data : location->phases)
            for_each_cell(data, [&](const Cell& cell) {
                if (cell.metric == metric) sums[cell.path] += cell.value;
            });
    }
    return sums;
}

/// Each creation and each stretch is a visit: a path that has some is kept.
void add_task_visits(const std::vector<const Location*>& locations, std::vector<std::uint64_t>& visits) {
    const auto add = [&](std::uint32_t path) {
        if (path < visits.size()) ++visits[path];
    };
    for (const Location* location : locations) {
        for (const TracedTask& task : location->events.tasks) add(task.path);
        for (const TracedTaskRun& run : location->events.runs) add(run.path);
    }
}

} // namespace

std::string caller_text(const std::string& caller, const std::string& through) {
    return through.empty() ? caller : fmt::format("{} (through {})", caller, through);
}

std::string where_text(const std::string& source, const std::string& caller, const std::string& through) {
    if (caller.empty()) return source;
    return source + (source.empty() ? "in " : " in ") + caller_text(caller, through);
}

std::string spot_text(const Spot& spot) {
    const std::string caller = spot.caller.empty() ? "" : " in " + printable(caller_text(spot.caller, spot.through));
    return without_anonymous(printable(shown_name(spot.kind, spot.name)) + caller);
}

SpotTable spot_table(const Profile& profile) {
    SpotTable table;
    const Wrappers wrappers(profile);
    const InterpreterFrames interpreter(profile);
    std::map<std::tuple<NodeKind, std::string, std::string, std::string>, std::uint32_t> known;
    for (const CallPath& path : profile.paths) {
        if (interpreter.contains(path) && path.parent != 0 &&
            table.spots[table.of_path[path.parent]].kind == NodeKind::Python) { // what the interpreter does for a Python function
            table.of_path.push_back(table.of_path[path.parent]);
            continue;
        }
        const Label label = label_of(profile, path);
        Spot spot{path.kind, short_function_name(label.name), "", "", ""};
        if (is_call(path.kind)) {
            Wrappers::Caller first = wrappers.caller_of(static_cast<std::uint32_t>(&path - profile.paths.data()));
            const Label caller = label_of(profile, profile.paths[first.path]);
            spot.caller = first.path == 0 ? "" : short_function_name(caller.name);
            spot.through = std::move(first.through);
            spot.source = source_of(caller);
        } else if (path.kind == NodeKind::OffCpu && path.parent != 0) {
            const Label place = label_of(profile, profile.paths[path.parent]);
            spot.caller = short_function_name(place.name);
            spot.source = source_of(place);
        }
        // Functions of the same name in different modules are different functions.
        const std::string scope = path.kind == NodeKind::Python ? label.file : is_code(path.kind) ? label.module : caller_text(spot.caller, spot.through);
        const auto [at, added] = known.emplace(std::tuple(path.kind, spot.name, scope, spot.source), static_cast<std::uint32_t>(table.spots.size()));
        if (added) table.spots.push_back(std::move(spot));
        table.of_path.push_back(at->second);
    }
    return table;
}

std::vector<HotSpot> hot_spots(const Profile& profile, const std::vector<const Location*>& locations, SpotTable& table) {
    std::vector<HotSpot> spots(table.spots.size());
    for (std::uint32_t s = 0; s < spots.size(); ++s) {
        spots[s].spot = s;
        spots[s].by_location.resize(locations.size());
    }
    std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint64_t> by_line; // of a site: its own, or of what is inlined
    const auto line_of = [](const CallPath& path) {
        if (path.kind == NodeKind::Python) return std::pair(path.target | 0x80000000u, path.address);
        return std::pair(path.target, path.kind == NodeKind::Inlined ? path.address + 1 : 0);
    };
    for (std::size_t l = 0; l < locations.size(); ++l) {
        if (locations[l] == nullptr) continue;
        for (const PhaseData& data : locations[l]->phases)
            for_each_cell(data, [&](const Cell& cell) {
                if (cell.metric != 0) return;
                HotSpot& spot = spots[table.of_path[cell.path]];
                spot.total += static_cast<double>(cell.value);
                spot.by_location[l] += static_cast<double>(cell.value);
                const CallPath& path = profile.paths[cell.path];
                if (is_code(path.kind) && table.spots[table.of_path[cell.path]].kind == path.kind) by_line[line_of(path)] += cell.value;
            });
    }
    std::vector<std::uint64_t> best(spots.size());
    for (const CallPath& path : profile.paths) {
        if (!is_code(path.kind)) continue;
        const std::uint32_t s = table.of_path[static_cast<std::size_t>(&path - profile.paths.data())];
        if (table.spots[s].kind != path.kind) continue; // the interpreter, for a Python function
        const auto at = by_line.find(line_of(path));
        const std::uint64_t time = at == by_line.end() ? 0 : at->second;
        if (time <= best[s] && !table.spots[s].source.empty()) continue;
        best[s] = time;
        table.spots[s].source = source_of(label_of(profile, path));
    }
    spots.erase(std::remove_if(spots.begin(), spots.end(), [](const HotSpot& s) { return s.total == 0; }), spots.end());
    std::stable_sort(spots.begin(), spots.end(), [](const HotSpot& a, const HotSpot& b) { return a.total > b.total; });
    return spots;
}

bool SpotErrors::is_order_open(const HotSpot& a, const HotSpot& b) const {
    if (parts[a.spot].empty() && parts[b.spot].empty()) return false;
    return std::abs(a.total - b.total) <= error_of_difference(parts[a.spot], parts[b.spot], strata);
}

SpotErrors spot_errors(const Profile& profile, const std::vector<const Location*>& locations, const SpotTable& table) {
    SpotErrors errors;
    errors.parts.resize(table.spots.size());
    SampledStrata strata;
    for (const Location* location : locations) {
        if (location == nullptr) continue;
        for (const PhaseData& data : location->phases)
            strata.add(sampled_selection(profile, data),
                       [&](std::uint32_t path, std::uint32_t stratum, double ns) { add_part(errors.parts[table.of_path[path]], stratum, ns); });
    }
    errors.strata = strata.list();
    return errors;
}

std::vector<FunctionNode> function_tree(const Profile& profile, const std::vector<const Location*>& locations, bool fold_interpreter,
                                        std::vector<std::uint32_t>* node_of_path, bool with_tasks) {
    const InterpreterFrames interpreter(profile);
    const std::vector<std::uint64_t> time = sum_by_path(profile, locations, 0);
    const std::vector<std::uint64_t> visits = sum_by_path(profile, locations, static_cast<std::uint32_t>(Metric::Visits));
    std::vector<std::uint64_t> inclusive = time, visits_below = visits;
    if (with_tasks) add_task_visits(locations, visits_below);
    for (std::size_t p = inclusive.size(); p-- > 1;) {
        inclusive[profile.paths[p].parent] += inclusive[p];
        visits_below[profile.paths[p].parent] += visits_below[p];
    }

    std::vector<FunctionNode> nodes(1);
    std::vector<std::uint32_t> node_of(profile.paths.size(), 0);
    std::vector<std::uint64_t> best(1);
    std::map<std::tuple<std::uint32_t, NodeKind, std::string>, std::uint32_t> known;
    nodes[0].exclusive = static_cast<double>(time[0]);
    for (std::uint32_t p = 1; p < profile.paths.size(); ++p) {
        const CallPath& path = profile.paths[p];
        const std::uint32_t above = node_of[path.parent];
        node_of[p] = above;
        // Regions and calls may be too short to be seen by a sample: visits keep their callers, too.
        if (inclusive[p] == 0 && visits_below[p] == 0) continue;
        const Label label = label_of(profile, path);
        if (path.kind == NodeKind::Frame && above == 0 && is_start_up(label.name) && time[p] == 0) continue;
        const bool fold = fold_interpreter && interpreter.contains(path);
        if (fold && nodes[above].kind == NodeKind::Python) { // what the interpreter does for the function
            nodes[above].exclusive += static_cast<double>(time[p]);
            continue;
        }
        const NodeKind kind = fold ? NodeKind::Frame : path.kind;
        const std::string name = fold ? interpreter_label : short_function_name(label.name);
        const bool recursive = is_code(kind) && nodes[above].kind == kind && nodes[above].name == name;
        if (!recursive) {
            const auto [at, added] = known.emplace(std::tuple(above, kind, name), static_cast<std::uint32_t>(nodes.size()));
            if (added) {
                nodes.push_back({static_cast<int>(above), kind, name, "", 0, 0, 0, fold, {}});
                best.push_back(0);
            }
            node_of[p] = at->second;
        }
        FunctionNode& node = nodes[node_of[p]];
        node.exclusive += static_cast<double>(time[p]);
        node.visits += static_cast<double>(visits[p]);
        if (inclusive[p] > best[node_of[p]] || node.source.empty()) {
            best[node_of[p]] = inclusive[p];
            node.source = fold ? base_name(label.module) : source_of(label);
        }
    }
    for (std::size_t n = nodes.size(); n-- > 0;) {
        nodes[n].inclusive += nodes[n].exclusive;
        if (nodes[n].parent < 0) continue;
        FunctionNode& parent = nodes[static_cast<std::size_t>(nodes[n].parent)];
        parent.inclusive += nodes[n].inclusive;
        parent.children.push_back(static_cast<std::uint32_t>(n));
    }
    for (FunctionNode& node : nodes)
        std::stable_sort(node.children.begin(), node.children.end(), [&](std::uint32_t a, std::uint32_t b) { return nodes[a].inclusive > nodes[b].inclusive; });
    if (node_of_path != nullptr) *node_of_path = std::move(node_of);
    return nodes;
}

} // namespace libprofile::tools
