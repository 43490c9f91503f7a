#include "python/bindings.hpp"

#include "tools/analysis/clock_axis.hpp"

#include <pybind11/stl.h>

namespace libprofile::python {

namespace {

using namespace tools;

/// By rank with data: its number, whether it is on the axis, where it begins there, so long on its own clock is so long there, uncertainty.
py::list clocks(const Profile& p) {
    const ClockAxis axis(p);
    py::list list;
    for (const auto& [rank, info] : p.ranks) {
        const ClockAxis::RankClock& clock = axis.clock(rank);
        list.append(py::make_tuple(rank, clock.is_common, clock.begin_ns, clock.own_ns, clock.monotonic_ns, clock.uncertainty_ns));
    }
    return list;
}

} // namespace

void add_clocks(py::module_& module) { module.def("clocks", &clocks); }

} // namespace libprofile::python
