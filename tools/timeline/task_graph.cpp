#include "tools/timeline/task_graph.hpp"

#include "tools/timeline/order_graph.hpp"
#include "tools/timeline/task_barriers.hpp"
#include "tools/timeline/task_dependences.hpp"
#include "tools/timeline/task_pieces.hpp"

#include <algorithm>
#include <tuple>

namespace libprofile::tools {

namespace {

class TaskGraphBuilder {
  public:
    TaskGraphBuilder(const Profile& profile, std::span<const TaskPart> parts)
        : records_(task_records(profile, parts)), pieces_(task_pieces(records_)), explicit_(static_cast<std::uint32_t>(records_.tasks.size())),
          group_of_(records_.tasks.size(), none), after_group_(records_.groups.size(), none) {}

    TaskGraph graph() {
        add_tasks();
        add_nodes();
        join_regions();
        const auto tasks = static_cast<std::uint32_t>(pieces_.first.size() - 1);
        for (std::uint32_t task = explicit_; task < tasks; ++task) follow(task);
        for (std::uint32_t task = 0; task < explicit_; ++task) follow(task);
        join_groups();
        depend();
        order_.solve();
        take_results();
        take_critical_path();
        take_counts();
        return std::move(out_);
    }

  private:
    static constexpr std::uint32_t none = TaskGraph::none;
    using Cut = TaskPieces::Cut;

    bool is_explicit(std::uint32_t task) const { return task < explicit_; }
    std::uint32_t first(std::uint32_t task) const { return pieces_.first[task]; }
    std::uint32_t last(std::uint32_t task) const { return pieces_.first[task + 1] - 1; }
    const TaskPieces::Implicit& implicit(std::uint32_t task) const { return pieces_.implicits[task - explicit_]; }
    std::uint32_t location(std::uint32_t thread) const { return records_.threads[thread].location; }

    void add_tasks() {
        std::size_t next = 0;
        for (std::uint32_t t = 0; t < explicit_; ++t) {
            const TaskRecords::Task& record = records_.tasks[t];
            TaskGraph::Task task;
            task.number = record.number;
            task.location = location(record.thread);
            task.path = record.path;
            task.flags = record.flags;
            task.accesses = record.dependences;
            task.created_ns = task.ready_ns = task.begin_ns = task.end_ns = record.created_ns;
            task.runs_at = static_cast<std::uint32_t>(out_.runs.size());
            const std::size_t begin = next;
            for (; next < records_.runs.size() && records_.runs[next].task == t; ++next) {
                const TaskRecords::Run& run = records_.runs[next];
                out_.runs.push_back({run.begin_ns, run.end_ns, location(run.thread), run.path, run.processor});
            }
            task.runs = static_cast<std::uint32_t>(next - begin);
            task.is_complete = records_.is_whole(begin, next);
            out_.not_run += task.runs == 0 ? 1 : 0;
            out_.partly_run += task.runs != 0 && !task.is_complete ? 1 : 0;
            if (task.runs != 0) {
                task.begin_ns = out_.runs[task.runs_at].begin_ns;
                task.end_ns = out_.runs.back().end_ns;
                task.is_stolen = out_.runs[task.runs_at].location != task.location;
            }
            if (record.creator != 0 && records_.task_of(record.creator) == none) ++out_.of_unknown_creators;
            out_.tasks.push_back(task);
        }
    }

    /// A node for each piece, in their order.
    void add_nodes() {
        for (std::uint32_t p = 0; p < pieces_.pieces.size(); ++p) {
            const TaskPieces::Piece& piece = pieces_.pieces[p];
            const bool counts = !is_explicit(piece.task) || out_.tasks[piece.task].is_complete;
            OrderGraph::Node node;
            node.weight = counts ? piece.own_ns : 0;
            node.end_ns = piece.end_ns;
            node.enters = is_explicit(piece.task) && p == first(piece.task);
            order_.add(node);
            if (p != first(piece.task)) order_.edge(p - 1, p);
        }
    }
    std::uint32_t add_junction() {
        OrderGraph::Node node;
        node.is_junction = true;
        return order_.add(node);
    }

    void join(std::uint32_t task, std::uint32_t node) {
        order_.edge(last(task), node);
        if (out_.tasks[task].joined_by == none) out_.tasks[task].joined_by = node;
    }

    /// Regions follow each other. All tasks of a region are over at the next barrier, or at its end.
    void join_regions() {
        barriers_ = task_barriers(records_, pieces_);
        barrier_nodes_ = order_.size();
        for (std::size_t b = 0; b < barriers_.barriers.size(); ++b) add_junction();
        std::vector<std::uint32_t> begins, ends;
        for (std::size_t r = 0; r < records_.regions.size(); ++r) {
            begins.push_back(add_junction());
            ends.push_back(add_junction());
            if (r != 0) order_.edge(ends[r - 1], begins[r]);
        }
        for (std::uint32_t i = 0; i < pieces_.implicits.size(); ++i) {
            const std::uint32_t region = pieces_.implicits[i].region, task = explicit_ + i;
            if (region == none) continue;
            order_.edge(begins[region], first(task));
            order_.edge(last(task), ends[region]);
        }
        for (std::uint32_t t = 0; t < explicit_; ++t) {
            const std::uint32_t region = records_.region_at(records_.tasks[t].created_ns);
            out_.outside_regions += region == none ? 1 : 0;
            const std::uint32_t barrier = barriers_.after(region, records_.tasks[t].created_ns);
            if (barrier != none)
                order_.edge(last(t), barrier_nodes_ + barrier);
            else if (region != none)
                order_.edge(last(t), ends[region]);
            joined_last_.push_back(barrier != none ? barrier_nodes_ + barrier : region != none ? ends[region] : none);
        }
    }

    /// The edges to and from the pieces of one task, in their order.
    void follow(std::uint32_t task) {
        std::vector<std::uint32_t> children, groups; // not waited for; open
        std::uint32_t last_join = none;
        for (std::uint32_t p = first(task); p < last(task); ++p) { // the last one creates and joins nothing
            const TaskPieces::Piece& piece = pieces_.pieces[p];
            switch (piece.cut) {
            case Cut::End: break;
            case Cut::Creation: {
                TaskGraph::Task& child = out_.tasks[piece.what];
                child.creator = is_explicit(task) ? task : none;
                child.after = last_join;
                siblings_[piece.what] = task;
                group_of_[piece.what] = !groups.empty() ? groups.back() : is_explicit(task) ? group_of_[task] : none;
                order_.edge(p, first(piece.what));
                if ((child.flags & TaskIsUndeferred) != 0)
                    join(piece.what, last_join = p + 1);
                else
                    children.push_back(piece.what);
                break;
            }
            case Cut::Taskwait:
                for (const std::uint32_t child : children) join(child, p + 1);
                children.clear();
                last_join = p + 1;
                break;
            case Cut::Barrier: {
                const std::uint32_t barrier = barriers_.of_wait[piece.what];
                if (barrier == none) break;
                last_join = barrier_nodes_ + barrier;
                order_.edge(p, last_join);
                order_.edge(last_join, p + 1);
                break;
            }
            case Cut::GroupBegin: groups.push_back(piece.what); break;
            case Cut::GroupEnd:
                after_group_[piece.what] = last_join = p + 1;
                while (!groups.empty() && after_group_[groups.back()] != none) groups.pop_back();
                break;
            }
        }
    }

    /// Each task by the innermost group that it was made in: what made it was in all others.
    void join_groups() {
        for (std::uint32_t t = 0; t < explicit_; ++t) {
            if (group_of_[t] != none && after_group_[group_of_[t]] != none) join(t, after_group_[group_of_[t]]);
            if (out_.tasks[t].joined_by == none) out_.tasks[t].joined_by = joined_last_[t];
        }
    }

    void depend() {
        // Tasks of creators that are not there are siblings if these have the same number.
        constexpr std::uint64_t elsewhere = std::uint64_t{1} << 32;
        std::vector<std::uint64_t> unknown;
        for (std::uint32_t t = 0; t < explicit_; ++t)
            if (siblings_[t] == none) unknown.push_back(records_.tasks[t].creator);
        std::sort(unknown.begin(), unknown.end());
        std::vector<std::uint64_t> siblings;
        for (std::uint32_t t = 0; t < explicit_; ++t) {
            const auto at = std::lower_bound(unknown.begin(), unknown.end(), records_.tasks[t].creator);
            siblings.push_back(siblings_[t] != none ? siblings_[t] : elsewhere + static_cast<std::uint64_t>(at - unknown.begin()));
        }
        TaskDependences found = task_dependences(records_, siblings);
        const std::uint32_t junctions = order_.size();
        for (std::uint32_t j = 0; j < found.junctions; ++j) add_junction();
        for (const auto& [from, to] : found.edges)
            order_.edge(is_explicit(from) ? last(from) : junctions + from - explicit_, is_explicit(to) ? first(to) : junctions + to - explicit_);
        out_.dependences = std::move(found.edges);
    }

    void take_results() {
        for (std::uint32_t t = 0; t < explicit_; ++t) {
            TaskGraph::Task& task = out_.tasks[t];
            const OrderGraph::Node& begin = order_[first(t)];
            if (!begin.is_reached || !order_[last(t)].is_reached) {
                task.is_complete = false;
                ++out_.contradictory;
                continue;
            }
            task.depth = begin.level - 1;
            task.ready_ns = std::max(task.created_ns, std::min(begin.ready_ns, std::max(task.created_ns, task.begin_ns)));
            if (!task.is_complete) continue;
            for (std::uint32_t p = first(t); p <= last(t); ++p) task.duration_ns += pieces_.pieces[p].own_ns;
            if (out_.depths.size() <= task.depth) out_.depths.resize(task.depth + std::size_t{1});
            ++out_.depths[task.depth].tasks;
            out_.depths[task.depth].ns += task.duration_ns;
            out_.work_ns += task.duration_ns;
            ++out_.complete_tasks;
            out_.stolen_tasks += task.is_stolen ? 1 : 0;
        }
        for (std::uint32_t p = first(explicit_); p < pieces_.pieces.size(); ++p)
            if (order_[p].is_reached) out_.implicit_ns += pieces_.pieces[p].own_ns;
        out_.work_ns += out_.implicit_ns;
    }

    void take_critical_path() {
        std::uint32_t end = none;
        for (std::uint32_t n = 0; n < order_.size(); ++n)
            if (order_[n].is_reached && (end == none || order_[n].longest > order_[end].longest)) end = n;
        if (end == none) return;
        out_.span_ns = order_[end].longest;
        for (std::uint32_t n = end; n != none; n = order_[n].before) {
            if (n >= pieces_.pieces.size() || order_[n].weight == 0) continue;
            const TaskPieces::Piece& piece = pieces_.pieces[n];
            const bool is_task = is_explicit(piece.task);
            out_.critical_path.push_back(
                {is_task ? piece.task : none, is_task ? none : location(implicit(piece.task).thread), n - first(piece.task), piece.path, piece.own_ns});
        }
        std::reverse(out_.critical_path.begin(), out_.critical_path.end());
    }

    void take_counts() {
        out_.regions = records_.regions.size();
        out_.created_elsewhere = records_.tasks_created_elsewhere;
        out_.repeated = records_.repeated;
        out_.backward = records_.backward;
        for (const TaskPieces::Implicit& implicit : pieces_.implicits) out_.locations.push_back(location(implicit.thread));
        for (const TaskGraph::Run& run : out_.runs) out_.locations.push_back(run.location);
        for (const TaskGraph::Task& task : out_.tasks) out_.locations.push_back(task.location);
        std::sort(out_.locations.begin(), out_.locations.end());
        out_.locations.erase(std::unique(out_.locations.begin(), out_.locations.end()), out_.locations.end());
    }

    const TaskRecords records_;
    const TaskPieces pieces_;
    const std::uint32_t explicit_; // tasks; implicit ones come after them
    TaskBarriers barriers_;
    OrderGraph order_;                                // pieces, then junctions
    std::uint32_t barrier_nodes_ = 0;                 // of the first barrier
    std::vector<std::uint32_t> group_of_;             // by task: the innermost group it was made in
    std::vector<std::uint32_t> after_group_;          // by group: the piece that waits for it
    std::vector<std::uint32_t> siblings_ = group_of_; // by task: what created it
    std::vector<std::uint32_t> joined_last_;          // by task: the barrier or end of its region
    TaskGraph out_;
};

} // namespace

TaskGraph task_graph(const Profile& profile, std::span<const TaskPart> parts) { return TaskGraphBuilder(profile, parts).graph(); }

} // namespace libprofile::tools
