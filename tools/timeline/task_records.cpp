#include "tools/timeline/task_records.hpp"

#include <algorithm>
#include <string_view>
#include <tuple>

namespace libprofile::tools {

namespace {

using WaitKind = TaskRecords::WaitKind;

/// What an interval is to tasks.
enum class IntervalRole : std::uint8_t { Other, Taskwait, Taskgroup, Barrier, Idle, Region };

IntervalRole role_of(std::string_view name) {
    if (name == "omp taskwait") return IntervalRole::Taskwait;
    if (name == "omp taskgroup") return IntervalRole::Taskgroup;
    if (name == "omp barrier" || name == "omp implicit barrier") return IntervalRole::Barrier;
    if (name == "omp idle") return IntervalRole::Idle;
    return name == "omp parallel" ? IntervalRole::Region : IntervalRole::Other;
}

/// The elements of a list that belong to a part.
template <class T> std::span<const T> range(const std::vector<T>& list, std::uint64_t at, std::uint64_t count) {
    at = std::min<std::uint64_t>(at, list.size());
    return std::span(list).subspan(at, std::min<std::uint64_t>(count, list.size() - at));
}

class Collector {
  public:
    Collector(const Profile& profile, std::span<const TaskPart> parts) : profile_(profile), parts_(parts.begin(), parts.end()) {
        for (const Function& function : profile.functions) roles_.push_back(role_of(function.name));
    }

    TaskRecords records() {
        std::sort(parts_.begin(), parts_.end(),
                  [](const TaskPart& a, const TaskPart& b) { return std::tie(a.location, a.part) < std::tie(b.location, b.part); });
        for (const TaskPart& at : parts_) {
            const KeptEvents& events = profile_.locations[at.location].events;
            add_thread(at.location, events.parts[at.part]);
            add(events, events.parts[at.part]);
        }
        for (TaskRecords::Thread& thread : out_.threads) thread.holes.push_back({ends_[static_cast<std::size_t>(&thread - out_.threads.data())], UINT64_MAX});
        order_tasks();
        order_runs();
        order_regions();
        return std::move(out_);
    }

  private:
    std::uint32_t thread() const { return static_cast<std::uint32_t>(out_.threads.size() - 1); }

    void add_thread(std::uint32_t location, const EventPart& part) {
        if (out_.threads.empty() || out_.threads.back().location != location) {
            out_.threads.push_back({location, {}});
            ends_.push_back(0);
        }
        if (part.begin_ns > ends_.back()) out_.threads.back().holes.push_back({ends_.back(), part.begin_ns});
        ends_.back() = std::max(ends_.back(), part.end_ns);
    }

    bool is_forward(std::uint64_t begin, std::uint64_t end) {
        out_.backward += end < begin ? 1 : 0;
        return begin <= end;
    }

    void add(const KeptEvents& events, const EventPart& part) {
        for (const TracedInterval& interval : range(events.intervals, part.intervals_at, part.intervals)) add_interval(interval);
        for (const TracedTask& task : range(events.tasks, part.tasks_at, part.tasks))
            out_.tasks.push_back({task.number, task.creator, task.created_ns, thread(), task.path, task.flags,
                                  range(events.dependences, task.dependences_at, task.dependences)});
        for (const TracedTaskRun& run : range(events.runs, part.runs_at, part.runs)) {
            if (!is_forward(run.begin_ns, run.end_ns)) continue;
            out_.runs.push_back({run.begin_ns, run.end_ns, TaskRecords::none, thread(), run.path, run.is_over, run.is_resumed, false, run.processor});
            run_numbers_.push_back(run.task);
        }
        for (const TracedTaskGroup& group : range(events.groups, part.groups_at, part.groups))
            if (is_forward(group.begin_ns, group.end_ns)) out_.groups.push_back({group.begin_ns, group.end_ns, thread(), group.task});
    }

    void add_interval(const TracedInterval& interval) {
        if (interval.path >= profile_.paths.size()) return;
        const CallPath& path = profile_.paths[interval.path];
        if (path.kind != NodeKind::OpenMp || path.target >= roles_.size() || roles_[path.target] == IntervalRole::Other) return;
        if (!is_forward(interval.begin_ns, interval.end_ns)) return;
        const auto wait = [&](WaitKind kind) { out_.waits.push_back({interval.begin_ns, interval.end_ns, thread(), kind}); };
        switch (roles_[path.target]) {
        case IntervalRole::Taskwait: return wait(WaitKind::Taskwait);
        case IntervalRole::Taskgroup: return wait(WaitKind::Taskgroup);
        case IntervalRole::Barrier: return wait(WaitKind::Barrier);
        case IntervalRole::Idle: return wait(WaitKind::Idle);
        case IntervalRole::Region: out_.regions.push_back({interval.begin_ns, interval.end_ns, thread(), interval.path}); return;
        case IntervalRole::Other: return;
        }
    }

    void order_tasks() {
        std::stable_sort(out_.tasks.begin(), out_.tasks.end(),
                         [](const TaskRecords::Task& a, const TaskRecords::Task& b) { return a.created_ns < b.created_ns; });
        std::vector<std::pair<std::uint64_t, std::uint32_t>> numbers;
        for (std::uint32_t t = 0; t < out_.tasks.size(); ++t) numbers.emplace_back(out_.tasks[t].number, t);
        std::sort(numbers.begin(), numbers.end());
        std::vector<bool> is_repeated(out_.tasks.size());
        for (std::size_t i = 1; i < numbers.size(); ++i) is_repeated[numbers[i].second] = numbers[i].first == numbers[i - 1].first;
        std::uint32_t kept = 0;
        for (std::uint32_t t = 0; t < out_.tasks.size(); ++t)
            if (!is_repeated[t]) out_.tasks[kept++] = out_.tasks[t];
        out_.repeated = out_.tasks.size() - kept;
        out_.tasks.resize(kept);
        for (std::uint32_t t = 0; t < kept; ++t) out_.by_number.emplace_back(out_.tasks[t].number, t);
        std::sort(out_.by_number.begin(), out_.by_number.end());
    }

    /// LLVM's runtime does not tell which function a task runs.
    bool is_function(std::uint32_t path) const { return path < profile_.paths.size() && is_code(profile_.paths[path].kind); }

    bool is_cut(const TaskRecords::Run& run) const {
        const std::vector<TaskRecords::Hole>& holes = out_.threads[run.thread].holes;
        const auto at = std::partition_point(holes.begin(), holes.end(), [&](const TaskRecords::Hole& hole) { return hole.end_ns <= run.begin_ns; });
        return at != holes.end() && at->begin_ns < run.end_ns;
    }

    void order_runs() {
        std::vector<std::uint64_t> elsewhere;
        for (std::size_t r = 0; r < out_.runs.size(); ++r) {
            out_.runs[r].task = out_.task_of(run_numbers_[r]);
            out_.runs[r].is_cut = is_cut(out_.runs[r]);
            if (out_.runs[r].task == TaskRecords::none)
                elsewhere.push_back(run_numbers_[r]);
            else if (!is_function(out_.runs[r].path))
                out_.runs[r].path = out_.tasks[out_.runs[r].task].path;
        }
        std::sort(elsewhere.begin(), elsewhere.end());
        out_.tasks_created_elsewhere = static_cast<std::uint64_t>(std::unique(elsewhere.begin(), elsewhere.end()) - elsewhere.begin());
        std::stable_sort(out_.runs.begin(), out_.runs.end(), [](const TaskRecords::Run& a, const TaskRecords::Run& b) {
            return std::tie(a.task, a.begin_ns, a.end_ns) < std::tie(b.task, b.begin_ns, b.end_ns);
        });
    }

    void order_regions() {
        std::vector<TaskRecords::Region> all = std::move(out_.regions);
        std::sort(all.begin(), all.end(), [](const TaskRecords::Region& a, const TaskRecords::Region& b) {
            return a.begin_ns != b.begin_ns ? a.begin_ns < b.begin_ns : a.end_ns > b.end_ns;
        });
        out_.regions.clear();
        for (const TaskRecords::Region& region : all) {
            if (out_.regions.empty() || region.begin_ns >= out_.regions.back().end_ns)
                out_.regions.push_back(region);
            else
                out_.regions.back().end_ns = std::max(out_.regions.back().end_ns, region.end_ns);
        }
        std::vector<bool> has_tasks(out_.regions.size());
        for (const TaskRecords::Task& task : out_.tasks)
            if (const std::uint32_t region = out_.region_at(task.created_ns); region != TaskRecords::none) has_tasks[region] = true;
        std::size_t kept = 0;
        for (std::size_t r = 0; r < has_tasks.size(); ++r)
            if (has_tasks[r]) out_.regions[kept++] = out_.regions[r];
        out_.regions.resize(kept);
    }

    const Profile& profile_;
    std::vector<TaskPart> parts_;
    std::vector<IntervalRole> roles_; // by function
    std::vector<std::uint64_t> ends_; // by thread: where its last part ended
    std::vector<std::uint64_t> run_numbers_;
    TaskRecords out_;
};

} // namespace

std::uint32_t TaskRecords::task_of(std::uint64_t number) const {
    const auto at = std::lower_bound(by_number.begin(), by_number.end(), std::pair(number, std::uint32_t{0}));
    return at == by_number.end() || at->first != number ? none : at->second;
}

bool TaskRecords::is_whole(std::size_t first, std::size_t end) const {
    for (std::size_t r = first; r < end; ++r)
        if (runs[r].is_cut || runs[r].is_resumed != (r != first) || runs[r].is_over != (r + 1 == end)) return false;
    return first != end;
}

std::uint32_t TaskRecords::region_at(std::uint64_t time_ns) const {
    const auto after =
        std::upper_bound(regions.begin(), regions.end(), time_ns, [](std::uint64_t time, const Region& region) { return time < region.begin_ns; });
    if (after == regions.begin() || time_ns > std::prev(after)->end_ns) return none;
    return static_cast<std::uint32_t>(after - regions.begin() - 1);
}

TaskRecords task_records(const Profile& profile, std::span<const TaskPart> parts) { return Collector(profile, parts).records(); }

} // namespace libprofile::tools
