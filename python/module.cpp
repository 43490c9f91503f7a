// The C++ reader for Python: what python/libprofile/__init__.py builds its classes on. Not for users.
// Contract: objects keep what their arrays look into alive; arrays are read-only; every number is the reader's own. Reading and making
// tables release the interpreter's lock.
#include "python/bindings.hpp"

#include "tools/analysis/inside.hpp"
#include "tools/analysis/totals.hpp"
#include "tools/export/call_table.hpp"
#include "tools/names/expand_inlined.hpp"
#include "tools/names/labels.hpp"
#include "tools/names/resolve.hpp"
#include "tools/reader/reader.hpp"
#include "tools/report/diagnosis.hpp"
#include "tools/timeline/passing_events.hpp"

#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <pybind11/stl.h>

using namespace libprofile;
using namespace libprofile::python;
using namespace libprofile::tools;

namespace {

py::dict metric(const MetricRow& row, const std::vector<MetricRow>& all) {
    py::dict entry;
    entry["name"] = text(row.name);
    entry["unit"] = text(row.unit);
    entry["label"] = text(row.label);
    entry["description"] = text(row.description);
    entry["parent"] = row.parent < 0 ? py::object(py::none()) : text(all[static_cast<std::size_t>(row.parent)].name);
    return entry;
}

std::shared_ptr<Profile> open_profile(const std::string& path) {
    auto profile = std::make_shared<Profile>(read_profile(std::filesystem::path(path)));
    resolve_names(*profile, false);
    expand_inlined(*profile);
    return profile;
}

py::dict job(const Profile& p) {
    py::dict d;
    d["ranks"] = p.job.ranks;
    d["start_unix_ns"] = p.job.start_unix_ns;
    for (const auto& [name, value] :
         {std::pair("mpi", &p.job.mpi), std::pair("command", &p.job.command), std::pair("executable", &p.job.executable), std::pair("folder", &p.job.folder),
          std::pair("version", &p.job.version), std::pair("configuration", &p.job.configuration)})
        d[name] = text(*value);
    d["complete"] = p.complete;
    py::list notes;
    for (const std::string& note : p.notes) notes.append(text(note));
    d["notes"] = notes;
    return d;
}

py::list metrics(const Profile& p) {
    const std::vector<MetricRow> rows = metric_rows(p);
    py::list list;
    for (const MetricRow& row : rows) list.append(metric(row, rows));
    return list;
}

py::list locations(const Profile& p) {
    py::list list;
    for (const Location& location : p.locations) {
        const auto rank = p.ranks.find(location.rank);
        list.append(
            py::make_tuple(location.rank, location.thread, rank == p.ranks.end() ? py::str() : text(rank->second.host), location.wall_ns, location.complete));
    }
    return list;
}

py::list phases(const Profile& p) {
    constexpr const char* kinds[] = {"outside", "aggregate", "iterations"};
    py::list list;
    for (const Phase& phase : p.phases) list.append(py::make_tuple(text(phase.name), kinds[static_cast<std::size_t>(phase.kind)], phase.is_frame));
    return list;
}

py::list call_paths(const Profile& p) {
    py::list list;
    for (const CallPath& path : p.paths) {
        const Label label = label_of(p, path);
        list.append(py::make_tuple(path.parent, kind_name(path.kind), text(label.name), text(label.file), label.line, text(label.module)));
    }
    return list;
}

/// By location and metric row: exact.
py::array_t<std::uint64_t> all_totals(const Profile& p) {
    const std::size_t rows = metric_rows(p).size();
    auto [array, data] = matrix<std::uint64_t>(p.locations.size(), rows, 0);
    for (std::size_t l = 0; l < p.locations.size(); ++l) {
        const MetricValues values = totals(p, p.locations[l]);
        std::copy(values.begin(), values.end(), data + l * rows);
    }
    return array;
}

const PhaseData* data_of(const Profile& p, std::size_t location, std::uint32_t phase) {
    if (location >= p.locations.size()) throw py::index_error("no such location");
    return find_phase(&p.locations[location], phase);
}

py::object iteration_times(const std::shared_ptr<Profile>& p, std::size_t location, std::uint32_t phase) {
    const PhaseData* data = data_of(*p, location, phase);
    return data == nullptr ? py::object(py::array_t<std::uint64_t>(0)) : view(data->iteration_ns, py::cast(p));
}

py::object iteration_begins(const std::shared_ptr<Profile>& p, std::size_t location, std::uint32_t phase) {
    const PhaseData* data = data_of(*p, location, phase);
    return data == nullptr ? py::object(py::array_t<std::uint64_t>(0)) : view(data->iteration_begin_ns, py::cast(p));
}

py::object clusters(const std::shared_ptr<Profile>& p, std::size_t location, std::uint32_t phase) {
    const PhaseData* data = data_of(*p, location, phase);
    return data == nullptr ? py::object(py::array_t<std::uint32_t>(0)) : view(data->cluster_of_iteration, py::cast(p));
}

/// Locations by iterations: exact values, NaN where an iteration's own values were not kept, the location has no such iteration, or the
/// profile does not tell what lies inside it.
/// With the phases inside unless `exclusive`: then a time is that of the whole iteration, and of phases without iterations inside the
/// rest is estimated.
py::array_t<double> series(const Profile& p, std::uint32_t phase, std::size_t row, bool exclusive) {
    std::size_t most = 0;
    for (const Location& location : p.locations)
        if (const PhaseData* data = find_phase(&location, phase)) most = std::max(most, data->cluster_of_iteration.size());
    auto [array, out] = matrix<double>(p.locations.size(), most, std::nan(""));
    for (std::size_t l = 0; l < p.locations.size(); ++l) {
        const PhaseData* data = find_phase(&p.locations[l], phase);
        if (data == nullptr || !data->series || !data->series->has_row(row)) continue;
        const RowsInside inside = exclusive ? RowsInside() : rows_inside(p, p.locations[l], *data);
        SeriesReader reader(*data->series, false);
        for (std::size_t i = 0; i < data->cluster_of_iteration.size() && reader.next(); ++i) {
            if (!reader.has_totals()) continue;
            const bool is_whole_time = row == 0 && !exclusive;
            if (!is_whole_time && !inside.is_told(i)) continue;
            const std::uint64_t more = inside.rows.empty() ? 0 : inside.rows[i][row];
            out[l * most + i] = static_cast<double>(is_whole_time ? data->iteration_ns[i] : reader.condensed()[row] + more);
        }
    }
    return array;
}

/// Iterations by call paths: exclusive values of one stored metric, and which are estimates.
py::tuple reconstruct(const Profile& p, std::size_t location, std::uint32_t phase, std::uint32_t metric, std::uint64_t first, std::uint64_t last,
                      bool exclusive) {
    const PhaseData* data = data_of(p, location, phase);
    const std::uint64_t all = data == nullptr ? 0 : data->cluster_of_iteration.size();
    last = std::min(last, all == 0 ? 0 : all - 1);
    std::vector<IterationRange> ranges;
    for (std::uint64_t i = first; i <= last && i < all; ++i) ranges.push_back({i, i});
    auto [values, out] = matrix<std::uint64_t>(ranges.size(), p.paths.size(), 0);
    auto [estimates, flags] = matrix<bool>(ranges.size(), p.paths.size(), false);
    if (!ranges.empty()) {
        const auto cells = exclusive ? selected_cells(p, *data, ranges) : cells_with_inside(p, p.locations[location], *data, ranges).cells;
        for (std::size_t r = 0; r < cells.size(); ++r)
            for (const SelectedCell& cell : cells[r])
                if (cell.metric == metric) {
                    out[r * p.paths.size() + cell.path] += cell.value;
                    flags[r * p.paths.size() + cell.path] |= cell.estimated;
                }
    }
    return py::make_tuple(std::move(values), std::move(estimates));
}

std::shared_ptr<CallTable> make_table(const Profile& p, const std::optional<std::string>& phase,
                                      const std::optional<std::pair<std::uint64_t, std::uint64_t>>& iterations, std::vector<std::uint32_t> ranks,
                                      std::vector<std::string> names, bool lines, bool short_names, bool exclusive, bool errors) {
    TableChoice choice;
    choice.exclusive = exclusive;
    choice.has_phase = phase.has_value();
    choice.phase = phase.value_or("");
    if (iterations) choice.iterations = IterationRange{iterations->first, iterations->second};
    std::sort(ranks.begin(), ranks.end());
    choice.ranks = std::move(ranks);
    choice.metrics = std::move(names);
    choice.by_line = lines;
    choice.short_names = short_names;
    choice.with_errors = errors;
    return std::make_shared<CallTable>(make_call_table(p, choice));
}

py::array_t<std::uint64_t> values_of(const CallTable& table, std::size_t metric, bool inclusive) {
    if (metric >= table.metrics.size()) throw py::index_error("no such metric");
    const std::size_t locations = table.locations.size();
    auto [array, out] = matrix<std::uint64_t>(table.nodes.size(), locations, 0);
    for (std::size_t p = 0; p < locations; ++p) {
        const std::vector<std::uint64_t> column = inclusive ? table.inclusive(p, metric) : table.exclusive(p, metric);
        for (std::size_t n = 0; n < column.size(); ++n) out[n * locations + p] = column[n];
    }
    return array;
}

py::array_t<double> errors_of(const CallTable& table, bool inclusive) {
    const std::size_t locations = table.locations.size();
    auto [array, out] = matrix<double>(table.nodes.size(), locations, 0);
    for (std::size_t p = 0; p < locations; ++p) {
        const std::vector<double> column = table.errors(p, inclusive);
        for (std::size_t n = 0; n < column.size(); ++n) out[n * locations + p] = column[n];
    }
    return array;
}

/// As `libprofile diagnose --format json` prints it.
std::string diagnosis(const Profile& p, std::optional<std::uint32_t> phase, std::uint64_t first, std::uint64_t last, double least, const std::string& place) {
    DiagnosisChoice choice;
    choice.phase = phase;
    choice.iterations = {first, last};
    choice.least = least;
    choice.most = std::numeric_limits<std::size_t>::max();
    return diagnosis_json(p, diagnose(p, choice), place);
}

/// The values of one location as they lie in memory.
py::object table_cells(const std::shared_ptr<CallTable>& table, std::size_t location) {
    const std::vector<CallTable::Value>& values = table->values.at(location);
    py::array_t<CallTable::Value> array({static_cast<py::ssize_t>(values.size())}, {static_cast<py::ssize_t>(sizeof(CallTable::Value))}, values.data(),
                                        py::cast(table));
    array.attr("setflags")(py::arg("write") = false);
    return array;
}

} // namespace

PYBIND11_MODULE(_reader, module) {
    module.attr("version") = LIBPROFILE_VERSION;
    PYBIND11_NUMPY_DTYPE(CallTable::Value, node, metric, value, estimated);
    py::register_exception_translator([](std::exception_ptr error) {
        try {
            if (error) std::rethrow_exception(error);
        } catch (const ReadError& e) {
            PyErr_SetString(PyExc_OSError, e.what());
        } catch (const ExportError& e) {
            PyErr_SetString(PyExc_ValueError, e.what());
        } catch (const FilterError& e) {
            PyErr_SetString(PyExc_ValueError, e.what());
        }
    });
    py::class_<Profile, std::shared_ptr<Profile>>(module, "Profile")
        .def("job", &job)
        .def("metrics", &metrics)
        .def("locations", &locations)
        .def("phases", &phases)
        .def("call_paths", &call_paths)
        .def("totals", &all_totals)
        .def("series", &series)
        .def("stored_metrics",
             [](const Profile& p) {
                 py::list list;
                 for (const MetricInfo& info : p.metrics) list.append(text(info.name));
                 return list;
             })
        .def("reconstruct", &reconstruct)
        .def("diagnosis", &diagnosis)
        .def("table", &make_table, py::call_guard<py::gil_scoped_release>());
    // Functions, not methods: the views keep the profile alive.
    module.def("iteration_times", &iteration_times);
    module.def("iteration_begins", &iteration_begins);
    module.def("clusters", &clusters);
    module.def("open", &open_profile, py::call_guard<py::gil_scoped_release>());
    py::class_<CallTable, std::shared_ptr<CallTable>>(module, "Table")
        .def("values", &values_of)
        .def("errors", &errors_of)
        .def_readonly("estimated", &CallTable::estimated)
        .def_readonly("untold", &CallTable::untold)
        .def_property_readonly("scope", [](const CallTable& t) { return text(t.scope); });
    module.def("cells", &table_cells);
    add_frames(module);
    add_machine(module);
    add_processes(module);
    add_regressions(module);
    add_tasks(module);
    add_events(module);
    add_traces(module);
    add_clocks(module);
    add_durations(module);
    add_partners(module);
}
