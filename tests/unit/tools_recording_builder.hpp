// Builds recordings of every iteration in full, as LIBPROFILE_CLUSTERS=off leaves them.
// Contract: for tests; one thread; allocates freely.
#pragma once

#include "tests/unit/tools_profile_builder.hpp"
#include "tools/reader/reader.hpp"

#include <algorithm>
#include <vector>

namespace libprofile::test {

// Nodes of every rank below: 1 main, 2 solve, 3 MPI_Send, 4 MPI_Allreduce, 5 (libprofile), 6 MPI_Test.
enum Node : std::uint64_t { Main = 1, Solve, Send, Allreduce, Overhead, Poll };

using Iteration = std::vector<BuiltCell>;

/// A recording of iterations with the numbers of their strong classes.
inline BuiltPhase full(const std::vector<Iteration>& iterations, const std::vector<std::uint64_t>& classes) {
    BuiltPhase phase;
    phase.name = "timestep";
    phase.kind = PhaseKind::Iterations;
    phase.instances = iterations.size();
    for (std::size_t i = 0; i < iterations.size(); ++i) {
        std::uint64_t wall = 0;
        for (const BuiltCell& cell : iterations[i]) wall += cell.metric == Metric::Time ? cell.value : 0;
        phase.clusters.push_back({1, classes[i], iterations[i]});
        phase.cluster_of_iteration.push_back(i);
        phase.iteration_ns.push_back(wall);
        phase.wall_ns += wall;
    }
    phase.wall_inclusive_ns = phase.wall_ns;
    return phase;
}

/// A job whose rank r has phases[r]; a rank without an entry there is in the job and nothing more. `counters`: of ProfileBuilder::metrics().
inline tools::Profile job_of(const std::vector<BuiltPhase>& phases, std::uint32_t ranks = 0, const std::vector<std::string>& counters = {}) {
    ranks = std::max(ranks, static_cast<std::uint32_t>(phases.size()));
    ProfileBuilder b(ranks);
    b.job(ranks);
    b.metrics(counters);
    for (std::uint32_t r = 0; r < ranks; ++r) {
        RankRecord record;
        record.rank = r;
        record.threads = 1;
        record.complete = 1;
        b.rank(record);
        b.modules(r, {{"BUILD", "/app"}});
        b.functions(r, {{0, "MPI_Send", TimeCategory::MpiP2p}, {1, "MPI_Allreduce", TimeCategory::MpiColl}, {2, "MPI_Test", TimeCategory::MpiP2p}});
        std::uint64_t wall = r < phases.size() ? phases[r].wall_ns : 0;
        b.tree(r, 0, wall,
               {{0, NodeKind::Frame, 0, 0x10},
                {1, NodeKind::Frame, 0, 0x20},
                {2, NodeKind::Mpi, 0, 0},
                {2, NodeKind::Mpi, 1, 0},
                {0, NodeKind::Overhead, 0, 0},
                {2, NodeKind::Mpi, 2, 0}});
        if (r < phases.size()) b.phase(r, phases[r]);
    }
    const tools::NamedBytes file{"profile.lprof", tools::Bytes(b.bytes())};
    return tools::read_profile(std::span(&file, 1));
}

/// Three call paths, four iterations. The third alone calls MPI_Allreduce; the fourth is an outlier.
inline const std::vector<Iteration> example = {
    {{Solve, Metric::Time, 100}, {Send, Metric::Time, 10}, {Send, Metric::Visits, 1}, {Overhead, Metric::Time, 4}},
    {{Solve, Metric::Time, 104}, {Send, Metric::Time, 12}, {Send, Metric::Visits, 1}, {Overhead, Metric::Time, 4}},
    {{Solve, Metric::Time, 100},
     {Send, Metric::Time, 20},
     {Send, Metric::Visits, 2},
     {Allreduce, Metric::Time, 30},
     {Allreduce, Metric::Visits, 1},
     {Overhead, Metric::Time, 4}},
    {{Solve, Metric::Time, 1000}, {Send, Metric::Time, 200}, {Send, Metric::Visits, 1}, {Overhead, Metric::Time, 4}},
};
inline const std::vector<std::uint64_t> example_classes = {0, 0, 1, 0};

} // namespace libprofile::test
