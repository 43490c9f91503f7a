// The filter of events as Python gives it (libprofile/event_filter.py).
// Contract: called with the interpreter's lock held; throws pybind11's errors.
#pragma once

#include "python/bindings.hpp"

#include "tools/timeline/event_filter.hpp"

#include <pybind11/stl.h>

namespace libprofile::python {

/// Of the fields of an EventFilter, in their order.
inline tools::EventFilter filter_of(const py::tuple& fields) {
    using Numbers = std::vector<std::uint32_t>;
    tools::EventFilter filter;
    filter.only = static_cast<tools::EventFilter::Kind>(fields[0].cast<int>());
    filter.with = fields[1].cast<std::string>();
    filter.inside = fields[2].cast<std::string>();
    filter.least_ns = fields[3].cast<std::uint64_t>();
    filter.most_ns = fields[4].cast<std::uint64_t>();
    std::size_t at = 5;
    for (Numbers* numbers : {&filter.threads, &filter.processors, &filter.nodes, &filter.reads, &filter.writes}) *numbers = fields[at++].cast<Numbers>();
    return filter;
}

} // namespace libprofile::python
