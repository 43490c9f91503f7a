#include "tools/timeline/duration_scan.hpp"

#include "tools/analysis/in_parallel.hpp"
#include "tools/timeline/row_builder.hpp"
#include "tools/timeline/row_window.hpp"
#include "tools/timeline/task_types.hpp"

#include <algorithm>
#include <mutex>

namespace libprofile::tools {

namespace {

constexpr std::size_t units_of_step = 8, ranks_at_once = 2;

} // namespace

DurationScan::DurationScan(const Profile& profile, IndexedRows rows, SelectedTimes times, CallGroups groups, const PassingCalls* passing)
    : profile_(profile), rows_(std::move(rows)), times_(std::move(times)), groups_(std::move(groups)), passing_(passing), calls_(groups_.groups) {
    for (std::uint32_t l = 0; l < times_.spans.size(); ++l) {
        const IndexedRow* row = rows_[l];
        const SelectedTimes::Span& span = times_.spans[l];
        if (row == nullptr || !span.is_there() || (passing_ != nullptr && !passing_->has_thread(l))) continue;
        const std::vector<LeafGroup>& all = row->index().groups;
        for (std::uint32_t g = 0; g < all.size() && all[g].time <= span.end_ns; ++g)
            if (row->index().end_of(g) >= span.begin_ns) units_.push_back({l, g});
    }
}

double DurationScan::share() const {
    if (!is_at_tasks()) return static_cast<double>(next_unit_) / static_cast<double>(units_.size());
    double done = static_cast<double>(next_rank_ - open_.size());
    for (const OpenRank& rank : open_) done += rank.tasks->share();
    return ranks_.empty() ? 1 : done / static_cast<double>(ranks_.size());
}

void DurationScan::go_on(std::chrono::milliseconds time) {
    const auto end = std::chrono::steady_clock::now() + time;
    while (!is_done()) {
        if (is_at_tasks())
            count_tasks();
        else
            count_calls();
        if (std::chrono::steady_clock::now() >= end) break;
    }
}

void DurationScan::count_calls() {
    std::mutex counting;
    const std::size_t units = std::min(units_of_step, units_.size() - next_unit_);
    in_parallel(units, [&](std::size_t i) {
        const Unit unit = units_[next_unit_ + i];
        const IndexedRow& row = *rows_[unit.location];
        const SelectedTimes::Span& span = times_.spans[unit.location];
        const std::vector<std::uint32_t>& paths = *row.block().paths;
        std::vector<std::pair<std::uint32_t, std::uint64_t>> found; // group and ns
        bool has_tasks = false;
        for_each_leaf(row, unit.group, span.begin_ns, span.end_ns, [&](const KeptEvents& events) {
            has_tasks = has_tasks || !events.runs.empty();
            for (const TracedInterval& interval : events.intervals) {
                const bool is_known = interval.path < paths.size() && paths[interval.path] < groups_.of_path.size();
                const TimelineState state = state_of_node(row.states(), interval.path);
                const bool is_call = state != TimelineState::Region && interval.begin_ns <= interval.end_ns;
                if (is_call && times_.has(unit.location, interval.begin_ns, interval.end_ns) &&
                    (passing_ == nullptr || passing_->has(unit.location, {interval.begin_ns, interval.end_ns, interval.path, interval.processor, state})))
                    found.emplace_back(is_known ? groups_.of_path[paths[interval.path]] : 0, interval.end_ns - interval.begin_ns);
            }
        });
        const std::lock_guard lock(counting);
        for (const auto& [group, ns] : found) calls_[group].add(ns);
        if (has_tasks) found_.insert(profile_.locations[unit.location].rank);
    });
    next_unit_ += units;
    if (is_at_tasks()) ranks_.assign(found_.begin(), found_.end());
}

void DurationScan::count_tasks() {
    while (open_.size() < ranks_at_once && next_rank_ < ranks_.size())
        open_.push_back({std::make_unique<FollowedTasks>(profile_, rows_, times_, ranks_[next_rank_++]), false, {}});
    in_parallel(open_.size(), [&](std::size_t i) {
        OpenRank& rank = open_[i];
        rank.told.clear();
        rank.is_over = !rank.tasks->next([&](const FollowedTasks::Told& task) {
            if (passing_ == nullptr || passing_->has(task)) rank.told.push_back(task);
        });
    });
    for (const OpenRank& rank : open_) {
        for (const FollowedTasks::Told& task : rank.told) {
            const auto [known, is_new] = by_paths_.try_emplace({task.run_path, task.path}, nullptr);
            if (is_new) {
                const TaskPlace name = task_type_name(profile_, task.run_path, task.path);
                if (passing_ == nullptr || passing_->has_type(name)) known->second = &tasks_[{name.function, name.source}];
            }
            TaskType* type = known->second;
            if (type == nullptr) continue;
            type->durations.add(task.own_ns);
            type->stolen += task.is_stolen ? 1 : 0;
        }
        if (!rank.is_over) continue;
        incomplete_ += rank.tasks->incomplete();
        too_long_ += rank.tasks->too_long();
        unfinished_ += rank.tasks->unfinished();
    }
    std::erase_if(open_, [](const OpenRank& rank) { return rank.is_over; });
}

} // namespace libprofile::tools
