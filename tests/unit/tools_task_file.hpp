// The profile of a team that ran a made-up program of tasks (tools_task_team.hpp), as a file.
// Contract: for tests; one thread; allocates freely. Iteration 40 has the events; it is the only one of the phase "step" that has.
#pragma once

#include "format/events.hpp"
#include "format/machine.hpp"
#include "format/pages.hpp"
#include "tests/unit/tools_profile_builder.hpp"
#include "tests/unit/tools_task_team.hpp"
#include "tools/reader/model.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <vector>

namespace libprofile::test {

/// The events of the only part, in the order in which they end.
inline std::vector<EventRecord> event_records(const tools::KeptEvents& events) {
    struct Ended {
        std::uint64_t begin, end;
        std::uint32_t path;
        bool has_path;
        EventRecord record;
        const tools::TracedTask* task;
    };
    std::vector<Ended> list;
    for (const tools::TracedInterval& interval : events.intervals) list.push_back({interval.begin_ns, interval.end_ns, interval.path, true, {}, nullptr});
    const auto task_event = [](TaskEvent event, std::uint64_t says, std::uint64_t number) {
        EventRecord record;
        record.type = EventType::Task;
        record.rest = task_rest(event, says);
        record.number = number;
        return record;
    };
    for (const tools::TracedTask& task : events.tasks) {
        list.push_back({task.created_ns, task.created_ns, task.path, true, task_event(TaskEvent::Creation, task.flags, task.number), &task});
        list.back().record.creator = task.creator;
    }
    for (const tools::TracedTaskRun& run : events.runs) {
        const std::uint64_t flags = (run.is_over ? std::uint64_t{TaskIsOver} : 0) | (run.is_resumed ? std::uint64_t{TaskIsResumed} : 0);
        list.push_back({run.begin_ns, run.end_ns, run.path, true, task_event(TaskEvent::Run, flags, run.task), nullptr});
    }
    for (const tools::TracedTaskGroup& group : events.groups)
        list.push_back({group.begin_ns, group.end_ns, 0, false, task_event(TaskEvent::Further, 0, group.task), nullptr});
    std::stable_sort(list.begin(), list.end(), [](const Ended& a, const Ended& b) { return a.end < b.end; });
    std::vector<EventRecord> records;
    std::uint64_t at = events.parts[0].begin_ns, path = 0;
    for (Ended& ended : list) {
        EventRecord& record = ended.record;
        const std::uint64_t difference = ended.path - path;
        if (record.type == EventType::Interval) record.rest = difference << 1 ^ (difference >> 63 != 0 ? ~std::uint64_t{0} : 0);
        record.path = static_cast<std::int64_t>(difference);
        record.gap = static_cast<std::int64_t>(ended.begin - at);
        record.length = ended.end - ended.begin;
        at = ended.end;
        path = ended.has_path ? ended.path : path;
        records.push_back(record);
        for (std::uint32_t d = 0; ended.task != nullptr && d < ended.task->dependences; ++d) {
            const tools::TracedDependence& dependence = events.dependences[ended.task->dependences_at + d];
            records.push_back(task_event(TaskEvent::Depends, static_cast<std::uint64_t>(dependence.kind), 0));
            records.back().address = dependence.address;
        }
    }
    return records;
}

/// Where threads ran, and where pages lie.
inline void add_machine(ProfileBuilder& b, const tools::RankInfo& rank) {
    if (rank.affinity)
        b.block({BlockType::Topology, 0, 0}, [&](Encoder& e) {
            TopologyRecord r;
            r.machine_processors = r.processors = rank.affinity->processors.size();
            r.machine_numa_nodes = rank.affinity->machine.numa_nodes;
            r.threads = rank.affinity->threads.size();
            describe(e, r);
            for (const tools::Processor& one : rank.affinity->processors) {
                ProcessorRecord processor{one.number, 0, 0, std::uint64_t{one.numa_node.value()} + 1};
                describe(e, processor);
            }
            for (const tools::ThreadAffinity& one : rank.affinity->threads) {
                ThreadAffinityRecord thread;
                thread.thread = one.thread;
                thread.last = one.last ? std::uint64_t{*one.last} + 1 : 0;
                describe(e, thread);
            }
        });
    if (rank.machine)
        b.block({BlockType::Machine, 0, 0}, [&](Encoder& e) {
            const std::vector<tools::MachineNode>& nodes = rank.machine->nodes;
            MachineRecord r{Text(rank.machine->source.data(), rank.machine->source.size()), nodes.size(), rank.machine->distances.size()};
            describe(e, r);
            for (std::size_t n = 0; n < nodes.size(); ++n) {
                MachineObjectRecord object{static_cast<std::uint64_t>(nodes[n].type), 0, nodes[n].number ? std::uint64_t{*nodes[n].number} + 1 : 0,
                                           nodes[n].size, nodes[n].kind};
                for (std::size_t child = n + 1; child < nodes[n].end; child = nodes[child].end) ++object.children;
                describe(e, object);
            }
            for (const std::vector<std::uint64_t>& row : rank.machine->distances)
                for (const std::uint64_t value : row) e.number(value);
        });
    if (rank.pages)
        b.block({BlockType::Pages, 0, 0}, [&](Encoder& e) {
            PagesRecord r;
            r.page_size = rank.pages->page_size;
            r.ranges = rank.pages->ranges.size();
            describe(e, r);
            std::uint64_t end = 0;
            for (const auto& range : rank.pages->ranges) {
                PageRangeRecord one{(range.begin - end) / r.page_size, (range.end - range.begin) / r.page_size, range.node};
                describe(e, one);
                end = range.end;
            }
        });
}

inline ByteVector task_file(const tools::Profile& profile) {
    ProfileBuilder b(1);
    b.job(1, "./seidel 16");
    b.metrics();
    RankRecord record = sample_rank_record(0);
    record.threads = profile.locations.size();
    b.rank(record);
    b.modules(0, {{"", "/home/user/seidel"}});
    std::vector<BuiltFunction> functions;
    for (std::size_t f = 0; f < profile.functions.size(); ++f) functions.push_back({f, profile.functions[f].name, profile.functions[f].category});
    b.functions(0, functions);
    std::vector<BuiltNode> nodes;
    for (std::size_t p = 1; p < profile.paths.size(); ++p) {
        const tools::CallPath& path = profile.paths[p];
        const bool is_call = path.kind == NodeKind::OpenMp;
        nodes.push_back({path.parent, path.kind, is_call ? path.target : 0, is_call ? 0 : profile.sites[path.target].offset});
    }
    for (const tools::Location& location : profile.locations) {
        const tools::EventPart& part = location.events.parts[0];
        b.tree(0, location.thread, part.end_ns, nodes);
        BuiltPhase outside, steps;
        outside.thread = steps.thread = location.thread;
        outside.wall_ns = 1000;
        outside.rest = {{1, Metric::Time, 1000}};
        outside.wall_inclusive_ns = part.end_ns;
        steps.name = "step";
        steps.kind = PhaseKind::Iterations;
        steps.instances = 50;
        steps.wall_ns = steps.wall_inclusive_ns = part.end_ns - 1000;
        steps.clusters = {{50, 0, {{2, Metric::Time, steps.wall_ns}}}};
        steps.cluster_of_iteration.assign(50, 0);
        steps.iteration_ns.assign(50, steps.wall_ns / 50);
        b.phase(0, outside);
        b.phase(0, steps);
        const std::vector<EventRecord> events = event_records(location.events);
        const std::vector<tools::TracedTaskRun>& runs = location.events.runs;
        b.block({BlockType::Events, 0, location.thread}, [&](Encoder& e) {
            EventsRecord r{location.thread, 1, 1 << 26, 0, 0, 0, 1};
            describe(e, r);
            EventPartRecord p{static_cast<std::uint64_t>(part.kind),
                              part.phase,
                              part.number,
                              PartHasItsTurn,
                              part.begin_ns,
                              part.end_ns - part.begin_ns,
                              events.size(),
                              !runs.empty() && runs.front().processor != tools::no_processor ? std::uint64_t{runs.front().processor} + 1 : 0};
            describe(e, p);
            for (EventRecord event : events) describe(e, event);
        });
    }
    add_machine(b, profile.ranks.at(0));
    b.directory(0);
    b.end();
    return b.bytes();
}

/// A profile of tasks on disk, in a folder that goes away with it.
class TasksFile {
  public:
    explicit TasksFile(const tools::Profile& profile) {
        char name[] = "/tmp/libprofile-tasks-XXXXXX";
        folder_ = ::mkdtemp(name);
        const ByteVector bytes = task_file(profile);
        std::ofstream(folder_ / "profile.lprof", std::ios::binary)
            .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    }
    TasksFile(const TasksFile&) = delete;
    TasksFile& operator=(const TasksFile&) = delete;
    ~TasksFile() {
        std::error_code error;
        std::filesystem::remove_all(folder_, error);
    }
    const std::filesystem::path& path() const { return folder_; }

  private:
    std::filesystem::path folder_;
};

/// A tree of tasks that wait for those that they create, in rounds.
inline TaskProgram tree_program(int rounds, int depth) {
    TaskProgram program;
    const std::function<void(std::size_t, int)> grow = [&](std::size_t task, int left) {
        program.tasks[task].type = static_cast<std::uint32_t>(left) % TaskTeam::types;
        program.compute(task, 100 + static_cast<std::uint64_t>(left) * 37);
        for (int i = 0; i < 3 && left > 0; ++i) grow(program.create(task, {}, i == 2), left - 1);
        if (left > 0) program.wait(task);
        program.compute(task, 50);
    };
    for (int round = 0; round < rounds; ++round) {
        grow(program.create(0), depth);
        program.wait(0);
    }
    return program;
}

} // namespace libprofile::test
