#include "python/bindings.hpp"

#include "tools/timeseries/context_names.hpp"
#include "tools/timeseries/trace_analysis.hpp"

#include <pybind11/stl.h>
#include <string>
#include <vector>

namespace libprofile::python {

namespace {

using namespace tools;

/// Stride, dropped samples, dropped waits, the longest of these; then the columns of samples and of waits.
py::tuple trace(const Profile& p, std::size_t location) {
    const Trace& t = p.locations.at(location).trace;
    using Sample = const TraceSample&;
    using Wait = const TraceWait&;
    return py::make_tuple(t.stride, t.dropped, t.waits_dropped, t.longest_dropped_ns,
                          py::make_tuple(int64_array(t.samples, [](Sample s) { return s.time_ns; }), int64_array(t.samples, [](Sample s) { return s.path; }),
                                         int64_array(t.samples, [](Sample s) { return s.lca_depth; }),
                                         int64_array(t.samples, [](Sample s) { return static_cast<int>(s.lca_kind); })),
                          py::make_tuple(int64_array(t.waits, [](Wait w) { return w.begin_ns; }), int64_array(t.waits, [](Wait w) { return w.end_ns; }),
                                         int64_array(t.waits, [](Wait w) { return w.path; }), int64_array(t.waits, [](Wait w) { return w.lca_depth; }),
                                         int64_array(t.waits, [](Wait w) { return static_cast<int>(w.lca_kind); }),
                                         int64_array(t.waits, [](Wait w) { return w.after_depth; }),
                                         int64_array(t.waits, [](Wait w) { return static_cast<int>(w.after_kind); })));
}

const char* word(TimeKind kind) {
    switch (kind) {
    case TimeKind::Call: return "call";
    case TimeKind::Loop: return "loop";
    case TimeKind::Iteration: return "iteration";
    case TimeKind::Profile: break;
    }
    return "profile";
}

void add_rows(const TimeNode& node, std::size_t parent, const ContextNames& names, py::list& rows) {
    const std::size_t self = rows.size();
    const bool is_iteration = node.kind == TimeKind::Iteration;
    rows.append(py::make_tuple(parent, word(node.kind), is_iteration ? text("iteration") : text(names.name(node.context)), node.count, node.duration,
                               own_time(node), node.least, node.most));
    for (const TimeNode& cluster : node.clusters) add_rows(cluster, self, names, rows);
    for (const TimeNode& child : node.children) add_rows(child, self, names, rows);
}

/// The mean of the main threads: a row per node, parents first.
py::list contexts(const Profile& p) {
    py::list rows;
    if (!has_trace(p)) return rows;
    const BinaryLoops loops(p);
    const JobSeries series = analyse_trace(p, loops).series;
    add_rows(series.mean, 0, ContextNames(p, series.contexts, loops), rows);
    return rows;
}

} // namespace

void add_traces(py::module_& module) {
    module.def("trace", &trace);
    module.def("contexts", &contexts);
}

} // namespace libprofile::python
