#include "tools/timeline/task_pieces.hpp"

#include <algorithm>
#include <tuple>

namespace libprofile::tools {

namespace {

constexpr std::uint32_t no_task = TaskPieces::none;
using TaskCut = TaskPieces::Cut;

/// What may be open on a thread, the outer ones first where they begin at the same time.
enum class Open : std::uint8_t { Hole, Implicit, Undeferred, Run, Wait, Group, Creation };

struct OpenItem {
    Open kind = Open::Hole;
    std::uint32_t index = 0; // in its list
    std::uint64_t begin = 0, end = 0;
};

/// Where an item begins or ends.
struct Border {
    std::uint64_t time = 0;
    std::uint8_t turn = 0;  // at the same time: ends, begins, points, ends of what takes no time
    std::uint64_t tie = 0;  // ends: what began last is first; begins: what ends last is first
    std::uint8_t inner = 0; // the same for equal times
    std::uint32_t item = 0;
    bool is_end = false;

    auto key() const { return std::tie(time, turn, tie, inner, item); }
};

/// What the threads' sweeps fill together.
struct Cuts {
    const TaskRecords& records;
    TaskPieces out;
    std::vector<std::uint64_t> pending;    // by task: own time since its last cut
    std::vector<std::uint32_t> path;       // by task: of the function that runs
    std::vector<std::uint32_t> open_waits; // by task, of the current thread

    std::uint32_t add_implicit(std::uint32_t thread, std::uint32_t region) {
        out.implicits.push_back({thread, region});
        pending.push_back(0);
        path.push_back(region == no_task ? 0 : records.regions[region].path);
        open_waits.push_back(0);
        return static_cast<std::uint32_t>(pending.size() - 1);
    }
    bool is_implicit(std::uint32_t task) const { return task >= records.tasks.size(); }
    void cut(std::uint32_t task, TaskCut cut, std::uint32_t what, std::uint64_t now) {
        const std::uint32_t where = cut == TaskCut::Creation && is_implicit(task) ? records.tasks[what].path : path[task];
        out.pieces.push_back({task, what, cut, where, pending[task], now});
        pending[task] = 0;
    }
};

/// Goes through the time of one thread.
class ThreadSweep {
  public:
    ThreadSweep(Cuts& cuts, std::uint32_t thread, std::vector<OpenItem> items) : cuts_(cuts), thread_(thread), items_(std::move(items)) {
        closed_.resize(items_.size());
        task_of_.assign(items_.size(), no_task);
        for (std::uint32_t i = 0; i < items_.size(); ++i) {
            const OpenItem& item = items_[i];
            const auto inner = static_cast<std::uint8_t>(item.kind);
            if (item.kind == Open::Creation) {
                borders_.push_back({item.begin, 2, 0, inner, i, false});
                continue;
            }
            const bool takes_time = item.end > item.begin;
            borders_.push_back({item.begin, 1, ~item.end, inner, i, false});
            borders_.push_back({item.end, static_cast<std::uint8_t>(takes_time ? 0 : 3), ~item.begin, static_cast<std::uint8_t>(~inner), i, true});
        }
        std::sort(borders_.begin(), borders_.end(), [](const Border& a, const Border& b) { return a.key() < b.key(); });
    }

    void run() {
        for (const Border& border : borders_) {
            if (const std::uint32_t task = working(); task != no_task) cuts_.pending[task] += border.time - at_;
            at_ = border.time;
            const OpenItem& item = items_[border.item];
            if (border.is_end)
                end(border.item, item);
            else
                begin(border.item, item);
        }
    }

  private:
    static bool is_wait(Open kind) { return kind == Open::Wait || kind == Open::Undeferred; }

    /// The task that computes now.
    std::uint32_t working() {
        while (!open_.empty() && closed_[open_.back()]) open_.pop_back();
        if (holes_ != 0 || open_.empty() || is_wait(items_[open_.back()].kind)) return no_task;
        const std::uint32_t task = task_of_[open_.back()];
        return task == no_task || cuts_.open_waits[task] != 0 ? no_task : task;
    }
    /// The task that runs or waits now: the implicit one if there is no other.
    std::uint32_t current() {
        working();
        return open_.empty() ? implicit() : task_of_[open_.back()];
    }
    std::uint32_t implicit() {
        if (implicit_ != no_task) return implicit_;
        if (outside_ == no_task) outside_ = cuts_.add_implicit(thread_, no_task);
        return outside_;
    }
    std::uint32_t numbered(std::uint64_t number) { return number == 0 ? implicit() : cuts_.records.task_of(number); }

    /// A task that is suspended in its wait does not hide what is around it.
    void leave_waits(std::uint32_t task) {
        while (!open_.empty() && (closed_[open_.back()] || (is_wait(items_[open_.back()].kind) && task_of_[open_.back()] == task))) open_.pop_back();
    }

    void begin(std::uint32_t at, const OpenItem& item) {
        switch (item.kind) {
        case Open::Hole: ++holes_; return;
        case Open::Implicit:
            task_of_[at] = implicit_ = cuts_.add_implicit(thread_, item.index);
            open_.push_back(at);
            return;
        case Open::Run: {
            const TaskRecords::Run& run = cuts_.records.runs[item.index];
            task_of_[at] = run.task;
            if (run.task != no_task) cuts_.path[run.task] = run.path;
            open_.push_back(at);
            return;
        }
        case Open::Undeferred:
        case Open::Wait:
            task_of_[at] = current();
            if (item.kind == Open::Wait) cuts_.out.waiting[item.index] = task_of_[at];
            if (task_of_[at] != no_task) ++cuts_.open_waits[task_of_[at]];
            open_.push_back(at);
            return;
        case Open::Group:
            task_of_[at] = numbered(cuts_.records.groups[item.index].task);
            if (task_of_[at] != no_task) cuts_.cut(task_of_[at], TaskCut::GroupBegin, item.index, item.begin);
            return;
        case Open::Creation:
            if (const std::uint32_t creator = numbered(cuts_.records.tasks[item.index].creator); creator != no_task)
                cuts_.cut(creator, TaskCut::Creation, item.index, item.begin);
            return;
        }
    }

    void end(std::uint32_t at, const OpenItem& item) {
        closed_[at] = true;
        const std::uint32_t task = task_of_[at];
        switch (item.kind) {
        case Open::Hole: --holes_; return;
        case Open::Implicit:
            cuts_.cut(task, TaskCut::End, no_task, item.end);
            implicit_ = no_task;
            return;
        case Open::Run:
            if (task == no_task) return;
            cuts_.cut(task, TaskCut::End, item.index, item.end);
            leave_waits(task);
            return;
        case Open::Undeferred:
        case Open::Wait: {
            if (task == no_task) return;
            --cuts_.open_waits[task];
            if (item.kind == Open::Undeferred) return;
            const TaskRecords::WaitKind kind = cuts_.records.waits[item.index].kind;
            if (kind == TaskRecords::WaitKind::Taskwait) cuts_.cut(task, TaskCut::Taskwait, item.index, item.end);
            if (kind == TaskRecords::WaitKind::Barrier && cuts_.is_implicit(task)) cuts_.cut(task, TaskCut::Barrier, item.index, item.end);
            return;
        }
        case Open::Group:
            if (task != no_task) cuts_.cut(task, TaskCut::GroupEnd, item.index, item.end);
            return;
        case Open::Creation: return;
        }
    }

    Cuts& cuts_;
    std::uint32_t thread_;
    std::vector<OpenItem> items_;
    std::vector<bool> closed_;           // by item
    std::vector<std::uint32_t> task_of_; // by item that has begun: whose it is
    std::vector<Border> borders_;
    std::vector<std::uint32_t> open_; // items, the innermost last; those that are closed stay until they are the last
    std::uint64_t at_ = 0;
    std::uint64_t holes_ = 0;
    std::uint32_t implicit_ = no_task; // of the region that is open
    std::uint32_t outside_ = no_task;  // of all time outside of regions
};

/// By thread, everything that happened on it.
std::vector<std::vector<OpenItem>> items_of_threads(const TaskRecords& records) {
    std::vector<std::vector<OpenItem>> items(records.threads.size());
    std::vector<std::pair<std::uint32_t, std::uint32_t>> teams; // region and thread that takes part in it
    const auto add = [&](Open kind, std::size_t index, std::uint32_t thread, std::uint64_t begin, std::uint64_t end, bool takes_part) {
        items[thread].push_back({kind, static_cast<std::uint32_t>(index), begin, end});
        if (const std::uint32_t region = takes_part ? records.region_at(begin) : no_task; region != no_task) teams.emplace_back(region, thread);
    };
    for (std::uint32_t t = 0; t < records.threads.size(); ++t)
        for (const TaskRecords::Hole& hole : records.threads[t].holes) add(Open::Hole, 0, t, hole.begin_ns, hole.end_ns, false);
    for (std::size_t r = 0; r < records.runs.size(); ++r) add(Open::Run, r, records.runs[r].thread, records.runs[r].begin_ns, records.runs[r].end_ns, true);
    for (std::size_t w = 0; w < records.waits.size(); ++w) {
        const TaskRecords::Wait& wait = records.waits[w];
        add(Open::Wait, w, wait.thread, wait.begin_ns, wait.end_ns, wait.kind != TaskRecords::WaitKind::Idle);
    }
    for (std::size_t g = 0; g < records.groups.size(); ++g)
        add(Open::Group, g, records.groups[g].thread, records.groups[g].begin_ns, records.groups[g].end_ns, true);
    std::vector<std::uint64_t> ends(records.tasks.size()); // of the tasks
    for (const TaskRecords::Run& run : records.runs)
        if (run.task != no_task) ends[run.task] = std::max(ends[run.task], run.end_ns);
    for (std::size_t t = 0; t < records.tasks.size(); ++t) // their creators wait
        if (const TaskRecords::Task& task = records.tasks[t]; (task.flags & TaskIsUndeferred) != 0 && ends[t] > task.created_ns)
            add(Open::Undeferred, t, task.thread, task.created_ns, ends[t], false);
    for (std::size_t t = 0; t < records.tasks.size(); ++t)
        add(Open::Creation, t, records.tasks[t].thread, records.tasks[t].created_ns, records.tasks[t].created_ns, true);
    for (std::uint32_t r = 0; r < records.regions.size(); ++r) teams.emplace_back(r, records.regions[r].thread);
    std::sort(teams.begin(), teams.end());
    teams.erase(std::unique(teams.begin(), teams.end()), teams.end());
    for (const auto& [region, thread] : teams)
        items[thread].push_back({Open::Implicit, region, records.regions[region].begin_ns, records.regions[region].end_ns});
    return items;
}

/// Pieces by task, each task with one at least, the last one without a cut.
void order_pieces(TaskPieces& out, std::size_t tasks) {
    std::vector<TaskPieces::Piece> pieces = std::move(out.pieces);
    std::stable_sort(pieces.begin(), pieces.end(),
                     [](const TaskPieces::Piece& a, const TaskPieces::Piece& b) { return std::tie(a.task, a.end_ns) < std::tie(b.task, b.end_ns); });
    out.pieces.clear();
    out.pieces.reserve(pieces.size() + tasks);
    std::size_t next = 0;
    for (std::uint32_t task = 0; task < tasks; ++task) {
        out.first.push_back(static_cast<std::uint32_t>(out.pieces.size()));
        for (; next < pieces.size() && pieces[next].task == task; ++next) out.pieces.push_back(pieces[next]);
        if (out.pieces.size() != out.first.back() && out.pieces.back().cut == TaskCut::End) continue;
        TaskPieces::Piece last;
        last.task = task;
        last.end_ns = out.pieces.size() == out.first.back() ? 0 : out.pieces.back().end_ns;
        out.pieces.push_back(last);
    }
    out.first.push_back(static_cast<std::uint32_t>(out.pieces.size()));
}

} // namespace

TaskPieces task_pieces(const TaskRecords& records) {
    const std::size_t tasks = records.tasks.size();
    Cuts cuts{records, {}, std::vector<std::uint64_t>(tasks), std::vector<std::uint32_t>(tasks), std::vector<std::uint32_t>(tasks)};
    cuts.out.waiting.assign(records.waits.size(), no_task);
    std::vector<std::vector<OpenItem>> items = items_of_threads(records);
    for (std::uint32_t t = 0; t < items.size(); ++t) ThreadSweep(cuts, t, std::move(items[t])).run();
    order_pieces(cuts.out, cuts.pending.size());
    return std::move(cuts.out);
}

} // namespace libprofile::tools
