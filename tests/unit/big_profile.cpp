// Writes a synthetic profile of many ranks and iterations, for measurements of tools:
//   big_profile FOLDER RANKS ITERATIONS [CLUSTERS [series] [nested]]
// "series": every iteration's own values, too. "nested": in each iteration lies a phase of 1 ms.
// 60 call paths below main(), an iteration of about 10 ms: noise, a slow trend, one expensive iteration in a hundred, and ranks
// that differ. The same numbers on every run.
#include "split_mix.hpp"
#include "tools_profile_builder.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace {

using namespace libprofile;
using namespace libprofile::test;

constexpr std::uint64_t functions = 40; // frames; each second one calls MPI

void add_rank(ProfileBuilder& b, std::uint32_t rank, std::uint64_t iterations, std::uint64_t clusters, bool series, bool nested) {
    Random random{rank + 1};
    RankRecord record;
    record.rank = rank;
    record.pid = 1000 + rank;
    const std::string host = "node" + std::to_string(rank / 64);
    record.host = Text(host.data(), host.size());
    record.threads = record.complete = 1;
    record.rate = 100;
    record.samples_taken = iterations;
    b.rank(record);
    b.modules(rank, {{"BUILD-APP", "/home/user/app"}});
    b.functions(rank, {{1, "MPI_Allreduce", TimeCategory::MpiColl}, {2, "MPI_Waitall", TimeCategory::MpiP2p}});
    std::vector<BuiltNode> nodes = {{0, NodeKind::Frame, 0, 0x1000}};
    for (std::uint64_t f = 0; f < functions; ++f) nodes.push_back({f % 8 == 0 ? 1 : nodes.size(), NodeKind::Frame, 0, 0x2000 + f * 0x100});
    const std::uint64_t first_mpi = nodes.size() + 1;
    for (std::uint64_t f = 0; f < functions; f += 2) nodes.push_back({2 + f, NodeKind::Mpi, f % 4 == 0 ? 1u : 2u, 0});

    BuiltPhase steps;
    steps.name = "timestep";
    steps.kind = PhaseKind::Iterations;
    steps.instances = iterations;
    const double own = 1 + 0.1 * std::sin(rank * 0.05) + (rank % 97 == 13 ? 0.3 : 0);
    std::vector<std::uint64_t> sizes(clusters), times(clusters);
    for (std::uint64_t i = 0; i < iterations; ++i) {
        const double x = static_cast<double>(i) / static_cast<double>(iterations);
        const double noise = random.uniform() + random.uniform() + random.uniform() - 1.5;
        const double ms = 10 * own * (1 + 0.3 * x) + 0.3 * noise + (i % 100 == 99 ? 15 : 0) + (rank / 100 == i / 1000 ? 2 : 0);
        const auto ns = static_cast<std::uint64_t>(ms * 1e6);
        const std::uint64_t cluster = i % 100 == 99 ? clusters - 1 : static_cast<std::uint64_t>(x * static_cast<double>(clusters - 1));
        steps.iteration_ns.push_back(ns);
        steps.cluster_of_iteration.push_back(cluster);
        ++sizes[cluster];
        times[cluster] += ns;
        steps.wall_ns += ns;
    }
    steps.wall_inclusive_ns = steps.wall_ns;
    BuiltPhase solve;
    solve.name = "solve";
    solve.kind = PhaseKind::Aggregate;
    if (nested) {
        solve.instances = iterations;
        solve.wall_ns = solve.wall_inclusive_ns = iterations * 1000000;
        solve.rest = {{2, Metric::Time, solve.wall_ns / 2}, {first_mpi, Metric::Time, solve.wall_ns / 2}, {first_mpi, Metric::Visits, iterations}};
        steps.wall_inclusive_ns += solve.wall_ns;
    }
    for (std::uint64_t c = 0; c < clusters; ++c) {
        BuiltCluster cluster{sizes[c], 0, {}};
        std::uint64_t left = times[c];
        for (std::uint64_t n = 2; n <= nodes.size() && left > 0; ++n) {
            const auto part =
                n == nodes.size()
                    ? left
                    : static_cast<std::uint64_t>(static_cast<double>(times[c]) / static_cast<double>(nodes.size()) * (0.6 + 0.8 * random.uniform()));
            const std::uint64_t time = part < left ? part : left;
            left -= time;
            cluster.cells.push_back({n, Metric::Time, time});
            if (n >= first_mpi) cluster.cells.push_back({n, Metric::Visits, sizes[c]});
        }
        steps.clusters.push_back(std::move(cluster));
    }
    b.tree(rank, 0, steps.wall_inclusive_ns + 1000000, nodes);
    BuiltPhase outside;
    outside.wall_ns = 1000000;
    outside.wall_inclusive_ns = steps.wall_inclusive_ns + 1000000;
    outside.rest = {{1, Metric::Time, 1000000}};
    b.phase(rank, outside);
    if (nested)
        for (std::uint64_t& ns : steps.iteration_ns) ns += 1000000;
    b.phase(rank, steps);
    if (series) {
        std::vector<std::uint64_t> visits(iterations, 2), mpi;
        for (const std::uint64_t ns : steps.iteration_ns) mpi.push_back(ns / 4 + random() % (ns / 16));
        b.series(rank, "timestep", first_mpi, visits, mpi);
    }
    if (nested) {
        b.phase(rank, solve);
        std::map<std::uint64_t, std::vector<std::array<std::uint64_t, 3>>> inside;
        for (std::uint64_t i = 0; i < iterations; ++i) inside[i] = {{2, 1, 1000000}};
        b.inside(rank, 1, inside, iterations);
    }
    b.directory(rank);
}

} // namespace

int main(int argc, char** argv) {
    if (argc < 4) {
        std::fprintf(stderr, "usage: big_profile FOLDER RANKS ITERATIONS [CLUSTERS [series] [nested]]\n");
        return 2;
    }
    const auto ranks = static_cast<std::uint32_t>(std::atoi(argv[2]));
    const auto iterations = static_cast<std::uint64_t>(std::atoll(argv[3]));
    const auto clusters = static_cast<std::uint64_t>(argc > 4 ? std::atoi(argv[4]) : 16);
    const auto is_said = [&](const char* word) {
        return std::any_of(argv + std::min(argc, 5), argv + argc, [&](const char* one) { return std::strcmp(one, word) == 0; });
    };
    std::filesystem::create_directories(argv[1]);
    ProfileBuilder b(ranks);
    b.job(ranks, "./synthetic");
    b.metrics();
    for (std::uint32_t r = 0; r < ranks; ++r) add_rank(b, r, iterations, clusters, is_said("series"), is_said("nested"));
    b.end();
    std::ofstream out(std::filesystem::path(argv[1]) / "profile.lprof", std::ios::binary);
    out.write(reinterpret_cast<const char*>(b.bytes().data()), static_cast<std::streamsize>(b.bytes().size()));
    return out.good() ? 0 : 1;
}
