#include "python/bindings.hpp"

#include "tools/reader/counters.hpp"
#include "tools/timeline/message_pairs.hpp"

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

} // namespace

void add_events(py::module_& module) { module.def("events", &events), module.def("pages", &pages); }

} // namespace libprofile::python
