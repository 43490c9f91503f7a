// How long the calls and tasks take that lie in a selected part of the timeline, of events that were left in their files: all of them are counted, which
// takes its time, so it goes on step by step.
// Contract: one thread, which starts others; keeps references; memory in proportion to the functions and types (duration_counts.hpp) and of a step; throws
// ReadError where files are damaged, and std::bad_alloc.
#pragma once

#include "tools/timeline/duration_counts.hpp"
#include "tools/timeline/followed_tasks.hpp"
#include "tools/timeline/passing_calls.hpp"
#include "tools/timeline/selected_times.hpp"
#include "tools/timeline/timeline_index.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace libprofile::tools {

class DurationScan {
  public:
    /// What calls are told apart by; by call path. They are below `groups`.
    struct CallGroups {
        std::vector<std::uint32_t> of_path;
        std::size_t groups = 0;
    };
    struct TaskType {
        DurationCounts durations; // own times
        std::uint64_t stolen = 0;
    };

    /// @param passing only what passes is counted, but of tasks that are not told; null: all
    DurationScan(const Profile& profile, IndexedRows rows, SelectedTimes times, CallGroups groups, const PassingCalls* passing = nullptr);
    DurationScan(const DurationScan&) = delete;
    DurationScan& operator=(const DurationScan&) = delete;

    /// Counts on: about so long, one step at least.
    void go_on(std::chrono::milliseconds time);
    bool is_done() const { return next_unit_ == units_.size() && next_rank_ == ranks_.size() && open_.empty(); }
    bool is_at_tasks() const { return next_unit_ == units_.size(); }
    /// Of the calls, or of the tasks.
    double share() const;

    const SelectedTimes& times() const { return times_; }
    const std::vector<DurationCounts>& calls() const { return calls_; }                             // by group
    const std::map<std::pair<std::string, std::string>, TaskType>& tasks() const { return tasks_; } // by function and source
    std::uint64_t incomplete() const { return incomplete_; }
    std::uint64_t too_long() const { return too_long_; } // followed_tasks.hpp
    std::uint64_t unfinished() const { return unfinished_; }

  private:
    struct Unit {
        std::uint32_t location = 0, group = 0;
    };
    void count_calls();
    void count_tasks();

    const Profile& profile_;
    const IndexedRows rows_;
    const SelectedTimes times_;
    const CallGroups groups_;
    const PassingCalls* passing_;
    std::vector<Unit> units_;
    std::size_t next_unit_ = 0;
    std::vector<DurationCounts> calls_;
    std::set<std::uint32_t> found_;    // ranks with tasks
    std::vector<std::uint32_t> ranks_; // the same, when all calls are counted
    std::size_t next_rank_ = 0;
    struct OpenRank {
        std::unique_ptr<FollowedTasks> tasks;
        bool is_over = false;
        std::vector<FollowedTasks::Told> told;
    };
    std::vector<OpenRank> open_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, TaskType*> by_paths_; // null: it does not pass
    std::map<std::pair<std::string, std::string>, TaskType> tasks_;
    std::uint64_t incomplete_ = 0, too_long_ = 0, unfinished_ = 0;
};

} // namespace libprofile::tools
