// Time to group the ranks of generated jobs by structure (tools/processes/process_groups.hpp). A micro-benchmark: the profile is in memory, and each job's
// groups are known. Usage: process_groups [RANKS]
#include "tools/processes/process_groups.hpp"
#include "tests/unit/tools_called_job.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>

namespace {

using namespace libprofile;
using namespace libprofile::tools;
using libprofile::test::CalledJob;

constexpr std::size_t calls_of_rank = 40, iterations = 100;

/// The calls that all ranks make alike, one of them `different` times.
CalledJob::Calls common(const std::vector<std::uint32_t>& paths, std::uint64_t different) {
    CalledJob::Calls calls;
    for (const std::uint32_t path : paths) calls.push_back({path, 1});
    calls.front().second = different;
    return calls;
}

std::vector<std::uint32_t> paths_of(CalledJob& job) {
    std::vector<std::uint32_t> paths;
    for (std::size_t c = 0; c < calls_of_rank; ++c)
        paths.push_back(job.call(job.frame(job.main, "f" + std::to_string(c)), c % 2 == 0 ? "MPI_Send" : "MPI_Recv"));
    return paths;
}

CalledJob master_and_workers(std::uint64_t ranks) {
    CalledJob job;
    const std::vector<std::uint32_t> paths = paths_of(job);
    const std::uint32_t hand_out = job.call(job.main, "MPI_Isend");
    for (std::uint64_t r = 0; r < ranks; ++r)
        if (r == 0)
            job.rank({{hand_out, ranks}});
        else
            job.rank(common(paths, 1));
    return job;
}

CalledJob halo(std::uint64_t ranks) {
    CalledJob job;
    const std::vector<std::uint32_t> paths = paths_of(job);
    std::uint64_t side = 1;
    while ((side + 1) * (side + 1) <= ranks) ++side;
    for (std::uint64_t r = 0; r < side * side; ++r) {
        const std::uint64_t x = r % side, y = r / side;
        job.rank({}, {common(paths, (x > 0) + (x + 1 < side) + (y > 0) + (y + 1 < side))}, std::vector<std::uint32_t>(iterations, 0));
    }
    return job;
}

CalledJob multigrid(std::uint64_t ranks) {
    CalledJob job;
    const std::vector<std::uint32_t> paths = paths_of(job);
    for (std::uint64_t r = 0; r < ranks; ++r) {
        std::size_t levels = 4;
        for (std::uint64_t at = r; levels < calls_of_rank && at % 2 == 0 && at != 0; at /= 2) ++levels;
        job.rank(common({paths.begin(), paths.begin() + static_cast<std::ptrdiff_t>(levels)}, 1));
    }
    return job;
}

void measure(const char* name, const CalledJob& job) {
    const std::vector<const Location*> locations = job.locations();
    const auto start = std::chrono::steady_clock::now();
    const std::clock_t cpu = std::clock();
    const ProcessGroups groups = group_processes(job.profile, EventPaths(job.profile), locations);
    const double cpu_s = static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC;
    const double s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    std::printf("%-18s %zu ranks: %.3f s, %.3f s of processors; groups %zu %zu %zu %zu\n", name, locations.size(), s, cpu_s, groups.levels[0].size(),
                groups.levels[1].size(), groups.levels[2].size(), groups.levels[3].size());
}

} // namespace

int main(int argc, char** argv) {
    const std::uint64_t ranks = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 100'000;
    measure("master and workers", master_and_workers(ranks));
    measure("halo with borders", halo(ranks));
    measure("multigrid", multigrid(ranks));
    return 0;
}
