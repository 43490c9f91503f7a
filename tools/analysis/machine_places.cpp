#include "tools/analysis/machine_places.hpp"

#include <algorithm>
#include <map>

namespace libprofile::tools {

std::vector<PlacedMachine> placed_machines(const Profile& profile) {
    std::vector<PlacedMachine> machines;
    for (UsedMachine& used : used_machines(profile)) {
        PlacedMachine& machine = machines.emplace_back();
        for (const std::uint64_t rank : used.ranks)
            if (const auto& tree = profile.ranks.at(static_cast<std::uint32_t>(rank)).machine; tree && machine.tree == nullptr) machine.tree = &*tree;
        std::map<std::uint32_t, std::vector<std::uint32_t>> of_processor;
        for (const std::uint64_t rank : used.ranks) {
            const ThreadAffinity* thread = profile.ranks.at(static_cast<std::uint32_t>(rank)).affinity->thread(0);
            if (thread != nullptr && thread->last) of_processor[*thread->last].push_back(static_cast<std::uint32_t>(rank));
        }
        machine.used = std::move(used);
        if (machine.tree == nullptr) continue;
        const std::vector<MachineNode>& nodes = machine.tree->nodes;
        machine.ranks.resize(nodes.size());
        std::vector<std::uint32_t> open;
        for (std::uint32_t i = 0; i < nodes.size(); ++i) {
            while (!open.empty() && nodes[open.back()].end <= i) open.pop_back();
            open.push_back(i);
            if (nodes[i].type != MachineObject::Processor || !nodes[i].number) continue;
            if (const auto found = of_processor.find(*nodes[i].number); found != of_processor.end())
                for (const std::uint32_t node : open) machine.ranks[node].insert(machine.ranks[node].end(), found->second.begin(), found->second.end());
        }
        for (std::vector<std::uint32_t>& ranks : machine.ranks) std::sort(ranks.begin(), ranks.end());
    }
    return machines;
}

bool are_alike(const MachineTree& tree, std::uint32_t a, std::uint32_t b) {
    const std::vector<MachineNode>& nodes = tree.nodes;
    const std::uint32_t size = nodes[a].end - a;
    if (nodes[b].end - b != size) return false;
    for (std::uint32_t i = 0; i < size; ++i) {
        const MachineNode &x = nodes[a + i], &y = nodes[b + i];
        if (x.type != y.type || x.size != y.size || x.kind != y.kind || x.end - a != y.end - b) return false;
    }
    return true;
}

} // namespace libprofile::tools
