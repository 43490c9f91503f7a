#include "tools/timeline/followed_tasks.hpp"

#include "tools/timeline/row_window.hpp"

#include <algorithm>
#include <map>
#include <unordered_set>

namespace libprofile::tools {

FollowedTasks::FollowedTasks(const Profile& profile, const IndexedRows& rows, const SelectedTimes& times, std::uint32_t rank) : rows_(rows), times_(times) {
    shown_.paths = profile.paths;
    shown_.functions = profile.functions;
    shown_.locations.resize(profile.locations.size());
    std::vector<std::uint64_t> begins; // of groups
    std::uint64_t from = ~std::uint64_t{0}, to = 0;
    for (std::uint32_t l = 0; l < profile.locations.size(); ++l) {
        const IndexedRow* row = rows[l];
        if (profile.locations[l].rank != rank || row == nullptr || row->index().leaves == 0) continue;
        locations_.push_back(l);
        for (const LeafGroup& group : row->index().groups) begins.push_back(group.time);
        end_ = std::max(end_, row->index().end);
        if (!times.spans[l].is_there()) continue;
        from = std::min(from, times.spans[l].begin_ns);
        to = std::max(to, times.spans[l].end_ns);
    }
    if (from > to || from > end_) return;
    std::sort(begins.begin(), begins.end());
    for (const std::uint64_t begin : begins)
        if (begin < to && (borders_.empty() || begin > borders_.back())) borders_.push_back(begin);
    if (borders_.empty()) return;
    const auto after = static_cast<std::size_t>(std::upper_bound(borders_.begin(), borders_.end(), from) - borders_.begin());
    borders_.push_back(std::min(to, end_)); // all that lies in the selection has ended
    begin_ = after == 0 ? 0 : after - 1;
    at_ = back_ = begin_;
    farthest_ = begin_ > far ? begin_ - far : 0;
    from_ = borders_[begin_];
}

bool FollowedTasks::next(const std::function<void(const Told&)>& tell) {
    if (at_ + 1 >= borders_.size()) return false;
    const std::uint64_t to = borders_[at_ + 1];
    read(from_, to);
    // A run is recorded at its end: what is needed before was not known.
    if (const std::uint64_t begin = std::max(begin_of_runs(to), oldest()); begin < from_) read(from_ = begin, to);
    if (back_ > farthest_ && has_missed_creations(to)) {
        --back_;
        read(borders_[back_], borders_[back_ + 1]);
        take_creations(borders_[back_], borders_[back_ + 1]);
        return true;
    }
    take_tasks(to, tell);
    ++at_;
    return true;
}

void FollowedTasks::read(std::uint64_t from, std::uint64_t to) {
    for (const std::uint32_t l : locations_) shown_.locations[l].events = events_between(*rows_[l], from, to + 1);
}

/// When the first one of those began that end in the piece.
std::uint64_t FollowedTasks::begin_of_runs(std::uint64_t to) const {
    std::uint64_t begin = from_;
    for (const std::uint32_t l : locations_)
        for (const TracedTaskRun& run : shown_.locations[l].events.runs)
            if (run.end_ns > borders_[at_] && run.end_ns <= to) begin = std::min(begin, run.begin_ns);
    return begin;
}

/// Of a task that runs in the piece.
bool FollowedTasks::has_missed_creations(std::uint64_t to) const {
    std::unordered_set<std::uint64_t> created;
    for (const std::uint32_t l : locations_)
        for (const TracedTask& task : shown_.locations[l].events.tasks)
            if (task.created_ns >= from_) created.insert(task.number);
    const std::uint64_t before = borders_[at_];
    for (const std::uint32_t l : locations_)
        for (const TracedTaskRun& run : shown_.locations[l].events.runs) {
            const bool is_new = run.end_ns > before && run.end_ns <= to && times_.has(l, run.begin_ns, run.end_ns);
            if (is_new && !created.contains(run.task) && !pending_.contains(run.task) && !given_up_.contains(run.task)) return true;
        }
    return false;
}

void FollowedTasks::pend(std::uint32_t location, const TracedTask& task) {
    if (pending_.size() < most_pending)
        pending_.try_emplace(task.number, Pending{location, task});
    else
        is_full_ = true;
}

/// Pieces come backwards. A task that was suspended there began before the selection, and one that is over there does not lie in it.
void FollowedTasks::take_creations(std::uint64_t from, std::uint64_t to) {
    for (const std::uint32_t l : locations_)
        for (const TracedTaskRun& run : shown_.locations[l].events.runs) {
            if (run.end_ns > to) continue;
            if (run.is_over)
                over_.insert(run.task);
            else
                given_up_.try_emplace(run.task, false); // it began before the selection
        }
    for (const std::uint32_t l : locations_)
        for (const TracedTask& task : shown_.locations[l].events.tasks)
            if (task.created_ns >= from && task.created_ns <= to && !over_.contains(task.number) && !given_up_.contains(task.number))
                pend(l, {task.number, task.creator, task.created_ns, task.path, task.flags});
}

/// Of the piece. Tasks that were created before it and run in it are in a part that takes no time.
std::vector<TaskPart> FollowedTasks::parts() {
    std::map<std::uint32_t, std::size_t> own; // creations, by location
    for (const std::uint32_t l : locations_) own[l] = shown_.locations[l].events.tasks.size();
    std::unordered_set<std::uint64_t> added;
    for (const std::uint32_t l : locations_)
        for (const TracedTaskRun& run : shown_.locations[l].events.runs) {
            const auto at = pending_.find(run.task);
            if (at != pending_.end() && added.insert(run.task).second) shown_.locations[at->second.location].events.tasks.push_back(at->second.task);
        }
    std::vector<TaskPart> parts;
    for (const std::uint32_t l : locations_) {
        KeptEvents& events = shown_.locations[l].events;
        EventPart before;
        before.tasks_at = static_cast<std::uint32_t>(own[l]);
        before.tasks = static_cast<std::uint32_t>(events.tasks.size() - own[l]);
        if (before.tasks != 0) events.parts.push_back(before);
        for (std::uint32_t p = 0; p < events.parts.size(); ++p) parts.push_back({l, p});
    }
    return parts;
}

bool FollowedTasks::is_inside(const TaskRecords& records, std::uint32_t task, std::size_t first, std::size_t end) const {
    const TaskRecords::Task& own = records.tasks[task];
    if (first == end || (times_.is_iteration && !times_.has(records.threads[own.thread].location, own.created_ns, own.created_ns))) return false;
    return std::all_of(records.runs.begin() + static_cast<std::ptrdiff_t>(first), records.runs.begin() + static_cast<std::ptrdiff_t>(end),
                       [&](const TaskRecords::Run& run) { return times_.has(records.threads[run.thread].location, run.begin_ns, run.end_ns); });
}

void FollowedTasks::take_tasks(std::uint64_t to, const std::function<void(const Told&)>& tell) {
    const TaskRecords records = task_records(shown_, parts());
    const TaskPieces pieces = task_pieces(records);
    const std::uint64_t before = borders_[at_];
    const bool is_last = at_ + 2 == borders_.size();
    const auto is_known = [&](std::uint32_t task) {
        return task != TaskRecords::none && (records.tasks[task].created_ns >= from_ || pending_.contains(records.tasks[task].number));
    };
    for (const std::uint32_t l : locations_)
        for (const TracedTaskRun& run : shown_.locations[l].events.runs) {
            if (!run.is_over || run.end_ns <= before || run.end_ns > to || !times_.has(l, run.begin_ns, run.end_ns)) continue;
            const auto given_up = given_up_.find(run.task);
            if (given_up != given_up_.end()) {
                too_long_ += given_up->second ? 1 : 0;
                given_up_.erase(given_up);
            } else if ((farthest_ > 0 || is_full_) && !is_known(records.task_of(run.task))) {
                ++too_long_;
            }
        }
    std::uint64_t next_from = to;
    std::size_t next_run = 0;
    for (std::uint32_t t = 0; t < records.tasks.size(); ++t) {
        const std::size_t first = next_run;
        while (next_run < records.runs.size() && records.runs[next_run].task == t) ++next_run;
        const TaskRecords::Task& task = records.tasks[t];
        if (!is_known(t)) continue;
        if (first != next_run && records.runs[next_run - 1].is_over && records.runs[next_run - 1].end_ns <= to) {
            pending_.erase(task.number);
            const bool is_told = at_ != begin_ && records.runs[next_run - 1].end_ns <= before;
            if (is_told || !is_inside(records, t, first, next_run)) continue;
            if (!records.is_whole(first, next_run)) {
                ++incomplete_;
                continue;
            }
            if (records.runs[first].begin_ns < from_) { // what ran inside it is not there
                ++too_long_;
                continue;
            }
            Told told{records.runs[first].path,
                      task.path,
                      0,
                      records.runs[first].thread != task.thread,
                      &records,
                      std::span(records.runs).subspan(first, next_run - first)};
            for (std::uint32_t p = pieces.first[t]; p < pieces.first[t + 1]; ++p) told.own_ns += pieces.pieces[p].own_ns;
            tell(told);
        } else if (to == end_) {
            incomplete_ += is_inside(records, t, first, next_run) ? 1 : 0;
        } else if (is_last) {
            unfinished_ += is_inside(records, t, first, next_run) ? 1 : 0;
        } else if (first != next_run && records.runs[first].begin_ns < oldest()) {
            given_up_[task.number] = is_inside(records, t, first, next_run);
            pending_.erase(task.number);
        } else {
            if (first != next_run) next_from = std::min(next_from, records.runs[first].begin_ns);
            pend(records.threads[task.thread].location, {task.number, task.creator, task.created_ns, task.path, task.flags});
        }
    }
    for (const auto& [number, is_selected] : given_up_)
        if (is_last) (to == end_ ? incomplete_ : unfinished_) += is_selected ? 1 : 0;
    from_ = next_from;
}

} // namespace libprofile::tools
