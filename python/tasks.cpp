#include "python/bindings.hpp"

#include "tools/timeline/task_places.hpp"
#include "tools/timeline/task_types.hpp"

#include <pybind11/stl.h>

namespace libprofile::python {

namespace {

using namespace tools;

/// The parts of a rank that have tasks: all, or those of iterations of a phase.
std::vector<TaskStretch> chosen_stretches(const Profile& p, std::uint32_t rank, std::uint32_t phase, std::uint64_t first, std::uint64_t last) {
    std::vector<TaskStretch> stretches = task_stretches(p, rank);
    const bool takes_all = phase == EventPart::no_phase;
    std::erase_if(stretches,
                  [&](const TaskStretch& s) { return !takes_all && (s.kind != PartKind::Iteration || s.phase != phase || s.first < first || s.first > last); });
    return stretches;
}

py::list types_of(const TaskTypes& types) {
    py::list list;
    for (const TaskType& type : types.types)
        list.append(py::make_tuple(text(type.function), text(type.source), type.tasks, type.stolen, type.sum_ns, type.least_ns, type.median_ns, type.most_ns,
                                   type.creation_to_begin_ns, type.ready_to_begin_ns));
    return list;
}

/// Sums; what is missing; then the columns of tasks, runs, dependences, depths and the critical path, the types, and
/// the columns of accesses by nodes.
py::tuple tasks(const Profile& p, std::uint32_t rank, std::uint32_t phase, std::uint64_t first, std::uint64_t last) {
    const TaskGraph g = task_graph(p, parts_of(chosen_stretches(p, rank, phase, first, last)));
    const TaskTypes types = task_types(p, g);
    const TaskPlaces places = task_places(p, rank, g);
    const auto or_none = [](std::uint32_t value) { return value == TaskGraph::none ? std::int64_t{-1} : std::int64_t{value}; };
    const auto thread = [&](std::uint32_t location) { return p.locations[location].thread; };
    using Task = const TaskGraph::Task&;
    using Run = const TaskGraph::Run&;
    using Depth = const TaskGraph::Depth&;
    using Step = const TaskGraph::Step&;
    using Sums = const TaskPlaces::Sums&;
    using Cell = const TaskPlaces::Cell&;
    using Edge = const std::pair<std::uint32_t, std::uint32_t>&;
    const auto of_tasks = [&](auto&& of) { return int64_array(g.tasks, of); };
    const auto is_complete = [](Task t) { return t.is_complete ? 1 : 0; };
    const auto is_stolen = [](Task t) { return t.is_stolen ? 1 : 0; };
    const auto run_thread = [&](Task t) { return t.runs == 0 ? std::int64_t{-1} : std::int64_t{thread(g.runs[t.runs_at].location)}; };
    const auto step_thread = [&](Step s) { return s.location == TaskGraph::none ? std::int64_t{-1} : std::int64_t{thread(s.location)}; };
    return py::make_tuple(
        py::make_tuple(g.complete_tasks, g.stolen_tasks, g.work_ns, g.span_ns, g.implicit_ns, g.locations.size()),
        py::make_tuple(g.not_run, g.partly_run, g.contradictory, g.created_elsewhere, g.repeated, g.backward, g.of_unknown_creators, g.outside_regions),
        py::make_tuple(of_tasks([](Task t) { return t.number; }), of_tasks([&](Task t) { return or_none(t.creator); }), int64_array(types.of_task, or_none),
                       of_tasks([](Task t) { return t.path; }), of_tasks([](Task t) { return t.flags; }), of_tasks([&](Task t) { return thread(t.location); }),
                       of_tasks(run_thread), of_tasks(is_complete), of_tasks(is_stolen), of_tasks([&](Task t) { return or_none(t.depth); }),
                       of_tasks([](Task t) { return t.created_ns; }), of_tasks([](Task t) { return t.ready_ns; }), of_tasks([](Task t) { return t.begin_ns; }),
                       of_tasks([](Task t) { return t.end_ns; }), of_tasks([](Task t) { return t.duration_ns; }), of_tasks([](Task t) { return t.runs_at; }),
                       of_tasks([](Task t) { return t.runs; }), int64_array(places.of_task, [](Sums s) { return s.local; }),
                       int64_array(places.of_task, [](Sums s) { return s.remote; }), int64_array(places.of_task, [](Sums s) { return s.unknown; })),
        py::make_tuple(int64_array(g.runs, [](Run r) { return r.begin_ns; }), int64_array(g.runs, [](Run r) { return r.end_ns; }),
                       int64_array(g.runs, [&](Run r) { return thread(r.location); }), int64_array(g.runs, [](Run r) { return r.path; })),
        py::make_tuple(int64_array(g.dependences, [](Edge e) { return e.first; }), int64_array(g.dependences, [](Edge e) { return e.second; })),
        py::make_tuple(int64_array(g.depths, [](Depth d) { return d.tasks; }), int64_array(g.depths, [](Depth d) { return d.ns; })),
        py::make_tuple(int64_array(g.critical_path, [&](Step s) { return or_none(s.task); }), int64_array(g.critical_path, step_thread),
                       int64_array(g.critical_path, [](Step s) { return s.piece; }), int64_array(g.critical_path, [](Step s) { return s.path; }),
                       int64_array(g.critical_path, [](Step s) { return s.ns; })),
        types_of(types),
        py::make_tuple(int64_array(places.matrix, [](Cell c) { return c.worker; }), int64_array(places.matrix, [](Cell c) { return c.data; }),
                       int64_array(places.matrix, [](Cell c) { return c.reads; }), int64_array(places.matrix, [](Cell c) { return c.writes; })));
}

} // namespace

void add_tasks(py::module_& module) { module.def("tasks", &tasks); }

} // namespace libprofile::python
