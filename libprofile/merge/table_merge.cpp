#include "libprofile/merge/table_merge.hpp"

namespace libprofile {

namespace {

using Numbers = PageArray<std::uint32_t>; // in the merged table

/// Walks through two sorted lists as one. compare(i, j) orders their elements; take(from, i, j) takes the smaller of the next two, or both if equal.
template <class Compare, class Take> bool walk(std::size_t size_a, std::size_t size_b, Compare compare, Take take) {
    for (std::size_t i = 0, j = 0; i < size_a || j < size_b;) {
        const int order = i == size_a ? 1 : j == size_b ? -1 : compare(i, j);
        const unsigned from = order < 0 ? NodeOrigins::A : order > 0 ? NodeOrigins::B : NodeOrigins::A | NodeOrigins::B;
        if (!take(from, i, j)) return false;
        i += order <= 0 ? 1 : 0;
        j += order >= 0 ? 1 : 0;
    }
    return true;
}

bool append(Numbers& numbers, std::size_t number) {
    std::uint32_t* slot = numbers.append();
    if (slot != nullptr) *slot = static_cast<std::uint32_t>(number);
    return slot != nullptr;
}

/// The indexes in the merged table of the targets of a table's nodes.
struct Targets {
    explicit Targets(PageBudget& budget) : modules(budget), functions(budget) {}
    Numbers modules;
    Numbers functions;
};

TableNode moved(TableNode node, const Numbers& parents, const Targets& targets) {
    node.parent = parents[node.parent];
    const std::uint32_t kind = node.what & ~(TableNode::most_targets - 1);
    if (is_in_module(node.kind())) node.what = kind | targets.modules[node.target()];
    if (is_call(node.kind())) node.what = kind | targets.functions[node.target()];
    return node;
}

} // namespace

bool merge(const PathTable& a, const PathTable& b, PathTable& merged, NodeOrigins& origins, PageBudget& budget) noexcept {
    Targets in_a(budget), in_b(budget);
    const bool has_targets =
        walk(
            a.module_count(), b.module_count(), [&](auto i, auto j) { return compare(a.module(i), b.module(j)); },
            [&](unsigned from, auto i, auto j) {
                const std::size_t number = merged.module_count();
                return ((from & NodeOrigins::A) == 0 || append(in_a.modules, number)) && ((from & NodeOrigins::B) == 0 || append(in_b.modules, number)) &&
                       merged.add_module((from & NodeOrigins::A) != 0 ? a.module(i) : b.module(j));
            }) &&
        walk(
            a.function_count(), b.function_count(), [&](auto i, auto j) { return compare(a.function(i), b.function(j)); },
            [&](unsigned from, auto i, auto j) {
                const std::size_t number = merged.function_count();
                return ((from & NodeOrigins::A) == 0 || append(in_a.functions, number)) && ((from & NodeOrigins::B) == 0 || append(in_b.functions, number)) &&
                       merged.add_function((from & NodeOrigins::A) != 0 ? a.function(i) : b.function(j));
            });
    Numbers nodes_a(budget), nodes_b(budget);
    const std::size_t larger = a.size() < b.size() ? b.size() : a.size();
    if (!has_targets || !nodes_a.reserve(a.size()) || !nodes_b.reserve(b.size()) || !merged.reserve_nodes(larger) || !origins.reserve(origins.size() + larger))
        return false;
    // A node's parent comes before it, so it already has its new number.
    TableNode from_a, from_b;
    return walk(
        a.size(), b.size(),
        [&](auto i, auto j) {
            if (i == 0 || j == 0) return i == j ? 0 : i == 0 ? -1 : 1; // the roots
            from_a = moved(a[i], nodes_a, in_a);
            from_b = moved(b[j], nodes_b, in_b);
            return from_a == from_b ? 0 : from_a < from_b ? -1 : 1;
        },
        [&](unsigned from, auto i, auto j) {
            const std::size_t number = merged.size();
            if (number > 0xffffffffu) return false;
            TableNode node;
            if (number != 0) node = (from & NodeOrigins::A) != 0 ? moved(a[i], nodes_a, in_a) : moved(b[j], nodes_b, in_b);
            return ((from & NodeOrigins::A) == 0 || append(nodes_a, number)) && ((from & NodeOrigins::B) == 0 || append(nodes_b, number)) &&
                   merged.add_node(node) && origins.append(from);
        });
}

} // namespace libprofile
