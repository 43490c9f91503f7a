#include "tools/timeline/counter_series.hpp"

#include "tools/names/labels.hpp"
#include "tools/reader/counters.hpp"
#include "tools/timeline/task_types.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

namespace libprofile::tools {

namespace {

using Group = std::pair<bool, std::string>; // of tasks, what runs or is called

/// What one task has so far.
struct TaskSum {
    std::string group;
    std::uint64_t stretches = 0, all = 0; // read, and of the task; 0: not all of it was kept
    double duration_ns = 0, amount = 0;
};

class CounterSeries {
  public:
    CounterSeries(const Profile& profile, const PassingEvents& passing) : profile_(profile), passing_(passing) {}

    void add(std::size_t location, const EventPart& part) {
        const Location& of = profile_.locations[location];
        const KeptEvents& events = of.events;
        const std::vector<std::string>& names = names_of(of.rank);
        for (std::uint32_t i = part.counts_at; i < part.counts_at + part.counts; ++i) {
            const TracedCount& count = events.counts[i];
            if (count.counter >= names.size() || count.end < count.begin) continue;
            const auto [begin, end] = times_of(events, count);
            const auto increase = static_cast<double>(count.end - count.begin), length = static_cast<double>(end - std::min(begin, end));
            if (!count.is_of_run) {
                if (passing_.interval(location, count.event)) add({false, name_of(events.intervals[count.event].path)}, names[count.counter], length, increase);
            } else if (passing_.run(location, count.event)) {
                const TracedTaskRun& run = events.runs[count.event];
                TaskSum& task = tasks_[{of.rank, run.task, names[count.counter]}];
                if (task.group.empty()) std::tie(task.group, task.all) = type_of(of.rank, run);
                ++task.stretches;
                task.duration_ns += length;
                task.amount += increase;
            }
        }
    }

    std::vector<DurationSeries> list() {
        for (const auto& [key, task] : tasks_)
            if (task.stretches == task.all) add({true, task.group}, std::get<2>(key), task.duration_ns, task.amount);
        std::vector<DurationSeries> list;
        for (auto& [key, series] : found_) {
            if (*std::max_element(series.amounts.begin(), series.amounts.end()) == 0) continue; // it tells nothing
            std::tie(series.is_of_tasks, series.group) = key.first;
            series.amount = key.second;
            series.unit = counter_unit(profile_, series.amount);
            list.push_back(std::move(series));
        }
        const auto time = [](const DurationSeries& series) { return std::accumulate(series.durations_ns.begin(), series.durations_ns.end(), 0.0); };
        std::stable_sort(list.begin(), list.end(), [&](const DurationSeries& a, const DurationSeries& b) { return time(a) > time(b); });
        return list;
    }

  private:
    void add(const Group& group, const std::string& counter, double duration, double increase) {
        DurationSeries& series = found_[{group, counter}];
        series.durations_ns.push_back(duration);
        series.amounts.push_back(increase);
    }
    const std::string& name_of(std::uint32_t path) {
        std::string& name = names_of_paths_[path];
        if (name.empty()) name = label_of(profile_, profile_.paths[path]).name;
        return name;
    }
    /// As `report --tasks` names it, with the line of the creation, and how many stretches it has; none if not all of it is there.
    std::pair<std::string, std::uint64_t> type_of(std::uint32_t rank, const TracedTaskRun& run) {
        const auto [at, is_new] = types_.try_emplace(rank);
        if (is_new) {
            const TaskGraph graph = task_graph(profile_, parts_of(task_stretches(profile_, rank)));
            const TaskTypes types = task_types(profile_, graph);
            for (std::size_t t = 0; t < graph.tasks.size(); ++t) {
                const TaskType& type = types.types[types.of_task[t]];
                const std::string name = type.source.empty() ? type.function : type.function + " (" + type.source + ")"; // LLVM's have one function
                at->second.try_emplace(graph.tasks[t].number, name, graph.tasks[t].is_complete ? graph.tasks[t].runs : 0);
            }
        }
        const auto found = at->second.find(run.task);
        return found == at->second.end() ? std::pair(name_of(run.path), std::uint64_t{0}) : found->second;
    }
    const std::vector<std::string>& names_of(std::uint32_t rank) {
        const auto [at, is_new] = names_.try_emplace(rank);
        if (is_new) at->second = counter_names(profile_, rank);
        return at->second;
    }

    const Profile& profile_;
    const PassingEvents& passing_;
    std::map<std::uint32_t, std::vector<std::string>> names_; // by rank
    std::map<std::uint32_t, std::string> names_of_paths_;
    std::map<std::uint32_t, std::map<std::uint64_t, std::pair<std::string, std::uint64_t>>> types_; // by rank and number
    std::map<std::tuple<std::uint32_t, std::uint64_t, std::string>, TaskSum> tasks_;                // by rank, number and counter
    std::map<std::pair<Group, std::string>, DurationSeries> found_;
};

} // namespace

std::vector<DurationSeries> counters_of_events(const Profile& profile, std::span<const std::uint32_t> ranks,
                                               const std::function<bool(const EventPart&)>& is_chosen, const PassingEvents& passing) {
    CounterSeries series(profile, passing);
    for (std::size_t l = 0; l < profile.locations.size(); ++l) {
        if (!ranks.empty() && !std::binary_search(ranks.begin(), ranks.end(), profile.locations[l].rank)) continue;
        for (const EventPart& part : profile.locations[l].events.parts)
            if (is_chosen(part)) series.add(l, part);
    }
    return series.list();
}

} // namespace libprofile::tools
