// A team that runs a made-up program of tasks (tools_task_team.hpp) on a machine with several NUMA nodes.
// Contract: for tests; one thread; allocates freely.
#pragma once

#include "tests/unit/tools_task_team.hpp"

namespace libprofile::test {

inline constexpr std::uint64_t numa_page = 4096, first_numa_page = 0x7f0000000;

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
        for (tools::TracedTaskRun& run : profile.locations[t].events.runs)
            if (t + 1 != threads) run.processor = static_cast<std::uint16_t>(processor.number);
    }
    rank.pages.emplace();
    rank.pages->page_size = numa_page;
    for (std::uint64_t p = 0; p < pages; ++p)
        if (p % 7 != 0)
            rank.pages->ranges.push_back({(first_numa_page + p) * numa_page, (first_numa_page + p + 1) * numa_page, static_cast<std::uint32_t>(p % nodes)});
    return profile;
}

} // namespace libprofile::test
