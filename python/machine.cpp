#include "python/bindings.hpp"

#include "tools/analysis/machine_places.hpp"

namespace libprofile::python {

namespace {

using namespace tools;

template <class Number> py::object or_none(bool is_known, Number value) { return is_known ? py::object(py::int_(value)) : py::object(py::none()); }

/// Of each machine: host, source (None: it has no tree), ranks, parts with their children behind them, and distances row by row.
py::list machines(const Profile& p) {
    py::list list;
    for (const PlacedMachine& machine : placed_machines(p)) {
        py::list ranks, parts;
        for (const std::uint64_t rank : machine.used.ranks) ranks.append(rank);
        const std::size_t n = machine.tree == nullptr ? 0 : machine.tree->distances.size();
        auto [distances, data] = matrix<std::int64_t>(n, n, 0);
        if (machine.tree == nullptr) {
            list.append(py::make_tuple(text(machine.used.host), py::none(), ranks, parts, distances));
            continue;
        }
        for (const std::vector<std::uint64_t>& row : machine.tree->distances)
            for (const std::uint64_t value : row) *data++ = static_cast<std::int64_t>(value);
        for (std::size_t i = 0; i < machine.tree->nodes.size(); ++i) {
            const MachineNode& node = machine.tree->nodes[i];
            py::list threads;
            for (const PlacedThread& thread : machine.threads[i]) threads.append(py::make_tuple(thread.rank, thread.thread));
            parts.append(py::make_tuple(node.end, machine_part(node.type), or_none(node.number.has_value(), node.number.value_or(0)),
                                        or_none(node.size != 0, node.size), or_none(node.kind != 0, node.kind), threads));
        }
        list.append(py::make_tuple(text(machine.used.host), text(machine.tree->source), ranks, parts, distances));
    }
    return list;
}

} // namespace

void add_machine(py::module_& module) { module.def("machines", &machines); }

} // namespace libprofile::python
