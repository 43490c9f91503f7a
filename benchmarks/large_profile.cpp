// Writes the profile of a job of many ranks and call paths, for measurements of frames:
//   large_profile FOLDER RANKS NODES [CLUSTERS]
// A call tree of 1,500 functions, that each rank has whole, with as many samples as each call path needs; CLUSTERS (2) clusters of 100
// iterations, among which the values of a call path are spread. The same numbers on every run. Beside the profile it writes names.lprof,
// and for a test of the numbers truth.f64: RANKS x NODES times in ns as doubles of the machine, without the program.
// Memory: a rank's blocks.
#include "benchmarks/written_profile.hpp"
#include "tests/unit/split_mix.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace {

using namespace libprofile;
using namespace libprofile::test;

constexpr std::uint64_t functions = 1500;
constexpr std::uint64_t iterations = 100;

/// A parent is one of the 60 nodes before, so that paths are long.
std::vector<std::uint64_t> parents(std::uint64_t nodes) {
    Random random{7};
    std::vector<std::uint64_t> list = {0};
    for (std::uint64_t n = 2; n <= nodes; ++n) list.push_back(std::max<std::uint64_t>(1, n - 1 - std::min(n - 1, random() % 60)));
    return list;
}

void write_job(WrittenProfile& file, std::uint64_t ranks, std::uint64_t nodes) {
    file.block(of(BlockType::Job), no_rank, [&](Encoder& e) {
        JobRecord r;
        r.ranks = ranks;
        r.mpi = "Open MPI 4.1.4";
        r.command = "./large";
        r.executable = "/nowhere/large";
        r.version = "0.1.0";
        describe(e, r);
    });
    file.block(of(BlockType::Metrics), no_rank, write_metrics);
    file.block(of(BlockType::Modules), no_rank, [](Encoder& e) {
        e.number(1);
        ModuleRecord r{"LARGE", "/nowhere/large"};
        describe(e, r);
    });
    file.block(of(BlockType::Functions), no_rank, [](Encoder& e) { e.number(0); });
    const std::vector<std::uint64_t> list = parents(nodes);
    file.block(of(BlockType::Tree), no_rank, [&](Encoder& e) {
        TreeRecord t{0, nodes};
        describe(e, t);
        for (std::uint64_t n = 1; n <= nodes; ++n) {
            // Siblings are different functions: their distance to the parent differs.
            NodeRecord r{n - list[n - 1], static_cast<std::uint64_t>(NodeKind::Frame), 0, 0x1000 + 16 * (n % functions)};
            describe(e, r);
        }
    });
}

void write_rank(WrittenProfile& file, std::uint32_t rank, std::uint64_t nodes, std::uint64_t clusters, std::ofstream& truth) {
    Random random{std::uint64_t{rank} * 977 + 11};
    std::vector<std::uint64_t> time(nodes * clusters);
    std::vector<double> sums(nodes);
    std::uint64_t wall = 0;
    for (std::uint64_t n = 0; n < nodes; ++n) {
        const std::uint64_t whole = 1'000'000 + random() % 400'000'000;
        for (std::uint64_t c = 0; c < clusters; ++c) {
            const std::uint64_t part = c + 1 == clusters ? whole - whole / clusters * c : whole / clusters;
            time[c * nodes + n] = part;
            wall += part;
        }
        sums[n] = static_cast<double>(whole);
    }
    truth.write(reinterpret_cast<const char*>(sums.data()), static_cast<std::streamsize>(sums.size() * sizeof(double)));
    write_rank_tables(file, rank, wall, nodes);
    file.block(of(BlockType::Phase, 1), rank, [&](Encoder& e) {
        PhaseRecord r;
        r.name = "step";
        r.kind = static_cast<std::uint64_t>(PhaseKind::Iterations);
        r.instances = iterations * clusters;
        r.wall_ns = r.wall_inclusive_ns = wall;
        r.equivalence = static_cast<std::uint64_t>(Equivalence::Strong);
        r.classes = r.clusters = clusters;
        r.metrics = 2;
        describe(e, r);
        for (std::uint64_t c = 0; c < clusters; ++c) {
            ClusterRecord record{iterations, c};
            describe(e, record);
        }
        e.number(clusters);
        for (std::uint64_t c = 0; c < clusters; ++c) {
            e.number(iterations);
            e.number(c);
        }
        e.signed_number(static_cast<std::int64_t>(wall / (iterations * clusters)));
        for (std::uint64_t i = 1; i < iterations * clusters; ++i) e.signed_number(0);
    });
    for (const Metric metric : {Metric::Time, Metric::Samples})
        file.block(of(BlockType::Cells, 1, static_cast<std::uint64_t>(metric) + 1), rank, [&](Encoder& e) {
            CellsRecord r{0, 0, static_cast<std::uint64_t>(metric), clusters + 1};
            describe(e, r);
            for (std::uint64_t c = 0; c < clusters; ++c) e.number(nodes);
            e.number(0);
            for (std::uint64_t i = 0; i < clusters * nodes; ++i) e.number(1);
            for (const std::uint64_t value : time) e.number(metric == Metric::Time ? value : 1);
        });
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 4 && argc != 5) {
        std::fprintf(stderr, "usage: large_profile FOLDER RANKS NODES [CLUSTERS]\n");
        return 2;
    }
    const std::filesystem::path folder = argv[1];
    const auto ranks = static_cast<std::uint32_t>(std::strtoul(argv[2], nullptr, 10));
    const std::uint64_t nodes = std::strtoull(argv[3], nullptr, 10), clusters = argc == 5 ? std::strtoull(argv[4], nullptr, 10) : 2;
    if (ranks == 0 || nodes == 0 || clusters == 0) return 2;
    std::filesystem::create_directories(folder);
    WrittenProfile file(folder / "profile.lprof", ranks);
    std::ofstream truth(folder / "truth.f64", std::ios::binary);
    write_job(file, ranks, nodes);
    for (std::uint32_t r = 0; r < ranks; ++r) {
        write_rank(file, r, nodes, clusters, truth);
        file.directory(r);
    }
    WrittenProfile names(folder / "names.lprof", 0);
    names.block(of(BlockType::Names), no_rank, [](Encoder& e) {
        e.number(functions);
        for (std::uint64_t f = 0; f < functions; ++f) {
            const std::string function = "function_" + std::to_string(f);
            e.text("LARGE");
            e.text("/nowhere/large");
            e.number(0x1000 + 16 * f);
            e.text(Text(function.data(), function.size()));
            e.text("large.cpp");
            e.number(f + 1);
            e.number(0);
        }
    });
    return file.end() && truth.flush() ? 0 : 1;
}
