#include "python/event_filter.hpp"

#include "tools/timeline/counter_series.hpp"

#include <pybind11/stl.h>

namespace libprofile::python {

namespace {

using namespace tools;

/// For each series: function, rank and partner (None: all), amount, unit, durations, amounts, and the line through them, with its error.
py::list duration_series(const Profile& p, const py::tuple& filter) {
    py::list list;
    const PassingEvents passing(p, filter_of(filter));
    const auto all = [](const EventPart&) { return true; };
    std::vector<DurationSeries> found = bytes_of_calls(p, {}, all, passing);
    for (DurationSeries& series : counters_of_events(p, {}, all, passing)) found.push_back(std::move(series));
    for (const DurationSeries& series : found) {
        const DurationFit fit = duration_fit(series);
        const auto array = [](const std::vector<double>& values) { return py::array_t<double>(static_cast<py::ssize_t>(values.size()), values.data()); };
        list.append(py::make_tuple(text(series.group), series.rank, series.partner, series.amount, series.unit, array(series.durations_ns),
                                   array(series.amounts), fit.pearson, fit.r_squared, fit.intercept_ns, fit.slope_ns, series.is_of_tasks, fit.slope_error_ns));
    }
    return list;
}

} // namespace

void add_durations(py::module_& module) { module.def("duration_series", &duration_series); }

} // namespace libprofile::python
