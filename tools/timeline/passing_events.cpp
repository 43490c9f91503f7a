#include "tools/timeline/passing_events.hpp"

#include "tools/names/labels.hpp"
#include "tools/text/layout.hpp"
#include "tools/text/nearest.hpp"
#include "tools/text/phrases.hpp"
#include "tools/timeline/named_paths.hpp"
#include "tools/timeline/task_places.hpp"
#include "tools/timeline/task_types.hpp"
#include "tools/timeline/timeline_states.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <set>

namespace libprofile::tools {

namespace {

using Numbers = std::vector<std::uint32_t>;

bool is_one_of(const Numbers& numbers, std::optional<std::uint32_t> number) {
    return numbers.empty() || (number && std::binary_search(numbers.begin(), numbers.end(), *number));
}

/// What is known of the tasks of a rank.
class RankTasks {
  public:
    struct Task {
        std::uint64_t number = 0;
        std::uint64_t ns = 0;
        bool is_with = false, touches = true; // the nodes that are asked for
        bool has_run = false, passes = false;
    };
    RankTasks(const Profile& profile, std::uint32_t rank, const EventFilter& filter, const NamedPaths& names, std::set<std::string>& types_found) {
        const TaskGraph graph = task_graph(profile, parts_of(task_stretches(profile, rank)));
        const TaskTypes types = task_types(profile, graph);
        std::vector<bool> is_with;
        for (const TaskType& type : types.types) {
            is_with.push_back(names.has(printable(type.function) + " " + printable(type.source)));
            types_found.insert(printable(type.function));
        }
        const auto info = profile.ranks.find(rank);
        const auto touches = [&](const TaskGraph::Task& task, const Numbers& nodes, TaskDependence not_this) {
            return nodes.empty() || std::any_of(task.accesses.begin(), task.accesses.end(), [&](const TracedDependence& access) {
                       return access.kind != not_this && info != profile.ranks.end() && info->second.pages &&
                              is_one_of(nodes, info->second.pages->node_of(access.address));
                   });
        };
        for (std::size_t t = 0; t < graph.tasks.size(); ++t) {
            const TaskGraph::Task& task = graph.tasks[t];
            std::uint64_t ns = task.duration_ns;
            if (!task.is_complete) {
                ns = 0;
                for (std::uint32_t r = task.runs_at; r < task.runs_at + task.runs; ++r) ns += graph.runs[r].end_ns - graph.runs[r].begin_ns;
            }
            tasks_.push_back({task.number, ns, is_with[types.of_task[t]],
                              touches(task, filter.reads, TaskDependence::Out) && touches(task, filter.writes, TaskDependence::In), task.runs != 0, false});
        }
        std::stable_sort(tasks_.begin(), tasks_.end(), [](const Task& a, const Task& b) { return a.number < b.number; });
    }
    /// nullptr: its creation was not kept.
    Task* find(std::uint64_t number) {
        const auto at = std::lower_bound(tasks_.begin(), tasks_.end(), number, [](const Task& task, std::uint64_t wanted) { return task.number < wanted; });
        return at == tasks_.end() || at->number != number ? nullptr : &*at;
    }

  private:
    std::vector<Task> tasks_; // by number
};

/// Where an event was: on a processor, and its NUMA node.
std::optional<std::uint32_t> known_processor(std::uint16_t number) { return number == no_processor ? std::nullopt : std::optional<std::uint32_t>(number); }

/// @throws FilterError if none of the wanted numbers is there
void check_numbers(const Numbers& wanted, const std::set<std::uint32_t>& there, const char* option, const char* what) {
    for (const std::uint32_t number : wanted)
        if (!there.contains(number))
            throw FilterError(there.empty() ? fmt::format("{} {}: it is not known of any event {}", option, number, what)
                                            : fmt::format("{} {}: no event {} it; there are {}", option, number, what, fmt::join(there, ", ")));
}

/// @throws FilterError
void check_places(const Profile& profile, const EventFilter& filter) {
    std::set<std::uint32_t> threads, processors, nodes, data;
    for (const Location& location : profile.locations) {
        if (location.events.stride == 0) continue;
        threads.insert(location.thread);
        std::set<std::uint32_t> own; // of its machine
        const auto add = [&](std::uint16_t processor) {
            if (processor != no_processor) own.insert(processor);
        };
        for (const TracedInterval& interval : location.events.intervals) add(interval.processor);
        for (const TracedTaskRun& run : location.events.runs) add(run.processor);
        processors.insert(own.begin(), own.end());
        const auto info = profile.ranks.find(location.rank);
        for (const std::uint32_t processor : own)
            if (const auto node = info == profile.ranks.end() ? std::nullopt : node_of_processor(info->second, static_cast<std::uint16_t>(processor)))
                nodes.insert(*node);
    }
    for (const auto& [rank, info] : profile.ranks) {
        if (!info.pages) continue;
        for (const PageNodes::Range& range : info.pages->ranges) data.insert(range.node);
    }
    check_numbers(filter.threads, threads, "--thread", "is of");
    check_numbers(filter.processors, processors, "--processor", "ran on");
    check_numbers(filter.nodes, nodes, "--node", "ran on");
    check_numbers(filter.reads, data, "--reads", "has data on");
    check_numbers(filter.writes, data, "--writes", "has data on");
}

/// Nothing has the text. Names of MPI are written without MPI_, too.
[[noreturn]] void fail_name(const char* option, const char* where, const std::string& text, const std::set<std::string>& names) {
    const std::vector<std::string> list(names.begin(), names.end());
    std::string near = nearest_name(text, list);
    if (near.empty()) near = nearest_name("MPI_" + text, list);
    throw FilterError(fmt::format("{}: no {} has \"{}\" in its name{}", option, where, printable(text),
                                  near.empty() ? "" : fmt::format("; the nearest one is \"{}\"", near)));
}

} // namespace

PassingEvents::PassingEvents(const Profile& profile, const EventFilter& filter) : filter_(filter), profile_(profile) {
    if (!is_active()) return;
    check_places(profile, filter);
    NamedPaths names(profile, filter.with, filter.inside);
    std::map<std::uint32_t, RankTasks> tasks;
    std::set<std::string> types;
    for (const Location& location : profile.locations)
        if (!location.events.tasks.empty() && !tasks.contains(location.rank))
            tasks.emplace(location.rank, RankTasks(profile, location.rank, filter, names, types));
    bool is_with_found = false, is_inside_found = false;
    for (std::size_t l = 0; l < profile.locations.size(); ++l) {
        const Location& location = profile.locations[l];
        const auto info = profile.ranks.find(location.rank);
        const auto of_rank = tasks.find(location.rank);
        const bool is_thread = is_one_of(filter.threads, location.thread);
        const auto is_there = [&](std::uint16_t processor) {
            return is_thread && is_one_of(filter.processors, known_processor(processor)) &&
                   (filter.nodes.empty() || (info != profile.ranks.end() && is_one_of(filter.nodes, node_of_processor(info->second, processor))));
        };
        const auto is_as_long = [&](std::uint64_t ns) { return ns >= filter.least_ns && ns <= filter.most_ns; };
        const auto is_kind = [&](EventFilter::Kind kind) { return filter.only == EventFilter::Kind::All || filter.only == kind; };
        const auto note = [&](bool is_with, bool is_inside) {
            is_with_found = is_with_found || is_with;
            is_inside_found = is_inside_found || is_inside;
            return is_with && is_inside;
        };
        const bool wants_data = !filter.reads.empty() || !filter.writes.empty();
        std::vector<bool>& intervals = intervals_.emplace_back();
        for (const TracedInterval& interval : location.events.intervals) {
            const bool is_region = timeline_state_of(profile, profile.paths[interval.path]) == TimelineState::Region;
            const bool is_named = note(names.is_with(interval.path), names.is_inside(interval.path));
            intervals.push_back(is_named && !wants_data && is_kind(is_region ? EventFilter::Kind::Regions : EventFilter::Kind::Calls) &&
                                is_there(interval.processor) && is_as_long(interval.end_ns - std::min(interval.begin_ns, interval.end_ns)));
        }
        std::vector<bool>& runs = runs_.emplace_back();
        for (const TracedTaskRun& run : location.events.runs) {
            RankTasks::Task* task = of_rank == tasks.end() ? nullptr : of_rank->second.find(run.task);
            const bool is_named = note(task != nullptr ? task->is_with : names.is_with(run.path), names.is_inside(run.path));
            const bool passes = is_named && is_kind(EventFilter::Kind::Tasks) && is_there(run.processor) && (task != nullptr ? task->touches : !wants_data) &&
                                is_as_long(task != nullptr ? task->ns : run.end_ns - std::min(run.begin_ns, run.end_ns));
            if (task != nullptr) task->passes = task->passes || passes;
            runs.push_back(passes);
        }
    }
    for (std::size_t l = 0; l < profile.locations.size(); ++l) {
        const Location& location = profile.locations[l];
        const auto of_rank = tasks.find(location.rank);
        std::vector<bool>& creations = creations_.emplace_back();
        for (const TracedTask& created : location.events.tasks) {
            const RankTasks::Task* task = of_rank->second.find(created.number);
            const bool is_inside = names.is_inside(created.path);
            is_inside_found = is_inside_found || is_inside;
            is_with_found = is_with_found || (task != nullptr && task->is_with);
            // A task that never ran was on no processor, and took no time.
            const bool passes_unrun = task != nullptr && !task->has_run && task->is_with && task->touches && is_inside && filter.least_ns == 0 &&
                                      (filter.only == EventFilter::Kind::All || filter.only == EventFilter::Kind::Tasks) && filter.processors.empty() &&
                                      filter.nodes.empty() && is_one_of(filter.threads, location.thread);
            creations.push_back(task != nullptr && (task->passes || passes_unrun));
        }
    }
    const bool has_events = std::any_of(profile.locations.begin(), profile.locations.end(), [](const Location& l) { return !l.events.parts.empty(); });
    if (!has_events || (is_with_found && is_inside_found)) return;
    std::set<std::string> calls, callers;
    std::vector<bool> is_called(profile.paths.size()), is_on_path(profile.paths.size()); // each is named once
    for (const Location& location : profile.locations)
        for (const TracedInterval& interval : location.events.intervals) {
            if (is_called[interval.path]) continue;
            is_called[interval.path] = true;
            calls.insert(names.name_of(interval.path));
            for (std::uint32_t p = interval.path; p != 0 && !is_on_path[p]; p = profile.paths[p].parent) {
                is_on_path[p] = true;
                callers.insert(names.name_of(p));
            }
        }
    calls.insert(types.begin(), types.end());
    if (!is_with_found) fail_name("--with", tasks.empty() ? "call or region" : "call, region or type of task", filter.with, calls);
    fail_name("--inside", "function on the call path of an event", filter.inside, callers);
}

std::vector<bool> PassingEvents::tasks(const TaskGraph& graph) const {
    if (!is_active()) return std::vector<bool>(graph.tasks.size(), true);
    std::map<std::uint32_t, std::map<std::uint64_t, bool>> passes; // by location and number
    for (const std::uint32_t l : graph.locations)
        for (std::size_t at = 0; at < profile_.locations[l].events.tasks.size(); ++at)
            passes[l].emplace(profile_.locations[l].events.tasks[at].number, creation(l, at));
    std::vector<bool> list;
    for (const TaskGraph::Task& task : graph.tasks) list.push_back(passes[task.location][task.number]);
    return list;
}

bool PassingEvents::outside(std::size_t location) const {
    return !is_active() || (filter_.only == EventFilter::Kind::All && filter_.with.empty() && filter_.inside.empty() && filter_.least_ns == 0 &&
                            filter_.most_ns == EventFilter::no_most && filter_.processors.empty() && filter_.nodes.empty() && filter_.reads.empty() &&
                            filter_.writes.empty() && is_one_of(filter_.threads, profile_.locations[location].thread));
}

std::string PassingEvents::left_out(std::uint64_t passed, std::uint64_t all, const char* things) const {
    return fmt::format("{} of {} {} are left out; the filter takes: {}", count(static_cast<double>(all - passed)), count(static_cast<double>(all)), things,
                       filter_.words());
}

} // namespace libprofile::tools
