// The tasks of a rank whose events were left in their file, from one piece of its time to the next.
// Contract: one thread; keeps references; memory of `reach` pieces of about 25,000 events, and of the tasks that are created and not over, up to
// `most_pending`; throws ReadError where files are damaged, and std::bad_alloc.
//
// A task is told when it is over. What happened since it began is read again, so that its own time is that of task_pieces.hpp: of those that began more
// than `reach` pieces before their end it is not known. Creations before the selection are looked for where they are missed, up to `far` pieces back. What is
// not known is counted.
#pragma once

#include "tools/timeline/selected_times.hpp"
#include "tools/timeline/task_pieces.hpp"
#include "tools/timeline/timeline_index.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace libprofile::tools {

class FollowedTasks {
  public:
    static constexpr std::size_t reach = 4, far = 128, most_pending = 4'000'000;

    /// A complete task in the selection.
    struct Told {
        std::uint32_t run_path = 0; // of the function that runs
        std::uint32_t path = 0;     // of its creation
        std::uint64_t own_ns = 0;
        bool is_stolen = false;
        const TaskRecords* records = nullptr; // while it is told
        std::span<const TaskRecords::Run> runs = {};
    };
    /// @param rank has threads with the selection
    FollowedTasks(const Profile& profile, const IndexedRows& rows, const SelectedTimes& times, std::uint32_t rank);

    /// How much of the selection is done.
    double share() const { return borders_.empty() ? 1 : static_cast<double>(at_ - begin_) / static_cast<double>(borders_.size() - 1 - begin_); }
    /// Calls tell(task) for those that end in the next piece, or looks for creations before the selection. False: there is nothing more.
    bool next(const std::function<void(const Told&)>& tell);

    std::uint64_t incomplete() const { return incomplete_; } // tasks in the selection of which not all was kept
    std::uint64_t too_long() const { return too_long_; }     // that were created or began too long before
    std::uint64_t unfinished() const { return unfinished_; } // in the selection, and not over at its end; 0 at the end of the trace, where these are incomplete

  private:
    struct Pending {
        std::uint32_t location = 0;
        TracedTask task; // its creation, without dependences
    };
    void pend(std::uint32_t location, const TracedTask& task);
    void read(std::uint64_t from, std::uint64_t to);
    std::uint64_t oldest() const { return borders_[at_ > begin_ + reach ? at_ - reach : begin_]; } // begin of a task of this piece
    std::uint64_t begin_of_runs(std::uint64_t to) const;
    bool has_missed_creations(std::uint64_t to) const;
    void take_creations(std::uint64_t from, std::uint64_t to);
    std::vector<TaskPart> parts();
    void take_tasks(std::uint64_t to, const std::function<void(const Told&)>& tell);
    bool is_inside(const TaskRecords& records, std::uint32_t task, std::size_t first, std::size_t end) const;

    const IndexedRows& rows_;
    const SelectedTimes& times_;
    Profile shown_; // the profile's tables, with the events of a piece
    std::vector<std::uint32_t> locations_;
    std::vector<std::uint64_t> borders_;
    std::size_t begin_ = 0, at_ = 0;                     // pieces: where the selection begins, the next one
    std::size_t back_ = 0, farthest_ = 0;                // creations are read from here on, and may be from there on
    std::uint64_t from_ = 0;                             // what is read begins here
    std::uint64_t end_ = 0;                              // of all events
    std::unordered_map<std::uint64_t, Pending> pending_; // by number: created, and not over
    std::unordered_map<std::uint64_t, bool> given_up_;   // by number: began too long before; whether it lay in the selection until then
    std::unordered_set<std::uint64_t> over_;             // numbers: over before the selection
    bool is_full_ = false;                               // not all creations had room
    std::uint64_t incomplete_ = 0, too_long_ = 0, unfinished_ = 0;
};

} // namespace libprofile::tools
