// A profile of a loop around another one and a phase without iterations, for tests of what lies inside iterations.
// Contract: for tests; one thread; allocates freely.
#pragma once

#include "tests/unit/tools_read_one.hpp"
#include "tools/reader/model.hpp"

#include <array>
#include <map>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

namespace libprofile::test {

using tools::PhaseData;
using tools::Profile;

using Inside = std::map<std::uint64_t, std::vector<std::array<std::uint64_t, 3>>>;

/// An iteration of one call to MPI each.
inline BuiltPhase iterated(const std::string& name, const std::vector<std::uint64_t>& own, const std::vector<std::uint64_t>& wall, std::uint64_t node) {
    BuiltPhase phase;
    phase.name = name;
    phase.kind = PhaseKind::Iterations;
    phase.instances = own.size();
    phase.wall_ns = std::accumulate(own.begin(), own.end(), std::uint64_t{0});
    phase.wall_inclusive_ns = std::accumulate(wall.begin(), wall.end(), std::uint64_t{0});
    phase.clusters = {{own.size(), 0, {{node, Metric::Time, phase.wall_ns}, {node, Metric::Visits, own.size()}}}};
    phase.cluster_of_iteration.assign(own.size(), 0);
    phase.iteration_ns = wall;
    return phase;
}

/// Steps 0 to 2 with sweeps {0, 1}, {2} and {3}; sweep 3 contains a nap; solving in steps 0 and 2. Exclusive times: step i has 100 + i,
/// sweep i has 10 + i, solving 1000 and 3000, the nap 7. Nodes: 1 main, 2 MPI_Allreduce (steps), 3 MPI_Bcast (sweeps), 4 solve.
/// @param noted of so many steps, from the first, the profile says what lay inside them
inline Profile nested(const Inside& of_steps, const Inside& of_sweeps, std::uint64_t noted = 3) {
    ProfileBuilder b(1);
    b.job(1);
    b.metrics();
    b.rank(sample_rank_record(0));
    b.modules(0, {{"BUILD", "/app"}});
    b.functions(0, {{3, "MPI_Allreduce", TimeCategory::MpiColl}, {4, "MPI_Bcast", TimeCategory::MpiColl}});
    b.tree(0, 0, 303 + 46 + 4000 + 7, {{0, NodeKind::Frame, 0, 0x10}, {1, NodeKind::Mpi, 3, 0}, {1, NodeKind::Mpi, 4, 0}, {1, NodeKind::Frame, 0, 0x20}});
    BuiltPhase outside;
    outside.wall_inclusive_ns = 303 + 46 + 4000 + 7;
    b.phase(0, outside);
    b.phase(0, iterated("step", {100, 101, 102}, {100 + 21 + 1000, 101 + 12, 102 + 13 + 7 + 3000}, 2));
    b.phase(0, iterated("sweep", {10, 11, 12, 13}, {10, 11, 12, 13 + 7}, 3));
    b.series(0, "step", 2, {1, 1, 1}, {100, 101, 102});
    b.series(0, "sweep", 3, {1, 1, 1, 1}, {10, 11, 12, 13});
    BuiltPhase solve;
    solve.name = "solve";
    solve.kind = PhaseKind::Aggregate;
    solve.instances = 4;
    solve.wall_ns = solve.wall_inclusive_ns = 4000;
    solve.rest = {{3, Metric::Time, 1000}, {3, Metric::Visits, 8}, {4, Metric::Time, 3000}, {4, Metric::Samples, 4}};
    b.phase(0, solve);
    BuiltPhase nap = solve;
    nap.name = "nap";
    nap.instances = 1;
    nap.wall_ns = nap.wall_inclusive_ns = 7;
    nap.rest = {{1, Metric::Time, 7}};
    b.phase(0, nap);
    if (!of_steps.empty()) b.inside(0, 1, of_steps, noted);
    if (!of_sweeps.empty()) b.inside(0, 2, of_sweeps, 4);
    return read_one(b.bytes());
}

inline const Inside in_steps = {{0, {{2, 2, 0}, {3, 1, 1000}}}, {1, {{2, 1, 2}}}, {2, {{2, 1, 3}, {3, 3, 3000}}}};
inline const Inside in_sweeps = {{3, {{4, 1, 7}}}};

inline const PhaseData& phase_of(const Profile& p, const std::string& name) {
    for (const PhaseData& data : p.locations[0].phases)
        if (p.phases[data.phase].name == name) return data;
    throw std::runtime_error("no phase " + name);
}

} // namespace libprofile::test
