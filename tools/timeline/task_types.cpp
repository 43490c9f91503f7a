#include "tools/timeline/task_types.hpp"

#include "tools/names/labels.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <numeric>

namespace libprofile::tools {

namespace {

/// Upper median; the list is reordered.
std::uint64_t median_of(std::vector<std::uint64_t>& list) {
    if (list.empty()) return 0;
    const auto middle = list.begin() + static_cast<std::ptrdiff_t>(list.size() / 2);
    std::nth_element(list.begin(), middle, list.end());
    return *middle;
}

void summarise(TaskType& type, const TaskGraph& graph, const std::vector<std::uint32_t>& tasks) {
    std::vector<std::uint64_t> durations, since_creation, since_ready;
    for (const std::uint32_t t : tasks) {
        const TaskGraph::Task& task = graph.tasks[t];
        durations.push_back(task.duration_ns);
        since_creation.push_back(task.begin_ns - std::min(task.begin_ns, task.created_ns));
        since_ready.push_back(task.begin_ns - std::min(task.begin_ns, task.ready_ns));
        type.stolen += task.is_stolen ? 1 : 0;
        type.sum_ns += task.duration_ns;
    }
    type.tasks = tasks.size();
    if (tasks.empty()) return;
    type.least_ns = *std::min_element(durations.begin(), durations.end());
    type.most_ns = *std::max_element(durations.begin(), durations.end());
    type.median_ns = median_of(durations);
    type.creation_to_begin_ns = median_of(since_creation);
    type.ready_to_begin_ns = median_of(since_ready);
}

} // namespace

std::uint32_t function_around(const Profile& profile, std::uint32_t path) {
    while (path < profile.paths.size() && profile.paths[path].kind == NodeKind::Inlined) path = profile.paths[path].parent;
    return path;
}

TaskPlace task_place(const Profile& profile, std::uint32_t path) {
    while (path != 0 && path < profile.paths.size() && !is_code(profile.paths[path].kind)) path = profile.paths[path].parent;
    if (path == 0 || path >= profile.paths.size()) return {"(no call path)", ""};
    const Label label = label_of(profile, profile.paths[path]);
    return {short_function_name(label.name), label.file.empty() ? "" : fmt::format("{}:{}", base_name(label.file), label.line)};
}

TaskPlace task_type_name(const Profile& profile, std::uint32_t run_path, std::uint32_t creation_path) {
    TaskPlace type = task_place(profile, creation_path);
    if (run_path != 0) type.function = task_place(profile, function_around(profile, run_path)).function;
    return type;
}

TaskTypes task_types(const Profile& profile, const TaskGraph& graph) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> by_paths; // of the run and of the creation
    std::map<std::pair<std::string, std::string>, std::uint32_t> by_names;
    TaskTypes all;
    std::vector<std::vector<std::uint32_t>> tasks;
    for (std::uint32_t t = 0; t < graph.tasks.size(); ++t) {
        const TaskGraph::Task& task = graph.tasks[t];
        const std::uint32_t run_path = task.runs == 0 ? 0 : graph.runs[task.runs_at].path;
        const auto [of_paths, are_new] = by_paths.try_emplace({run_path, task.path}, 0);
        if (are_new) {
            const TaskPlace type = task_type_name(profile, run_path, task.path);
            const auto [of_names, is_new] = by_names.try_emplace({type.function, type.source}, static_cast<std::uint32_t>(all.types.size()));
            of_paths->second = of_names->second;
            if (is_new) {
                all.types.push_back({type.function, type.source});
                tasks.emplace_back();
            }
        }
        all.of_task.push_back(of_paths->second);
        if (task.is_complete) tasks[of_paths->second].push_back(t);
    }
    for (std::size_t i = 0; i < tasks.size(); ++i) summarise(all.types[i], graph, tasks[i]);
    std::vector<std::uint32_t> order(all.types.size()), place(all.types.size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
        return std::pair(all.types[a].sum_ns, all.types[a].tasks) > std::pair(all.types[b].sum_ns, all.types[b].tasks);
    });
    std::vector<TaskType> sorted;
    for (const std::uint32_t i : order) {
        place[i] = static_cast<std::uint32_t>(sorted.size());
        sorted.push_back(std::move(all.types[i]));
    }
    all.types = std::move(sorted);
    for (std::uint32_t& type : all.of_task) type = place[type];
    return all;
}

std::vector<CriticalPlace> critical_places(const TaskGraph& graph) {
    std::map<std::pair<std::uint32_t, bool>, CriticalPlace> by_path;
    for (const TaskGraph::Step& step : graph.critical_path) {
        const bool is_implicit = step.task == TaskGraph::none;
        CriticalPlace& place = by_path[{step.path, is_implicit}];
        place.path = step.path;
        place.is_implicit = is_implicit;
        place.ns += step.ns;
        ++place.steps;
    }
    std::vector<CriticalPlace> places;
    places.reserve(by_path.size());
    for (const auto& [key, place] : by_path) places.push_back(place);
    std::stable_sort(places.begin(), places.end(), [](const CriticalPlace& a, const CriticalPlace& b) { return a.ns > b.ns; });
    return places;
}

} // namespace libprofile::tools
