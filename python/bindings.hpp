// What the files of the Python module share.
// Contract: called with the interpreter's lock held.
#pragma once

#include <cstddef>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <string>
#include <vector>

namespace libprofile::python {

namespace py = pybind11;

/// Names in a profile are bytes of any kind.
inline py::str text(const std::string& bytes) {
    return py::reinterpret_steal<py::str>(PyUnicode_DecodeUTF8(bytes.data(), static_cast<py::ssize_t>(bytes.size()), "replace"));
}

/// A view of memory that `owner` keeps alive.
template <class Number> py::array view(const std::vector<Number>& values, const py::object& owner) {
    py::array_t<Number> array({static_cast<py::ssize_t>(values.size())}, {static_cast<py::ssize_t>(sizeof(Number))}, values.data(), owner);
    array.attr("setflags")(py::arg("write") = false);
    return array;
}

/// Rows by columns, zeroed, and its memory.
template <class Number> std::pair<py::array_t<Number>, Number*> matrix(std::size_t rows, std::size_t columns, Number fill) {
    py::array_t<Number> array({static_cast<py::ssize_t>(rows), static_cast<py::ssize_t>(columns)});
    Number* const data = array.mutable_data();
    std::fill(data, data + rows * columns, fill);
    return {std::move(array), data};
}

/// What `of` says of each row.
template <class Row, class Of> py::array_t<std::int64_t> int64_array(const std::vector<Row>& rows, Of of) {
    py::array_t<std::int64_t> array(static_cast<py::ssize_t>(rows.size()));
    std::int64_t* out = array.mutable_data();
    for (const Row& row : rows) *out++ = static_cast<std::int64_t>(of(row));
    return array;
}

/// What threads did, event by event (events.cpp).
void add_events(py::module_& module);
/// Frames and what is asked of them (frames.cpp).
void add_frames(py::module_& module);
/// The axis of time that ranks have in common (clocks.cpp).
void add_clocks(py::module_& module);
/// Machines as hwloc saw them (machine.cpp).
void add_machine(py::module_& module);
/// Partners of messages (partners.cpp).
void add_durations(py::module_& module);
void add_partners(py::module_& module);
/// The ranks of a run compared with each other (processes.cpp).
void add_processes(py::module_& module);
/// Two runs over time (regressions.cpp).
void add_regressions(py::module_& module);
/// The graph of OpenMP tasks (tasks.cpp).
void add_tasks(py::module_& module);
/// Traces and what is made of them (traces.cpp).
void add_traces(py::module_& module);

} // namespace libprofile::python
