#include "tools/analysis/machine_places.hpp"

#include "tools/names/labels.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <utility>

namespace libprofile::tools {

std::vector<PlacedMachine> placed_machines(const Profile& profile) {
    std::vector<PlacedMachine> machines;
    for (UsedMachine& used : used_machines(profile)) {
        PlacedMachine& machine = machines.emplace_back();
        for (const std::uint64_t rank : used.ranks)
            if (const auto& tree = profile.ranks.at(static_cast<std::uint32_t>(rank)).machine; tree && machine.tree == nullptr) machine.tree = &*tree;
        std::map<std::uint32_t, std::vector<PlacedThread>> of_processor;
        for (const std::uint64_t rank : used.ranks)
            for (const ThreadAffinity& thread : profile.ranks.at(static_cast<std::uint32_t>(rank)).affinity->threads)
                if (thread.last) of_processor[*thread.last].push_back({static_cast<std::uint32_t>(rank), thread.thread});
        machine.used = std::move(used);
        if (machine.tree == nullptr) continue;
        const std::vector<MachineNode>& nodes = machine.tree->nodes;
        machine.ranks.resize(nodes.size());
        machine.threads.resize(nodes.size());
        std::vector<std::uint32_t> open;
        for (std::uint32_t i = 0; i < nodes.size(); ++i) {
            while (!open.empty() && nodes[open.back()].end <= i) open.pop_back();
            open.push_back(i);
            if (nodes[i].type != MachineObject::Processor || !nodes[i].number) continue;
            const auto found = of_processor.find(*nodes[i].number);
            if (found == of_processor.end()) continue;
            machine.threads[i] = found->second;
            for (const PlacedThread& thread : found->second)
                if (thread.thread == 0)
                    for (const std::uint32_t node : open) machine.ranks[node].push_back(thread.rank);
        }
        for (std::vector<std::uint32_t>& ranks : machine.ranks) std::sort(ranks.begin(), ranks.end());
        for (std::vector<PlacedThread>& threads : machine.threads)
            std::sort(threads.begin(), threads.end(),
                      [](const PlacedThread& a, const PlacedThread& b) { return std::pair(a.rank, a.thread) < std::pair(b.rank, b.thread); });
    }
    return machines;
}

const MachineTree* machine_of(const Profile& profile, std::uint32_t rank) {
    const auto own = profile.ranks.find(rank);
    if (own == profile.ranks.end()) return nullptr;
    if (own->second.machine || !own->second.affinity) return own->second.machine ? &*own->second.machine : nullptr;
    const std::string key = machine_key(own->second);
    for (const auto& [number, info] : profile.ranks)
        if (info.machine && info.affinity && machine_key(info) == key) return &*info.machine;
    return nullptr;
}

NodeDistances::NodeDistances(const MachineTree* tree) : tree_(tree) {
    if (tree == nullptr || tree->distances.empty()) return;
    std::size_t row = 0;
    for (const MachineNode& node : tree->nodes) {
        if (node.type != MachineObject::NumaNode) continue;
        if (node.number) rows_[*node.number] = row;
        ++row;
    }
}

std::optional<double> NodeDistances::between(std::uint32_t from, std::uint32_t to) const {
    const auto row = rows_.find(from), column = rows_.find(to);
    if (row == rows_.end() || column == rows_.end()) return {};
    const std::vector<std::uint64_t>& distances = tree_->distances[row->second];
    const std::uint64_t own = distances[row->second];
    if (own == 0) return {};
    return static_cast<double>(distances[column->second]) / static_cast<double>(own);
}

std::string unknown_machines(std::span<const PlacedMachine> machines) {
    std::string hosts;
    for (const PlacedMachine& machine : machines)
        if (machine.tree == nullptr) hosts += fmt::format("{}{}", hosts.empty() ? "" : ", ", printable(machine.used.host));
    return hosts.empty() ? "" : "not known, as no rank there was started by libprofile run with hwloc at hand: " + hosts;
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
