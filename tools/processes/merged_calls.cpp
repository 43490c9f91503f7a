#include "tools/processes/merged_calls.hpp"

#include "tools/names/labels.hpp"

#include <algorithm>
#include <array>

namespace libprofile::tools {

const char* merged_class_name(MergedClass kind) {
    static constexpr std::array names = {"same", "differs", "not all"};
    return names[static_cast<std::size_t>(kind)];
}

std::vector<MergedCall> merged_calls(const ComparedProcesses& p) {
    std::vector<MergedCall> calls;
    if (!p.typical) return calls;
    const MergedTree tree = p.typical->merged();
    std::vector<std::uint64_t> depth(tree.nodes.size());
    for (std::size_t n = 1; n < tree.nodes.size(); ++n) {
        const MergedNode& node = tree.nodes[n];
        depth[n] = depth[node.parent] + 1;
        MergedCall& call = calls.emplace_back();
        call.depth = depth[n];
        call.name = printable(p.typical->name(node.path));
        call.kind = node.kind;
        for (const std::uint32_t row : tree.sets[node.who]) call.ranks.push_back(p.states.locations[row]->rank);
        call.ranks.erase(std::unique(call.ranks.begin(), call.ranks.end()), call.ranks.end());
        call.processes = tree.sets[node.who].size();
        call.least = node.least;
        call.most = node.most;
    }
    return calls;
}

} // namespace libprofile::tools
