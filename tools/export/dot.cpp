// The graph of OpenMP tasks in the DOT language of Graphviz: a box for each task, coloured by type; solid edges are dependences, dashed ones creations,
// and dotted ones lead through a point at which tasks were waited for to the tasks that were created after it. Points with solid edges stand for several
// tasks that each of several others waits for.
#include "tools/export/formats.hpp"
#include "tools/names/labels.hpp"
#include "tools/text/layout.hpp"
#include "tools/text/phrases.hpp"
#include "tools/timeline/passing_events.hpp"
#include "tools/timeline/task_graph.hpp"
#include "tools/timeline/task_types.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace libprofile::tools {

namespace {

constexpr std::size_t colours = 12;            // of the scheme
constexpr std::size_t drawn_in_seconds = 2000; // tasks

std::string dot_quoted(const std::string& text) {
    std::string out = "\"";
    for (const char c : printable(text)) out += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
    return out + "\"";
}

bool is_stretch_chosen(const Profile& profile, const ExportRequest& request, const TaskStretch& stretch) {
    const TableChoice& choice = request.choice;
    if (!choice.has_phase && !choice.iterations) return true;
    if (stretch.kind != PartKind::Iteration || stretch.phase >= profile.phases.size()) return false;
    if (stretch.phase != phase_of_choice(profile, choice)) return false;
    return !choice.iterations || (stretch.first >= choice.iterations->first && stretch.first <= choice.iterations->last);
}

/// The graph of one rank.
class DotGraph {
  public:
    DotGraph(const Profile& profile, const ExportRequest& request, const PassingEvents& passing, std::uint32_t rank, std::span<const TaskPart> parts)
        : profile_(profile), rank_(rank), graph_(task_graph(profile, parts)), types_(task_types(profile, graph_)), is_shown_(graph_.tasks.size()) {
        const std::vector<bool> passes = passing.tasks(graph_);
        for (std::uint32_t t = 0; t < graph_.tasks.size(); ++t) {
            const TaskGraph::Task& task = graph_.tasks[t];
            const TaskType& type = types_.types[types_.of_task[t]];
            if (request.depths && (task.depth == TaskGraph::none || task.depth < request.depths->first || task.depth > request.depths->second)) continue;
            if (type.function.find(request.task_type) == std::string::npos && type.source.find(request.task_type) == std::string::npos) continue;
            if (!passes[t]) continue;
            is_shown_[t] = true;
            ++tasks_;
        }
    }

    std::uint64_t tasks() const { return tasks_; }
    std::uint64_t all() const { return graph_.tasks.size(); }
    std::uint64_t incomplete() const { return incomplete_; }

    void add(std::string& out) {
        out += fmt::format("  subgraph cluster_r{} {{\n    label=\"rank {}\";\n", rank_, rank_);
        for (std::uint32_t t = 0; t < graph_.tasks.size(); ++t)
            if (is_shown_[t]) add_task(t, out);
        add_dependences(out);
        add_joins(out);
        out += "  }\n";
    }

  private:
    std::string name(std::uint32_t task) const { return fmt::format("r{}t{}", rank_, graph_.tasks[task].number); }

    void add_task(std::uint32_t t, std::string& out) {
        const TaskGraph::Task& task = graph_.tasks[t];
        const TaskType& type = types_.types[types_.of_task[t]];
        std::string label = dot_quoted(type.function);
        label.pop_back();
        if (!type.source.empty()) {
            const std::string source = dot_quoted(type.source);
            label += "\\n" + source.substr(1, source.size() - 2);
        }
        label += fmt::format("\\n{}\"", task.is_complete ? duration(static_cast<double>(task.duration_ns), {100, false, false}) : "not all there");
        incomplete_ += task.is_complete ? 0 : 1;
        out += fmt::format("    {} [label={}, fillcolor={}{}, tooltip=\"task {}, depth {}, thread {}\"];\n", name(t), label, types_.of_task[t] % colours + 1,
                           task.is_complete ? "" : ", style=\"filled,dashed\"", task.number,
                           task.depth == TaskGraph::none ? "unknown" : fmt::format("{}", task.depth), task.runs == 0 ? "unknown" : thread_of(task));
        if (task.creator != TaskGraph::none && is_shown_[task.creator]) out += fmt::format("    {} -> {} [style=dashed];\n", name(task.creator), name(t));
    }
    std::string thread_of(const TaskGraph::Task& task) const { return fmt::format("{}", profile_.locations[graph_.runs[task.runs_at].location].thread); }

    bool is_task(std::uint32_t node) const { return node < graph_.tasks.size(); }
    void add_dependences(std::string& out) const {
        // A junction is drawn if tasks on both sides are.
        std::set<std::uint32_t> into, from;
        for (const auto& [a, b] : graph_.dependences) {
            if (!is_task(b) && (!is_task(a) || is_shown_[a])) into.insert(b);
            if (!is_task(a) && (!is_task(b) || is_shown_[b])) from.insert(a);
        }
        std::set<std::uint32_t> drawn;
        std::set_intersection(into.begin(), into.end(), from.begin(), from.end(), std::inserter(drawn, drawn.end()));
        const auto is_there = [&](std::uint32_t node) { return is_task(node) ? bool{is_shown_[node]} : drawn.contains(node); };
        const auto node_name = [&](std::uint32_t node) { return is_task(node) ? name(node) : fmt::format("r{}d{}", rank_, node); };
        for (const std::uint32_t node : drawn) out += fmt::format("    {} [shape=point];\n", node_name(node));
        for (const auto& [a, b] : graph_.dependences)
            if (is_there(a) && is_there(b)) out += fmt::format("    {} -> {};\n", node_name(a), node_name(b));
    }

    void add_joins(std::string& out) const {
        std::set<std::uint32_t> into, from, drawn;
        for (std::uint32_t t = 0; t < graph_.tasks.size(); ++t) {
            if (!is_shown_[t]) continue;
            into.insert(graph_.tasks[t].joined_by);
            from.insert(graph_.tasks[t].after);
        }
        std::set_intersection(into.begin(), into.end(), from.begin(), from.end(), std::inserter(drawn, drawn.end()));
        drawn.erase(TaskGraph::none);
        const auto point = [&](std::uint32_t join) { return fmt::format("r{}j{}", rank_, join); };
        for (const std::uint32_t join : drawn) out += fmt::format("    {} [shape=point, color=gray];\n", point(join));
        for (std::uint32_t t = 0; t < graph_.tasks.size(); ++t) {
            if (!is_shown_[t]) continue;
            const TaskGraph::Task& task = graph_.tasks[t];
            if (drawn.contains(task.joined_by)) out += fmt::format("    {} -> {} [style=dotted];\n", name(t), point(task.joined_by));
            if (drawn.contains(task.after)) out += fmt::format("    {} -> {} [style=dotted];\n", point(task.after), name(t));
        }
    }

    const Profile& profile_;
    std::uint32_t rank_;
    TaskGraph graph_;
    TaskTypes types_;
    std::vector<bool> is_shown_;
    std::uint64_t tasks_ = 0, incomplete_ = 0;
};

} // namespace

Remarks write_dot(const Profile& profile, const ExportRequest& request, Sink& sink) {
    std::set<std::uint32_t> ranks;
    for (const Location* location : locations_of_choice(profile, request.choice)) ranks.insert(location->rank);
    const PassingEvents passing(profile, request.choice.events);
    std::uint64_t all = 0, shown = 0, incomplete = 0;
    std::string out = "digraph tasks {\n  node [shape=box, style=filled, colorscheme=set312];\n";
    for (const std::uint32_t rank : ranks) {
        std::vector<TaskStretch> stretches = task_stretches(profile, rank);
        std::erase_if(stretches, [&](const TaskStretch& stretch) { return !is_stretch_chosen(profile, request, stretch); });
        if (stretches.empty()) continue;
        DotGraph graph(profile, request, passing, rank, parts_of(stretches));
        all += graph.all();
        shown += graph.tasks();
        if (graph.tasks() != 0) graph.add(out);
        incomplete += graph.incomplete();
    }
    if (all == 0)
        throw ExportError("there are no tasks of OpenMP in what was chosen; LIBPROFILE_TRACE=events records them, and libprofile report --tasks lists the "
                          "iterations that have some");
    if (shown == 0)
        throw ExportError(
            fmt::format("none of {} has this type or depth, or passes the filter; libprofile report --tasks lists types and depths", plural(all, "task")));
    sink.add("", out + "}\n");
    Remarks remarks;
    if (passing.is_active()) remarks.push_back(passing.left_out(shown, all, "tasks"));
    if (shown > drawn_in_seconds)
        remarks.push_back(fmt::format("it has {}; dot draws some {} in seconds: choose with --iterations, --rank, --type or --depth", plural(shown, "task"),
                                      count(static_cast<double>(drawn_in_seconds))));
    if (incomplete != 0) remarks.push_back(fmt::format("of {} not all was kept; they have broken borders", plural(incomplete, "task")));
    return remarks;
}

} // namespace libprofile::tools
