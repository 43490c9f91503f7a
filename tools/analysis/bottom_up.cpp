#include "tools/analysis/bottom_up.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace libprofile::tools {

BottomUp::BottomUp(const FunctionTree& tree, const SelectedTree& values) : tree_(tree), values_(values) {
    const std::size_t nodes = tree.nodes.size();
    std::map<std::pair<NodeKind, std::string_view>, std::uint32_t> known;
    for (const FunctionNode& node : tree.nodes)
        function_.push_back(known.emplace(std::pair(node.kind, std::string_view(node.name)), static_cast<std::uint32_t>(known.size())).first->second);
    first_.resize(nodes);
    end_.assign(nodes, 1); // first the number of nodes below, and itself
    for (std::size_t n = nodes; n-- > 1;) end_[static_cast<std::size_t>(tree.nodes[n].parent)] += end_[n];
    std::vector<std::uint32_t> next(nodes, 1);
    for (std::size_t n = 1; n < nodes; ++n) {
        const auto parent = static_cast<std::size_t>(tree.nodes[n].parent);
        first_[n] = first_[parent] + next[parent];
        next[parent] += end_[n];
    }
    for (std::size_t n = 0; n < nodes; ++n) end_[n] += first_[n];

    std::vector<Calls> groups(known.size());
    for (std::uint32_t n = 0; n < nodes; ++n)
        if (has_value(n)) groups[function_[n]].push_back({n, n});
    add_rows(std::move(groups), none);
    functions_ = rows_.size();
}

bool BottomUp::has_value(std::uint32_t node) const {
    // What was measured without any call path is a function of its own, not the caller of all others.
    const auto& list = node == 0 ? values_.exclusive[0] : values_.inclusive[node];
    return std::any_of(list.begin(), list.end(), [](const SelectedValue& v) { return v.value != 0; });
}

void BottomUp::add_rows(std::vector<Calls>&& groups, std::uint32_t called) {
    const std::size_t metrics = values_.exclusive[0].size();
    std::vector<std::pair<Row, Calls>> list;
    for (Calls& calls : groups) {
        if (calls.empty()) continue;
        std::sort(calls.begin(), calls.end(), [&](const Call& a, const Call& b) { return first_[a.node] < first_[b.node]; });
        Row row{called, called == none ? 0 : rows_[called].depth + 1, calls.front().at, {}, {}};
        row.own.resize(metrics);
        row.inclusive.resize(metrics);
        std::uint32_t end = 0;
        std::uint64_t most = 0;
        for (const Call& call : calls) {
            const std::vector<SelectedValue>& own = values_.exclusive[call.node];
            const bool is_outermost = first_[call.node] >= end;
            if (is_outermost) end = end_[call.node];
            for (std::size_t m = 0; m < metrics; ++m) {
                row.own[m].add(own[m]);
                if (is_outermost) row.inclusive[m].add(call.node == 0 ? own[m] : values_.inclusive[call.node][m]);
            }
            if (own[0].value > most) most = own[0].value, row.node = call.at;
        }
        list.emplace_back(std::move(row), std::move(calls));
    }
    const auto weight = [](const Row& row) { return std::pair(row.own[0].value, row.inclusive[0].value); };
    std::stable_sort(list.begin(), list.end(), [&](const auto& a, const auto& b) { return weight(a.first) > weight(b.first); });
    for (auto& [row, calls] : list) {
        rows_.push_back(std::move(row));
        calls_.push_back(std::move(calls));
    }
}

std::pair<std::uint32_t, std::uint32_t> BottomUp::add_callers(std::uint32_t row) {
    const auto first = static_cast<std::uint32_t>(rows_.size());
    std::unordered_map<std::uint32_t, std::size_t> known; // by function
    std::vector<Calls> groups;
    for (const Call& call : calls_[row]) {
        const int parent = tree_.nodes[call.at].parent;
        if (parent <= 0) continue;
        const auto at = static_cast<std::uint32_t>(parent);
        const auto [found, added] = known.emplace(function_[at], groups.size());
        if (added) groups.emplace_back();
        groups[found->second].push_back({call.node, at});
    }
    Calls().swap(calls_[row]); // asked for once
    add_rows(std::move(groups), row);
    return {first, static_cast<std::uint32_t>(rows_.size())};
}

} // namespace libprofile::tools
