// A team that runs a made-up program of tasks (tools_task_team.hpp) on a machine with several NUMA nodes.
// Contract: for tests; one thread; allocates freely.
#pragma once

#include "format/machine.hpp"
#include "tests/unit/tools_task_team.hpp"

namespace libprofile::test {

inline constexpr std::uint64_t numa_page = 4096, first_numa_page = 0x7f0000000;

/// From node to node.
inline std::uint64_t made_up_distance(std::uint32_t from, std::uint32_t to) { return from == to ? 10 : 11 + 2 * from + to; }

/// A package for each NUMA node, with the processors of its threads, each a core.
inline tools::MachineTree made_up_machine(std::uint32_t threads, std::uint32_t nodes) {
    tools::MachineTree tree;
    tree.source = "made up";
    tree.nodes.emplace_back().type = MachineObject::Machine;
    for (std::uint32_t n = 0; n < nodes; ++n) {
        const std::size_t package = tree.nodes.size();
        tree.nodes.push_back({MachineObject::Package, 0, n});
        tree.nodes.push_back({MachineObject::NumaNode, static_cast<std::uint32_t>(package + 2), n, std::uint64_t{1} << 30});
        for (std::uint32_t t = n; t < threads; t += nodes) {
            const auto core = static_cast<std::uint32_t>(tree.nodes.size());
            tree.nodes.push_back({MachineObject::Core, core + 2, t});
            tree.nodes.push_back({MachineObject::Processor, core + 2, 10 + t});
        }
        tree.nodes[package].end = static_cast<std::uint32_t>(tree.nodes.size());
        std::vector<std::uint64_t>& row = tree.distances.emplace_back();
        for (std::uint32_t to = 0; to < nodes; ++to) row.push_back(made_up_distance(n, to));
    }
    tree.nodes[0].end = static_cast<std::uint32_t>(tree.nodes.size());
    return tree;
}

/// Thread t ran on processor 10 + t, of node t % nodes, but for the last thread, of which that is not known; page p lies on node p % nodes, unless p % 7 is 0.
inline tools::Profile on_machine(const TaskProgram& program, std::uint32_t threads, std::uint32_t nodes, std::uint64_t pages, std::uint32_t seed) {
    tools::Profile profile = TaskTeam(program, threads, seed).run();
    tools::RankInfo& rank = profile.ranks[0];
    rank.affinity.emplace();
    rank.affinity->machine.numa_nodes = nodes;
    for (std::uint32_t t = 0; t < threads; ++t) {
        tools::Processor processor;
        processor.number = 10 + t;
        processor.numa_node = t % nodes;
        rank.affinity->processors.push_back(processor);
        tools::ThreadAffinity affinity;
        affinity.thread = t;
        if (t + 1 != threads) affinity.last = processor.number;
        rank.affinity->threads.push_back(affinity);
        for (tools::TracedTaskRun& run : profile.locations[t].events.runs)
            if (t + 1 != threads) run.processor = static_cast<std::uint16_t>(processor.number);
    }
    rank.machine = made_up_machine(threads, nodes);
    rank.pages.emplace();
    rank.pages->page_size = numa_page;
    for (std::uint64_t p = 0; p < pages; ++p)
        if (p % 7 != 0)
            rank.pages->ranges.push_back({(first_numa_page + p) * numa_page, (first_numa_page + p + 1) * numa_page, static_cast<std::uint32_t>(p % nodes)});
    return profile;
}

} // namespace libprofile::test
