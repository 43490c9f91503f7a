#include "python/event_filter.hpp"

#include "tools/reader/counters.hpp"
#include "tools/timeline/message_pairs.hpp"
#include "tools/timeline/passing_events.hpp"
#include "tools/timeline/timeline_states.hpp"

#include <pybind11/stl.h>

namespace libprofile::python {

namespace {

using namespace tools;

std::int64_t processor(std::uint16_t number) { return number == no_processor ? std::int64_t{-1} : std::int64_t{number}; }

/// What is known of the pages of the rank of a location.
const PageNodes& pages_of(const Profile& p, std::uint32_t rank) {
    static const PageNodes none;
    const auto info = p.ranks.find(rank);
    return info == p.ranks.end() || !info->second.pages ? none : *info->second.pages;
}

/// Stride, length of a window, dropped parts and events; then the columns of parts, intervals, messages, collectives, inner iterations, tasks, their
/// dependences, runs, taskgroups and counters, and the counters' names.
py::tuple events(const Profile& p, std::size_t location) {
    const KeptEvents& e = p.locations.at(location).events;
    const MessagePairs pairs(p);
    py::array_t<std::int64_t> other_location(static_cast<py::ssize_t>(e.messages.size())), other_end(static_cast<py::ssize_t>(e.messages.size()));
    for (std::size_t i = 0; i < e.messages.size(); ++i) {
        const MessagePairs::End end = pairs.other_end(location, i);
        other_location.mutable_data()[i] = end.is_known() ? std::int64_t{end.location} : -1;
        other_end.mutable_data()[i] = end.is_known() ? std::int64_t{end.message} : -1;
    }
    const auto or_none = [](std::uint32_t value) { return value == UINT32_MAX ? std::int64_t{-1} : std::int64_t{value}; };
    const PageNodes& pages = pages_of(p, p.locations[location].rank);
    using Part = const EventPart&;
    using Interval = const TracedInterval&;
    using Message = const TracedMessage&;
    using Collective = const TracedCollective&;
    using Inner = const TracedInner&;
    using Task = const TracedTask&;
    using Need = const TracedDependence&;
    using Run = const TracedTaskRun&;
    using Group = const TracedTaskGroup&;
    using Count = const TracedCount&;
    const auto node = [&](Need d) {
        const auto known = pages.node_of(d.address);
        return known ? std::int64_t{*known} : std::int64_t{-1};
    };
    return py::make_tuple(
        e.stride, e.window_ns, e.dropped_parts, e.dropped_events,
        py::make_tuple(int64_array(e.parts, [](Part s) { return s.kind == PartKind::Iteration ? 1 : 0; }),
                       int64_array(e.parts, [&](Part s) { return or_none(s.phase); }), int64_array(e.parts, [](Part s) { return s.number; }),
                       int64_array(e.parts, [](Part s) { return s.reasons; }), int64_array(e.parts, [](Part s) { return s.begin_ns; }),
                       int64_array(e.parts, [](Part s) { return s.end_ns; }), int64_array(e.parts, [](Part s) { return s.intervals_at; }),
                       int64_array(e.parts, [](Part s) { return s.intervals; }), int64_array(e.parts, [](Part s) { return s.messages_at; }),
                       int64_array(e.parts, [](Part s) { return s.messages; }), int64_array(e.parts, [](Part s) { return s.collectives_at; }),
                       int64_array(e.parts, [](Part s) { return s.collectives; }), int64_array(e.parts, [](Part s) { return s.tasks_at; }),
                       int64_array(e.parts, [](Part s) { return s.tasks; }), int64_array(e.parts, [](Part s) { return s.runs_at; }),
                       int64_array(e.parts, [](Part s) { return s.runs; }), int64_array(e.parts, [](Part s) { return s.groups_at; }),
                       int64_array(e.parts, [](Part s) { return s.groups; }), int64_array(e.parts, [](Part s) { return s.counts_at; }),
                       int64_array(e.parts, [](Part s) { return s.counts; })),
        py::make_tuple(int64_array(e.intervals, [](Interval i) { return i.begin_ns; }), int64_array(e.intervals, [](Interval i) { return i.end_ns; }),
                       int64_array(e.intervals, [](Interval i) { return i.path; }),
                       int64_array(e.intervals, [](Interval i) { return processor(i.processor); })),
        py::make_tuple(int64_array(e.messages, [](Message m) { return m.interval; }),
                       int64_array(e.messages, [](Message m) { return m.direction == MessageDirection::Received ? 1 : 0; }),
                       int64_array(e.messages, [&](Message m) { return or_none(m.partner); }),
                       int64_array(e.messages, [](Message m) { return m.communicator; }), int64_array(e.messages, [](Message m) { return m.tag; }),
                       int64_array(e.messages, [](Message m) { return m.bytes; }), other_location, other_end),
        py::make_tuple(int64_array(e.collectives, [](Collective c) { return c.interval; }),
                       int64_array(e.collectives, [](Collective c) { return c.communicator; }),
                       int64_array(e.collectives, [](Collective c) { return c.number; })),
        py::make_tuple(int64_array(e.inners, [](Inner i) { return i.begin_ns; }), int64_array(e.inners, [](Inner i) { return i.end_ns; }),
                       int64_array(e.inners, [&](Inner i) { return or_none(i.phase); }), int64_array(e.inners, [](Inner i) { return i.number; })),
        py::make_tuple(int64_array(e.tasks, [](Task t) { return t.number; }), int64_array(e.tasks, [](Task t) { return t.creator; }),
                       int64_array(e.tasks, [](Task t) { return t.created_ns; }), int64_array(e.tasks, [](Task t) { return t.path; }),
                       int64_array(e.tasks, [](Task t) { return t.flags; }), int64_array(e.tasks, [](Task t) { return t.dependences_at; }),
                       int64_array(e.tasks, [](Task t) { return t.dependences; })),
        py::make_tuple(int64_array(e.dependences, [](Need d) { return d.address; }),
                       int64_array(e.dependences, [](Need d) { return static_cast<int>(d.kind); }), int64_array(e.dependences, node)),
        py::make_tuple(int64_array(e.runs, [](Run r) { return r.task; }), int64_array(e.runs, [](Run r) { return r.begin_ns; }),
                       int64_array(e.runs, [](Run r) { return r.end_ns; }), int64_array(e.runs, [](Run r) { return r.path; }),
                       int64_array(e.runs, [](Run r) { return r.is_over ? 1 : 0; }), int64_array(e.runs, [](Run r) { return r.is_resumed ? 1 : 0; }),
                       int64_array(e.runs, [](Run r) { return processor(r.processor); })),
        py::make_tuple(int64_array(e.groups, [](Group g) { return g.task; }), int64_array(e.groups, [](Group g) { return g.begin_ns; }),
                       int64_array(e.groups, [](Group g) { return g.end_ns; })),
        py::make_tuple(int64_array(e.counts, [](Count c) { return c.is_of_run ? 1 : 0; }), int64_array(e.counts, [](Count c) { return c.event; }),
                       int64_array(e.counts, [](Count c) { return c.counter; }), int64_array(e.counts, [](Count c) { return c.begin; }),
                       int64_array(e.counts, [](Count c) { return c.end; })),
        counter_names(p, p.locations[location].rank));
}

/// Size of a page, errno, unknown pages, dependences left out; then the columns of the ranges.
py::tuple pages(const Profile& p, std::uint32_t rank) {
    const PageNodes& known = pages_of(p, rank);
    using Range = const PageNodes::Range&;
    return py::make_tuple(known.page_size, known.error, known.unknown, known.left_out,
                          py::make_tuple(int64_array(known.ranges, [](Range r) { return r.begin; }), int64_array(known.ranges, [](Range r) { return r.end; }),
                                         int64_array(known.ranges, [](Range r) { return r.node; })));
}

/// Of each location: which of its intervals, runs and creations of tasks pass.
py::list passing(const Profile& p, const py::tuple& fields) {
    const PassingEvents passing(p, filter_of(fields));
    py::list list;
    for (std::size_t l = 0; l < p.locations.size(); ++l) {
        const KeptEvents& events = p.locations[l].events;
        const auto mask = [&](std::size_t size, auto&& of) {
            py::array_t<bool> array(static_cast<py::ssize_t>(size));
            for (std::size_t at = 0; at < size; ++at) array.mutable_data()[at] = of(at);
            return array;
        };
        list.append(py::make_tuple(mask(events.intervals.size(), [&](std::size_t at) { return passing.interval(l, at); }),
                                   mask(events.runs.size(), [&](std::size_t at) { return passing.run(l, at); }),
                                   mask(events.tasks.size(), [&](std::size_t at) { return passing.creation(l, at); })));
    }
    return list;
}

/// Of call paths: the key of the state that a thread is in there, "region" over states.
py::list states(const Profile& p) {
    py::list list;
    for (const CallPath& path : p.paths) {
        const TimelineState state = timeline_state_of(p, path);
        list.append(state == TimelineState::Region ? "region" : timeline_state_names[static_cast<std::size_t>(state)].key);
    }
    return list;
}

} // namespace

void add_events(py::module_& module) {
    module.def("events", &events), module.def("pages", &pages), module.def("passing", &passing), module.def("states", &states);
}

} // namespace libprofile::python
