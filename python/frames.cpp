// Frames for Python: what python/libprofile/frame.py builds its classes on. Not for users.
// Contract: arrays look into frames, which do not change once they are there, and keep them alive. Imbalance, graphs, unification and reading
// release the interpreter's lock.
#include "python/bindings.hpp"

#include "tools/analysis/correlation.hpp"
#include "tools/frames/arithmetic.hpp"
#include "tools/frames/call_graph.hpp"
#include "tools/frames/hot_path.hpp"
#include "tools/frames/imbalance.hpp"
#include "tools/frames/over_time.hpp"
#include "tools/frames/read_frame.hpp"
#include "tools/frames/shape.hpp"
#include "tools/frames/table_frame.hpp"
#include "tools/frames/unify.hpp"
#include "tools/import/importers.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <pybind11/stl.h>
#include <span>
#include <tuple>

namespace libprofile::python {

using namespace libprofile::tools;

namespace {

/// Of a column: 48 MiB. Larger ones stay in the file of totals.
constexpr std::uint64_t most_rows_in_memory = std::uint64_t{4} << 20;

using FrameHandle = std::shared_ptr<Frame>;
using Unlocked = py::call_guard<py::gil_scoped_release>;

/// A vector of the result becomes an array, without a copy.
template <class Number> py::array array_of(std::vector<Number>&& values) {
    auto* const kept = new std::vector<Number>(std::move(values));
    const py::capsule owner(kept, [](void* memory) { delete static_cast<std::vector<Number>*>(memory); });
    return py::array_t<Number>({static_cast<py::ssize_t>(kept->size())}, {static_cast<py::ssize_t>(sizeof(Number))}, kept->data(), owner);
}

template <class Number, std::size_t columns> py::array array_of(const std::vector<std::array<Number, columns>>& rows) {
    py::array_t<Number> array({static_cast<py::ssize_t>(rows.size()), static_cast<py::ssize_t>(columns)});
    for (std::size_t r = 0; r < rows.size(); ++r) std::copy(rows[r].begin(), rows[r].end(), array.mutable_data(static_cast<py::ssize_t>(r), 0));
    return array;
}

std::span<const double> numbers(const py::array_t<double, py::array::c_style | py::array::forcecast>& array) {
    return {array.data(), static_cast<std::size_t>(array.size())};
}

GroupBy group_by(const std::string& by) {
    if (by == "name") return GroupBy::Name;
    if (by == "function") return GroupBy::Function;
    if (by == "file") return GroupBy::File;
    if (by == "module") return GroupBy::Module;
    throw FrameError("functions are grouped by name, function (name, file and module), file or module: \"" + by + "\" is none of these");
}

Over over_of(const std::string& over) {
    if (over == "rank") return Over::Rank;
    if (over == "thread") return Over::Thread;
    throw FrameError("values are compared over \"rank\" or \"thread\": \"" + over + "\" is neither");
}

TableChoice choice_of(std::vector<std::uint32_t> ranks, std::vector<std::string> metrics, bool lines, bool short_names) {
    TableChoice choice;
    std::sort(ranks.begin(), ranks.end());
    choice.ranks = std::move(ranks);
    choice.metrics = std::move(metrics);
    choice.by_line = lines;
    choice.short_names = short_names;
    return choice;
}

using Values = std::vector<std::tuple<std::string, std::string, std::vector<std::uint64_t>, std::vector<std::uint32_t>, std::vector<double>>>;

FrameHandle make_frame(const std::vector<std::int64_t>& parents, const std::vector<std::string>& kinds, const std::vector<std::string>& names,
                       const std::vector<std::string>& files, const std::vector<std::uint32_t>& lines, const std::vector<std::string>& modules,
                       const std::vector<std::tuple<std::uint32_t, std::uint32_t, std::string>>& places, const Values& values) {
    auto frame = std::make_shared<Frame>();
    const std::size_t count = parents.size();
    if (kinds.size() != count || names.size() != count || files.size() != count || lines.size() != count || modules.size() != count)
        throw FrameError("the columns of the nodes are of unequal length");
    for (std::size_t n = 0; n < count; ++n) {
        if (parents[n] < 0 || parents[n] > std::numeric_limits<std::uint32_t>::max()) throw FrameError("a parent is no node");
        frame->add_node(static_cast<std::uint32_t>(parents[n]), kinds[n], names[n], files[n], lines[n], modules[n]);
    }
    for (const auto& [rank, thread, host] : places) frame->places.push_back({rank, thread, host});
    for (const auto& [metric, unit, begin, node, value] : values) {
        FrameColumn& column = frame->columns.emplace_back();
        column = {metric, unit, begin, node, value};
    }
    frame->check();
    return frame;
}

py::dict imbalance(const Frame& frame, const std::string& metric, bool inclusive, const std::string& over, double threshold, bool details, bool hatchet) {
    const ImbalanceChoice choice{inclusive, over_of(over), threshold, details, hatchet};
    Imbalance result;
    {
        const py::gil_scoped_release unlocked;
        result = load_imbalance(frame, metric, choice);
    }
    py::dict columns;
    columns["node"] = array_of(std::move(result.node));
    columns["mean"] = array_of(std::move(result.mean));
    columns["max"] = array_of(std::move(result.max));
    columns["imbalance"] = array_of(std::move(result.imbalance));
    columns["present"] = array_of(std::move(result.present));
    if (details) {
        columns["top"] = array_of(result.top);
        columns["percentiles"] = array_of(result.percentile);
        columns["hist"] = array_of(result.bins);
    }
    return columns;
}

py::dict graph(const Frame& frame, const std::string& metric, const std::string& by) {
    const GroupBy group = group_by(by);
    CallGraph result;
    {
        const py::gil_scoped_release unlocked;
        result = call_graph(frame, metric, group);
    }
    py::dict columns;
    columns["first"] = array_of(std::move(result.groups.first));
    columns["group_of"] = array_of(std::move(result.groups.group_of));
    columns["exclusive"] = array_of(std::move(result.exclusive));
    columns["inclusive"] = array_of(std::move(result.inclusive));
    columns["caller"] = array_of(std::move(result.caller));
    columns["callee"] = array_of(std::move(result.callee));
    columns["edge"] = array_of(std::move(result.edge));
    return columns;
}

/// Nodes by groups: values, and which are there.
py::tuple dense(const Frame& frame, const std::string& metric, bool inclusive, const std::string& over) {
    const PlaceValues values(frame, frame.column(metric), inclusive, over_of(over));
    const std::size_t nodes = values.nodes(), groups = values.groups();
    auto [array, out] = matrix<double>(nodes, groups, 0);
    auto [there, flags] = matrix<bool>(nodes, groups, false);
    {
        const py::gil_scoped_release unlocked;
        std::vector<double> row(nodes);
        std::vector<std::uint8_t> present(nodes);
        RowBuffer buffer;
        for (std::size_t g = 0; g < groups; ++g) {
            values.fill(g, row, present, buffer);
            for (std::size_t n = 0; n < nodes; ++n) {
                out[n * groups + g] = row[n];
                flags[n * groups + g] = present[n] != 0;
            }
        }
    }
    return py::make_tuple(std::move(array), std::move(there));
}

py::list groups_of(const Frame& frame, const std::string& over) {
    py::list list;
    std::optional<std::uint32_t> last;
    const bool by_rank = over_of(over) == Over::Rank;
    for (const FramePlace& place : frame.places) {
        if (by_rank && last == place.rank) continue;
        last = place.rank;
        list.append(py::make_tuple(place.rank, place.thread, text(place.host)));
    }
    return list;
}

/// A column that is still in its file is brought into memory, for the views of it alone.
py::tuple column(const FrameHandle& frame, const std::string& metric) {
    const FrameColumn& column = frame->column(metric);
    if (column.source) {
        FrameColumn fetched = column;
        {
            const py::gil_scoped_release unlocked;
            fetched.fetch();
        }
        return py::make_tuple(array_of(std::move(fetched.begin)), array_of(std::move(fetched.node)), array_of(std::move(fetched.value)));
    }
    const py::object owner = py::cast(frame);
    return py::make_tuple(view(column.begin, owner), view(column.node, owner), view(column.value, owner));
}

py::list texts(const Frame& frame) {
    py::list list;
    for (const std::string& one : frame.texts) list.append(text(one));
    return list;
}

py::dict steps(const Profile& profile, const std::string& phase, const std::optional<std::pair<std::uint64_t, std::uint64_t>>& iterations,
               std::vector<std::uint32_t> ranks, const std::string& metric, bool lines, bool short_names, std::uint64_t stride, bool inclusive) {
    OverTimeChoice choice;
    choice.table = choice_of(std::move(ranks), {metric}, lines, short_names);
    choice.table.has_phase = true;
    choice.table.phase = phase;
    if (iterations) choice.table.iterations = IterationRange{iterations->first, iterations->second};
    choice.stride = stride;
    choice.inclusive = inclusive;
    OverTime result;
    {
        const py::gil_scoped_release unlocked;
        result = over_time(profile, choice);
    }
    std::vector<std::int64_t> first, last;
    for (const IterationRange& step : result.steps) {
        first.push_back(static_cast<std::int64_t>(step.first + 1));
        last.push_back(static_cast<std::int64_t>(step.last + 1));
    }
    py::dict arrays;
    arrays["tree"] = std::make_shared<Frame>(std::move(result.tree));
    arrays["first"] = array_of(std::move(first));
    arrays["last"] = array_of(std::move(last));
    arrays["ranks"] = array_of(std::move(result.ranks));
    arrays["mean"] = array_of(std::move(result.mean));
    arrays["max"] = array_of(std::move(result.max));
    arrays["present"] = array_of(std::move(result.present));
    arrays["estimated"] = array_of(std::move(result.estimated));
    arrays["untold"] = array_of(std::move(result.untold));
    arrays["wall"] = array_of(std::move(result.wall));
    arrays["mean_compute"] = array_of(std::move(result.mean_compute));
    arrays["most_compute"] = array_of(std::move(result.most_compute));
    arrays["estimated_compute"] = array_of(std::move(result.estimated_compute));
    arrays["hot_path"] = result.hot_path;
    return arrays;
}

py::tuple unified(const std::vector<FrameHandle>& handles) {
    std::vector<Frame> frames;
    Unified result;
    {
        const py::gil_scoped_release unlocked;
        for (const FrameHandle& handle : handles) frames.push_back(*handle);
        result = unify(frames);
    }
    py::list list, numbers, renamed;
    for (Frame& frame : frames) list.append(std::make_shared<Frame>(std::move(frame)));
    for (std::vector<std::uint32_t>& node_of : result.node_of) numbers.append(array_of(std::move(node_of)));
    for (const Renamed& one : result.renamed) renamed.append(py::make_tuple(one.run, text(one.from), text(one.to)));
    return py::make_tuple(list, numbers, renamed);
}

} // namespace

void add_frames(py::module_& module) {
    py::register_exception_translator([](std::exception_ptr error) {
        try {
            if (error) std::rethrow_exception(error);
        } catch (const FrameError& e) {
            PyErr_SetString(PyExc_ValueError, e.what());
        }
    });
    const auto nodes_view = [](SharedArray<std::uint32_t> FrameNodes::*member) {
        return [member](const FrameHandle& frame) { return view((frame->nodes.*member).get(), py::cast(frame)); };
    };
    py::class_<Frame, FrameHandle>(module, "Frame")
        .def_property_readonly("parent", nodes_view(&FrameNodes::parent))
        .def_property_readonly("kind", nodes_view(&FrameNodes::kind))
        .def_property_readonly("name", nodes_view(&FrameNodes::name))
        .def_property_readonly("file", nodes_view(&FrameNodes::file))
        .def_property_readonly("module", nodes_view(&FrameNodes::module))
        .def_property_readonly("line", nodes_view(&FrameNodes::line))
        .def("texts", &texts)
        .def("groups", &groups_of)
        .def("metrics",
             [](const Frame& frame) {
                 py::list list;
                 for (const FrameColumn& column : frame.columns) list.append(py::make_tuple(text(column.metric), text(column.unit)));
                 return list;
             })
        .def("column", &column)
        .def("dense", &dense)
        .def("sums",
             [](const Frame& frame, const std::string& metric, bool inclusive) {
                 std::vector<double> sums;
                 {
                     const py::gil_scoped_release unlocked;
                     sums = sums_over_places(frame, metric, inclusive);
                 }
                 return array_of(std::move(sums));
             })
        .def("imbalance", &imbalance)
        .def(
            "hot_path",
            [](const Frame& frame, const std::string& metric, std::optional<std::uint32_t> start, double threshold, bool is_inclusive, bool with_next) {
                return hot_path(frame, metric, {start, threshold, is_inclusive, with_next});
            },
            Unlocked())
        .def("call_graph", &graph)
        .def("filtered", [](const Frame& frame, const std::vector<bool>& keep) { return std::make_shared<Frame>(filtered(frame, keep)); })
        .def(
            "subtree", [](const Frame& frame, std::uint32_t node) { return std::make_shared<Frame>(subtree(frame, node)); }, Unlocked())
        .def("flattened", [](const Frame& frame, const std::string& by) { return std::make_shared<Frame>(flattened(frame, group_by(by))); })
        .def(
            "added", [](const Frame& a, const Frame& b, double factor) { return std::make_shared<Frame>(added(a, b, factor)); }, Unlocked())
        .def(
            "scaled", [](const Frame& frame, double factor) { return std::make_shared<Frame>(scaled(frame, factor)); }, Unlocked())
        .def_readonly("estimated", &Frame::estimated)
        .def_property_readonly("notes",
                               [](const Frame& frame) {
                                   py::list list;
                                   for (const std::string& note : frame.notes) list.append(text(note));
                                   return list;
                               })
        .def_property_readonly("scope", [](const Frame& frame) { return text(frame.scope); });
    module.def("make_frame", &make_frame);
    module.def("frame_of_table", [](const CallTable& table) { return std::make_shared<Frame>(frame_of(table)); });
    module.def(
        "read_frame",
        [](const std::string& place, std::vector<std::uint32_t> ranks, std::vector<std::string> metrics, bool lines, bool short_names,
           std::optional<std::uint64_t> least_kept) {
            ReadLimits limits{most_rows_in_memory};
            limits.least_kept = least_kept.value_or(limits.least_kept);
            return std::make_shared<Frame>(read_frame(place, choice_of(std::move(ranks), std::move(metrics), lines, short_names), limits));
        },
        Unlocked(), py::arg("place"), py::arg("ranks"), py::arg("metrics"), py::arg("lines"), py::arg("short_names"), py::arg("least_kept") = py::none());
    module.def("over_time", &steps);
    module.def("unify", &unified);
    module.def("is_importable", [](const std::string& place) { return is_importable(place); });
    module.def(
        "import_frame", [](const std::string& place) { return std::make_shared<Frame>(import_frame(place)); }, Unlocked());
    using Series = py::array_t<double, py::array::c_style | py::array::forcecast>;
    module.def("pearson", [](const Series& x, const Series& y) { return pearson(numbers(x), numbers(y)); });
    module.def("spearman", [](const Series& x, const Series& y) { return spearman(numbers(x), numbers(y)); });
    module.def("kendall", [](const Series& x, const Series& y) { return kendall(numbers(x), numbers(y)); });
    module.def("regression", [](const Series& x, const Series& y) {
        const FittedLine line = regression(numbers(x), numbers(y));
        return py::make_tuple(line.slope, line.intercept);
    });
}

} // namespace libprofile::python
