#include "libprofile/output/process_table.hpp"

#include "libprofile/base/function_records.hpp"
#include "libprofile/callpath/load_map.hpp"
#include "libprofile/output/written_locations.hpp"

#include <algorithm>

namespace libprofile {

namespace {

constexpr std::uint32_t unused = 0xffffffffu;
constexpr std::uint32_t used = 0xfffffffeu;

ModuleRecord module_record(std::uint32_t i) {
    const Module& module = load_map[i];
    return {Text(reinterpret_cast<const char*>(module.build_id), module.build_id_size), module.path};
}

FunctionRecord function_record(std::uint32_t i) { return {i, mpi_functions[i].name, static_cast<std::uint64_t>(mpi_functions[i].category)}; }

/// Sorts the marked records and adds them to the table; equal ones only once.
template <class RecordOf, class Add> bool add_in_order(PageArray<std::uint32_t>& positions, PageBudget& budget, RecordOf record_of, Add add) {
    PageArray<std::uint32_t> order(budget);
    for (std::uint32_t i = 0; i < positions.size(); ++i) {
        if (positions[i] != used) continue;
        std::uint32_t* slot = order.append();
        if (slot == nullptr) return false;
        *slot = i;
    }
    std::sort(order.data(), order.data() + order.size(), [&](std::uint32_t a, std::uint32_t b) {
        const int by_content = compare(record_of(a), record_of(b));
        return by_content != 0 ? by_content < 0 : a < b;
    });
    std::uint32_t count = 0;
    for (std::size_t k = 0; k < order.size(); ++k) {
        const bool is_new = k == 0 || compare(record_of(order[k - 1]), record_of(order[k])) != 0;
        if (is_new && !add(record_of(order[k]))) return false;
        count += is_new ? 1 : 0;
        positions[order[k]] = count - 1;
    }
    return true;
}

bool mark(PageArray<std::uint32_t>& positions, std::uint32_t i) {
    if (i >= TableNode::most_targets) return false;
    while (positions.size() <= i) {
        std::uint32_t* slot = positions.append();
        if (slot == nullptr) return false;
        *slot = unused;
    }
    positions[i] = used;
    return true;
}

} // namespace

bool ProcessTable::build() noexcept {
    PageArray<std::uint32_t> modules(*budget_), functions(*budget_);
    modules_ = &modules;
    functions_ = &functions;
    bool ok = true;
    std::size_t nodes = 0;
    for_each_location({}, [&](Thread& thread, std::uint64_t) {
        nodes += thread.tree.size() - 1;
        for (NodeId id = 1; ok && id < thread.tree.size(); ++id) {
            const Node& node = thread.tree[id];
            if (is_in_module(node.kind)) ok = mark(modules, node.a);
            if (is_call(node.kind)) ok = mark(functions, node.a);
        }
    });
    ok = ok && add_in_order(modules, *budget_, module_record, [&](const ModuleRecord& r) { return table_.add_module(r); }) &&
         add_in_order(functions, *budget_, function_record, [&](const FunctionRecord& r) { return table_.add_function(r); }) && builder_.reserve(nodes);
    for_each_location({}, [&](Thread& thread, std::uint64_t) { ok = ok && add_nodes(thread); });
    ok = ok && builder_.build(table_);
    modules_ = functions_ = nullptr;
    if (!ok) return false;
    for_each_location({}, [&](Thread& thread, std::uint64_t) {
        layout_.add((std::uint64_t{thread.index} << 32) | thread.tree.size());
        for (NodeId id = 1; id < thread.tree.size(); ++id) layout_.add(number_of(thread, id));
    });
    for (const std::uint64_t word : table_.signature().words) layout_.add(word);
    return true;
}

bool ProcessTable::add_nodes(const Thread& thread) noexcept {
    while (bases_.size() <= thread.index)
        if (bases_.append() == nullptr) return false;
    const std::uint32_t base = builder_.base();
    bases_[thread.index] = base;
    bool ok = true;
    for (NodeId id = 1; ok && id < thread.tree.size(); ++id) {
        const Node& node = thread.tree[id];
        const std::uint32_t target = is_in_module(node.kind)         ? (*modules_)[node.a]
                                     : is_call(node.kind)            ? (*functions_)[node.a]
                                     : node.kind == NodeKind::Region ? node.a
                                     : node.kind == NodeKind::Python ? node.a
                                                                     : 0;
        ok = builder_.add(node.parent == 0 ? 0 : base + node.parent, node.kind, target, node.b);
    }
    return ok;
}

std::uint32_t ProcessTable::number_of(const Thread& thread, NodeId node) const noexcept {
    return node == 0 ? 0 : builder_.number_of(bases_[thread.index] + node);
}

} // namespace libprofile
