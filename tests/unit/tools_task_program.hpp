// Programs of OpenMP tasks that are made up, and their graph by a literal reading of OpenMP's rules.
// Contract: for tests; one thread; allocates freely. The graph compares all pairs of siblings that name the same address.
#pragma once

#include "tools/reader/events.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace libprofile::test {

/// What takes time beside computing: after each event its task's own time, in ns.
inline constexpr std::uint64_t task_event_ns = 1;

struct TaskProgram {
    enum class Step { Compute, Create, Wait, GroupBegin, GroupEnd };
    struct Action {
        Step step = Step::Compute;
        std::uint64_t ns = 0;  // Compute
        std::size_t child = 0; // Create
    };
    /// What the code of a task does, in order. Number 0 is the implicit task of the thread that creates the first tasks.
    struct Task {
        std::vector<Action> actions;
        std::vector<tools::TracedDependence> dependences;
        bool is_undeferred = false;
        std::size_t creator = 0;
        std::uint32_t type = 0;
        std::vector<std::size_t> children;
    };
    std::vector<Task> tasks = std::vector<Task>(1);

    void compute(std::size_t task, std::uint64_t ns) { tasks[task].actions.push_back({Step::Compute, ns, 0}); }
    void wait(std::size_t task) { tasks[task].actions.push_back({Step::Wait}); }
    void begin_group(std::size_t task) { tasks[task].actions.push_back({Step::GroupBegin}); }
    void end_group(std::size_t task) { tasks[task].actions.push_back({Step::GroupEnd}); }
    std::size_t create(std::size_t creator, std::vector<tools::TracedDependence> dependences = {}, bool is_undeferred = false) {
        const std::size_t child = tasks.size();
        tasks.push_back({{}, std::move(dependences), is_undeferred, creator, 0, {}});
        tasks[creator].actions.push_back({Step::Create, 0, child});
        tasks[creator].children.push_back(child);
        return child;
    }

    /// OpenMP's rule for one address.
    static bool is_ordered(TaskDependence earlier, TaskDependence later) {
        const bool is_set = later == TaskDependence::In || later == TaskDependence::MutexInOutSet || later == TaskDependence::InOutSet;
        return !is_set || earlier != later;
    }
    /// All pairs of siblings of which the second waits for the first. May repeat some.
    std::vector<std::pair<std::size_t, std::size_t>> ordered_siblings() const {
        std::map<std::pair<std::size_t, std::uint64_t>, std::vector<std::pair<std::size_t, TaskDependence>>> uses;
        for (std::size_t t = 1; t < tasks.size(); ++t)
            for (const tools::TracedDependence& d : tasks[t].dependences) uses[{tasks[t].creator, d.address}].emplace_back(t, d.kind);
        std::vector<std::pair<std::size_t, std::size_t>> pairs;
        for (const auto& [key, list] : uses)
            for (std::size_t later = 1; later < list.size(); ++later)
                for (std::size_t earlier = 0; earlier < later; ++earlier)
                    if (list[earlier].first != list[later].first && is_ordered(list[earlier].second, list[later].second))
                        pairs.emplace_back(list[earlier].first, list[later].first);
        return pairs;
    }
};

/// Depth, work and span of a program, of the program alone.
class LiteralTaskGraph {
  public:
    std::vector<std::uint64_t> depth, duration; // by task; [0] is the implicit one
    std::uint64_t work = 0, span = 0;

    explicit LiteralTaskGraph(const TaskProgram& program) : program_(program), first_(program.tasks.size()), last_(first_), created_in_(first_) {
        for (std::size_t t = 0; t < program.tasks.size(); ++t) cut_up(t);
        for (std::size_t t = 1; t < program.tasks.size(); ++t) {
            strands_[first_[t]].before.push_back(created_in_[t]);
            if (program.tasks[t].is_undeferred) strands_[created_in_[t] + 1].before.push_back(last_[t]);
        }
        for (const auto& [task, strand] : joins_) strands_[strand].before.push_back(last_[task]);
        for (const auto& [earlier, later] : program.ordered_siblings()) strands_[first_[later]].before.push_back(last_[earlier]);
        solve();
    }

  private:
    struct Strand {
        std::size_t task = 0;
        std::uint64_t ns = 0;
        std::vector<std::size_t> before = {};
        int state = 0;
        std::uint64_t level = 0, heaviest = 0;
    };

    std::size_t new_strand(std::size_t task) {
        strands_.push_back({task, task_event_ns, {strands_.size() - 1}});
        return strands_.size() - 1;
    }
    void join_all_below(std::size_t task, std::size_t strand) {
        std::vector<std::size_t> open = {task};
        while (!open.empty()) {
            const std::size_t t = open.back();
            open.pop_back();
            joins_.emplace_back(t, strand);
            open.insert(open.end(), program_.tasks[t].children.begin(), program_.tasks[t].children.end());
        }
    }

    void cut_up(std::size_t t) {
        first_[t] = strands_.size();
        strands_.push_back({t});
        std::vector<std::size_t> children, groups; // so far; of a group: how many were there before
        for (const TaskProgram::Action& action : program_.tasks[t].actions) switch (action.step) {
            case TaskProgram::Step::Compute: strands_.back().ns += action.ns; break;
            case TaskProgram::Step::Create:
                created_in_[action.child] = strands_.size() - 1;
                children.push_back(action.child);
                new_strand(t);
                break;
            case TaskProgram::Step::Wait: {
                const std::size_t next = new_strand(t);
                for (const std::size_t child : children) joins_.emplace_back(child, next);
                break;
            }
            case TaskProgram::Step::GroupBegin:
                groups.push_back(children.size());
                new_strand(t);
                break;
            case TaskProgram::Step::GroupEnd: {
                const std::size_t next = new_strand(t);
                for (std::size_t i = groups.back(); i < children.size(); ++i) join_all_below(children[i], next);
                groups.pop_back();
                break;
            }
            }
        last_[t] = strands_.size() - 1;
    }

    /// The longest paths, from their ends.
    void solve() {
        for (std::size_t root = 0; root < strands_.size(); ++root) {
            std::vector<std::size_t> open = {root};
            while (!open.empty()) {
                Strand& strand = strands_[open.back()];
                const std::size_t number = open.back();
                if (strand.state == 0) {
                    strand.state = 1;
                    for (const std::size_t before : strand.before)
                        if (strands_[before].state == 0) open.push_back(before);
                    continue;
                }
                open.pop_back();
                if (strand.state == 2) continue;
                strand.state = 2;
                for (const std::size_t before : strand.before) {
                    strand.level = std::max(strand.level, strands_[before].level);
                    strand.heaviest = std::max(strand.heaviest, strands_[before].heaviest);
                }
                strand.level += number == first_[strand.task] && strand.task != 0 ? 1 : 0;
                strand.heaviest += strand.ns;
            }
        }
        depth.resize(program_.tasks.size());
        duration.resize(program_.tasks.size());
        for (std::size_t t = 1; t < program_.tasks.size(); ++t) depth[t] = strands_[first_[t]].level - 1;
        for (const Strand& strand : strands_) {
            duration[strand.task] += strand.ns;
            work += strand.ns;
            span = std::max(span, strand.heaviest);
        }
    }

    const TaskProgram& program_;
    std::vector<Strand> strands_;
    std::vector<std::size_t> first_, last_, created_in_;     // strands of each task
    std::vector<std::pair<std::size_t, std::size_t>> joins_; // task, and the strand that waits for it
};

} // namespace libprofile::test
