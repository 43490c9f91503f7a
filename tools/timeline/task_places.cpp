#include "tools/timeline/task_places.hpp"

#include "tools/analysis/machine_places.hpp"

#include <algorithm>
#include <map>
#include <optional>

namespace libprofile::tools {

namespace {

const TaskGraph::Run& longest_run(const TaskGraph& graph, const TaskGraph::Task& task) {
    const auto first = graph.runs.begin() + task.runs_at;
    return *std::max_element(first, first + task.runs,
                             [](const TaskGraph::Run& a, const TaskGraph::Run& b) { return a.end_ns - a.begin_ns < b.end_ns - b.begin_ns; });
}

} // namespace

std::optional<std::uint32_t> node_of_processor(const RankInfo& rank, std::uint16_t number) {
    const Processor* processor = number == no_processor || !rank.affinity ? nullptr : rank.affinity->processor(number);
    return processor == nullptr ? std::nullopt : processor->numa_node;
}

bool TaskPlaces::has_several_nodes() const {
    return std::any_of(matrix.begin(), matrix.end(), [&](const Cell& cell) { return cell.worker != cell.data || cell.worker != matrix.front().worker; });
}

TaskPlaces task_places(const Profile& profile, std::uint32_t rank, const TaskGraph& graph) {
    TaskPlaces places;
    places.of_task.resize(graph.tasks.size());
    places.node_of_task.resize(graph.tasks.size(), TaskPlaces::unknown);
    const auto info = profile.ranks.find(rank);
    if (info == profile.ranks.end()) return places;
    const NodeDistances distances(machine_of(profile, rank));
    std::map<std::uint32_t, TaskPlaces::Sums> threads;
    std::map<std::pair<std::uint32_t, std::uint32_t>, TaskPlaces::Cell> matrix;
    for (std::size_t t = 0; t < graph.tasks.size(); ++t) {
        const TaskGraph::Task& task = graph.tasks[t];
        if (!task.is_complete) continue;
        const TaskGraph::Run& run = longest_run(graph, task);
        const std::optional<std::uint32_t> worker = node_of_processor(info->second, run.processor);
        if (worker) places.node_of_task[t] = *worker;
        if (task.accesses.empty()) continue;
        TaskPlaces::Sums& sums = places.of_task[t];
        for (const TracedDependence& access : task.accesses) {
            const std::optional<std::uint32_t> data = info->second.pages ? info->second.pages->node_of(access.address) : std::nullopt;
            if (!worker || !data) {
                ++sums.unknown;
                continue;
            }
            ++(*worker == *data ? sums.local : sums.remote);
            const auto [at, is_new] = matrix.try_emplace({*worker, *data}, TaskPlaces::Cell{*worker, *data});
            TaskPlaces::Cell& cell = at->second;
            if (is_new) cell.distance = distances.between(*worker, *data);
            sums.measured += cell.distance ? 1 : 0;
            sums.distances += cell.distance.value_or(0);
            cell.reads += access.kind != TaskDependence::Out ? 1 : 0;
            cell.writes += access.kind != TaskDependence::In ? 1 : 0;
        }
        places.all.add(sums);
        threads[run.location].add(sums);
    }
    for (const auto& [location, sums] : threads) places.threads.push_back({location, sums});
    for (const auto& [nodes, cell] : matrix) places.matrix.push_back(cell);
    return places;
}

} // namespace libprofile::tools
