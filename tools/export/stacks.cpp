#include "tools/export/stacks.hpp"

#include <fmt/format.h>

namespace libprofile::tools {

std::vector<std::uint32_t> pre_order(const CallTable& table) {
    std::vector<std::vector<std::uint32_t>> children(table.nodes.size());
    for (std::uint32_t n = 1; n < table.nodes.size(); ++n) children[table.nodes[n].parent].push_back(n);
    std::vector<std::uint32_t> order, stack{0};
    while (!stack.empty()) {
        const std::uint32_t node = stack.back();
        stack.pop_back();
        order.push_back(node);
        stack.insert(stack.end(), children[node].rbegin(), children[node].rend());
    }
    return order;
}

CallTable make_stack_table(const Profile& profile, const TableChoice& choice, bool by_location) {
    CallTable table = make_call_table(profile, choice);
    constexpr std::uint64_t most = 100'000'000;
    std::vector<std::uint64_t> depth(table.nodes.size());
    std::uint64_t sum = 0, at_location = 0;
    for (std::size_t n = 1; n < depth.size(); ++n) {
        depth[n] = depth[table.nodes[n].parent] + 1;
        sum += depth[n];
    }
    if (sum > most) throw ExportError("call paths are too deep for a format that repeats them; choose hpctoolkit, cubex or csv");
    for (const std::vector<CallTable::Value>& values : table.values)
        for (std::size_t v = 0; v < values.size(); ++v) at_location += v == 0 || values[v].node != values[v - 1].node ? depth[values[v].node] : 0;
    if (by_location && at_location > most)
        throw ExportError(fmt::format("the call paths of {} ranks and threads are too many for a format that repeats them; choose ranks with --rank, or "
                                      "hpctoolkit, cubex or csv",
                                      table.locations.size()));
    return table;
}

CallTable make_viewer_table(const Profile& profile, TableChoice choice) {
    choice.short_names = true;
    if (choice.metrics.empty()) choice.metrics = {"time"};
    return make_stack_table(profile, choice);
}

} // namespace libprofile::tools
