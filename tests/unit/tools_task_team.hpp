// A team of threads that runs a made-up program of OpenMP tasks, and records it as the runtime does.
// Contract: for tests; one thread; allocates freely.
#pragma once

#include "tests/unit/tools_task_program.hpp"
#include "tools/reader/model.hpp"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace libprofile::test {

/// One parallel region has all tasks. Thread 0 creates them; the others wait in the region's barrier, and run tasks there.
class TaskTeam {
  public:
    static constexpr std::uint32_t parallel_path = 1, barrier_path = 2, taskwait_path = 3, taskgroup_path = 4, master_path = 5, first_type_path = 6, types = 4;
    static constexpr std::uint64_t begin_ns = 1000, iteration = 39;

    /// @param suspends a task that waits stops running, and goes on later on any thread; else, and if its creator waits for it, others run inside it
    TaskTeam(const TaskProgram& program, std::uint32_t threads, std::uint32_t seed, bool suspends = false)
        : program_(program), suspends_(suspends), random_(seed), tasks_(program.tasks.size()), threads_(threads) {
        for (const auto& [earlier, later] : program.ordered_siblings()) {
            tasks_[earlier].successors.push_back(later);
            ++tasks_[later].waits_for;
        }
    }

    /// One rank, one part, which has all.
    tools::Profile run() {
        threads_[0].stack.push_back({0, begin_ns, false});
        threads_[0].clock = begin_ns;
        for (std::uint32_t t = 1; t < threads_.size(); ++t) threads_[t].clock = threads_[t].barrier = begin_ns + task_event_ns;
        while (done_ < tasks_.size() - 1 || !threads_[0].stack.empty()) {
            Thread* next = &threads_[0];
            for (Thread& thread : threads_)
                if (thread.clock < next->clock) next = &thread;
            advance(*next);
        }
        return profile();
    }

  private:
    using Step = TaskProgram::Step;
    struct Frame {
        std::size_t task;
        std::uint64_t begin;
        bool is_resumed;
    };
    struct Thread {
        std::uint64_t clock = 0;
        std::uint64_t barrier = 0; // when its last wait began
        std::vector<Frame> stack = {};
        tools::KeptEvents events = {};
    };
    struct OpenGroup {
        std::size_t number;
        std::uint64_t begin;
    };
    struct State {
        std::size_t action = 0;
        bool is_created = false, is_done = false, is_taken = false, is_waiting = false;
        std::size_t waits_for = 0; // siblings
        std::vector<std::size_t> successors = {};
        std::size_t children = 0; // created and not done
        std::vector<OpenGroup> groups = {};
        std::vector<std::size_t> in_groups = {}; // that its end is waited for by
        std::uint64_t wait_begin = 0;
        Thread* waits_in = nullptr; // where its wait began
    };

    const TaskProgram::Action& action_of(std::size_t t) const { return program_.tasks[t].actions[tasks_[t].action]; }

    void note_interval(Thread& thread, std::uint64_t begin, std::uint64_t end, std::uint32_t path) { thread.events.intervals.push_back({begin, end, path}); }

    void note_run(Thread& thread, bool is_over) {
        const Frame frame = thread.stack.back();
        thread.stack.pop_back();
        if (frame.task == 0) return;
        thread.events.runs.push_back({frame.begin, thread.clock, frame.task, first_type_path + program_.tasks[frame.task].type, is_over, frame.is_resumed});
    }

    void note_creation(Thread& thread, std::size_t child) {
        const TaskProgram::Task& task = program_.tasks[child];
        tools::KeptEvents& events = thread.events;
        const auto flags = static_cast<std::uint8_t>(task.is_undeferred ? std::uint64_t{TaskIsUndeferred} : 0);
        events.tasks.push_back({child, task.creator, thread.clock, first_type_path + task.type, flags, static_cast<std::uint32_t>(events.dependences.size()),
                                static_cast<std::uint32_t>(task.dependences.size())});
        events.dependences.insert(events.dependences.end(), task.dependences.begin(), task.dependences.end());
    }

    void create(Thread& thread, std::size_t child) {
        State& creator = tasks_[program_.tasks[child].creator];
        note_creation(thread, child);
        tasks_[child].is_created = true;
        tasks_[child].in_groups = creator.in_groups;
        for (const OpenGroup& group : creator.groups) tasks_[child].in_groups.push_back(group.number);
        for (const std::size_t group : tasks_[child].in_groups) ++open_in_group_[group];
        ++creator.children;
        offer(child);
    }
    /// To all threads, if it may begin. An undeferred one is its creator's.
    void offer(std::size_t t) {
        if (tasks_[t].is_created && tasks_[t].waits_for == 0 && !program_.tasks[t].is_undeferred) pool_.push_back(t);
    }

    void finish(Thread& thread, std::size_t t) {
        note_run(thread, true);
        if (t == 0) {
            thread.barrier = thread.clock;
            return;
        }
        ++done_;
        tasks_[t].is_done = true;
        --tasks_[program_.tasks[t].creator].children;
        for (const std::size_t group : tasks_[t].in_groups) --open_in_group_[group];
        for (const std::size_t next : tasks_[t].successors)
            if (--tasks_[next].waits_for == 0) offer(next);
    }

    /// What a waiting task waits for is over.
    bool may_go_on(std::size_t t) const {
        const TaskProgram::Action& action = action_of(t);
        if (action.step == Step::Create) return tasks_[action.child].is_done;
        return action.step == Step::Wait ? tasks_[t].children == 0 : open_in_group_[tasks_[t].groups.back().number] == 0;
    }
    bool is_below(std::size_t t, std::size_t root) const {
        while (t != root && t != 0) t = program_.tasks[t].creator;
        return t == root;
    }

    /// A task that may run inside the thread's innermost one (OpenMP's task scheduling constraint), out of `list`.
    template <class May> bool take_from(std::vector<std::size_t>& list, Thread& thread, bool is_resumed, May&& may) {
        const auto fits = [&](std::size_t t) { return (thread.stack.empty() || is_below(t, thread.stack.back().task)) && may(t); };
        std::size_t at = list.size();
        for (int attempt = 0; attempt < 4 && !list.empty() && at == list.size(); ++attempt)
            if (const std::size_t i = random_() % list.size(); fits(list[i])) at = i;
        for (std::size_t i = 0; i < list.size() && at == list.size(); ++i)
            if (fits(list[i])) at = i;
        if (at == list.size()) return false;
        thread.clock += 1; // waiting
        thread.stack.push_back({list[at], thread.clock, is_resumed});
        list[at] = list.back();
        list.pop_back();
        return true;
    }
    void take_or_idle(Thread& thread) {
        if (take_from(suspended_, thread, true, [&](std::size_t t) { return may_go_on(t); })) return;
        if (take_from(pool_, thread, false, [](std::size_t) { return true; })) return;
        std::uint64_t next = UINT64_MAX;
        for (const Thread& other : threads_)
            if (&other != &thread) next = std::min(next, std::max(other.clock, thread.clock));
        thread.clock = next == UINT64_MAX ? thread.clock + 1 : next + 1;
    }

    void advance(Thread& thread) {
        if (thread.stack.empty()) return take_or_idle(thread);
        const std::size_t t = thread.stack.back().task;
        State& state = tasks_[t];
        if (state.action == program_.tasks[t].actions.size()) return finish(thread, t);
        if (state.is_waiting) return go_on_waiting(thread, t);
        const TaskProgram::Action& action = action_of(t);
        if (action.step == Step::Compute) {
            thread.clock += action.ns;
            ++state.action;
            return;
        }
        if (action.step == Step::Create) create(thread, action.child);
        if (action.step == Step::GroupBegin) {
            state.groups.push_back({open_in_group_.size(), thread.clock});
            open_in_group_.push_back(0);
        }
        if (action.step == Step::GroupBegin || (action.step == Step::Create && !program_.tasks[action.child].is_undeferred)) {
            thread.clock += task_event_ns;
            ++state.action;
            return;
        }
        state.is_waiting = true;
        state.wait_begin = thread.clock;
        state.waits_in = &thread;
    }

    void go_on_waiting(Thread& thread, std::size_t t) {
        State& state = tasks_[t];
        const TaskProgram::Action& action = action_of(t);
        if (!may_go_on(t)) {
            const bool is_creation = action.step == Step::Create;
            if (is_creation && !tasks_[action.child].is_taken && tasks_[action.child].waits_for == 0) {
                tasks_[action.child].is_taken = true;
                thread.stack.push_back({action.child, thread.clock, false});
            } else if (suspends_ && !is_creation && t != 0 && !program_.tasks[t].is_undeferred) {
                thread.clock += 1; // in its wait
                note_run(thread, false);
                suspended_.push_back(t);
            } else {
                take_or_idle(thread);
            }
            return;
        }
        if (action.step == Step::Wait) note_interval(*state.waits_in, state.wait_begin, thread.clock, taskwait_path);
        if (action.step == Step::GroupEnd) {
            note_interval(*state.waits_in, state.wait_begin, thread.clock, taskgroup_path);
            thread.events.groups.push_back({state.groups.back().begin, thread.clock, t});
            state.groups.pop_back();
        }
        state.is_waiting = false;
        ++state.action;
        thread.clock += task_event_ns;
    }

    tools::Profile profile() {
        std::uint64_t end = 0;
        for (const Thread& thread : threads_) end = std::max(end, thread.clock);
        end += 10;
        tools::Profile profile = empty_profile();
        for (std::uint32_t t = 0; t < threads_.size(); ++t) {
            Thread& thread = threads_[t];
            note_interval(thread, thread.barrier, end, barrier_path);
            if (t == 0) note_interval(thread, begin_ns, end, parallel_path);
            tools::Location& location = profile.locations.emplace_back();
            location.thread = t;
            location.events = std::move(thread.events);
            keep_all(location.events, end);
            tools::PhaseData& data = location.phases.emplace_back();
            data.phase = 1;
            data.iteration_ns.assign(50, 1000);
            data.cluster_of_iteration.assign(50, 0);
        }
        return profile;
    }
    static void keep_all(tools::KeptEvents& events, std::uint64_t end) {
        events.stride = 1;
        tools::EventPart part;
        part.kind = PartKind::Iteration;
        part.phase = 1;
        part.number = iteration;
        part.begin_ns = begin_ns;
        part.end_ns = end + 10;
        part.intervals = static_cast<std::uint32_t>(events.intervals.size());
        part.tasks = static_cast<std::uint32_t>(events.tasks.size());
        part.runs = static_cast<std::uint32_t>(events.runs.size());
        part.groups = static_cast<std::uint32_t>(events.groups.size());
        events.parts = {part};
    }
    tools::Profile empty_profile() const {
        tools::Profile profile;
        profile.job.ranks = 1;
        profile.ranks[0].threads = threads_.size();
        profile.functions = {{"omp parallel", TimeCategory::OmpOther},
                             {"omp implicit barrier", TimeCategory::OmpBarrier},
                             {"omp taskwait", TimeCategory::OmpTask},
                             {"omp taskgroup", TimeCategory::OmpTask}};
        profile.phases = {{"", PhaseKind::Outside}, {"step", PhaseKind::Iterations}};
        profile.paths.resize(first_type_path);
        for (std::uint32_t f = 0; f < 4; ++f) profile.paths[f + 1] = {0, NodeKind::OpenMp, f, 0};
        profile.modules = {{"", "/home/user/seidel"}};
        for (std::uint32_t type = 0; type < types; ++type) {
            profile.sites.push_back({0, 0x1000 + type, {"block" + std::to_string(type), "/home/user/seidel.c", 40 + type}, {}});
            profile.paths.push_back({master_path, NodeKind::Frame, type, 0});
        }
        profile.sites.push_back({0, 0x2000, {"main", "/home/user/seidel.c", 12}, {}});
        profile.paths[master_path] = {0, NodeKind::Frame, types, 0};
        return profile;
    }

    const TaskProgram& program_;
    bool suspends_;
    std::mt19937 random_;
    std::vector<State> tasks_;
    std::vector<Thread> threads_;
    std::vector<std::size_t> pool_, suspended_, open_in_group_;
    std::size_t done_ = 0;
};

} // namespace libprofile::test
