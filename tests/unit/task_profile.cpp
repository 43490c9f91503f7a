// Writes the profile of a made-up program of OpenMP tasks, for tests and measurements of tools:
//   task_profile FOLDER seidel ROWS COLUMNS THREADS     a wave front over blocks
//   task_profile FOLDER fork DEPTH THREADS              tasks that create two each, and wait for them
//   task_profile FOLDER none THREADS                    no tasks
//   task_profile FOLDER places ROWS COLUMNS NODES THREADS   a wave front, each block on a page of its own, on a machine with NUMA nodes
//   task_profile FOLDER first ROWS COLUMNS NODES THREADS    the same, and one thread has touched all pages first: they lie on node 0
#include "tools_task_file.hpp"
#include "tools_task_machine.hpp"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace {

using namespace libprofile;
using namespace libprofile::test;

std::uint64_t number(const char* text) { return std::strtoull(text, nullptr, 10); }

void add_fork(TaskProgram& program, std::size_t task, std::uint64_t depth) {
    program.tasks[task].type = depth == 0 ? 1 : 0;
    program.compute(task, depth == 0 ? 20'000 : 1'000);
    if (depth == 0) return;
    for (int i = 0; i < 2; ++i) add_fork(program, program.create(task), depth - 1);
    program.wait(task);
}

} // namespace

int main(int argc, char** argv) {
    if (argc < 4) return 2;
    const std::string kind = argv[2];
    TaskProgram program;
    program.compute(0, 1);
    const bool has_places = (kind == "places" || kind == "first") && argc > 6;
    if ((kind == "seidel" && argc > 5) || has_places) {
        const std::uint64_t rows = number(argv[3]), columns = number(argv[4]);
        const std::uint64_t first = has_places ? first_numa_page * numa_page : 0x7f0000001000, step = has_places ? numa_page : 0x800;
        const auto block = [&](std::uint64_t i, std::uint64_t j) { return first + step * (i * (columns + 1) + j); };
        for (std::uint64_t i = 1; i <= rows; ++i)
            for (std::uint64_t j = 1; j <= columns; ++j)
                program.compute(
                    program.create(0, {{block(i - 1, j), TaskDependence::In}, {block(i, j - 1), TaskDependence::In}, {block(i, j), TaskDependence::InOut}}),
                    100'000 + 10 * (i * j % 7));
    }
    if (kind == "fork" && argc > 4) add_fork(program, program.create(0), number(argv[3]));
    const auto threads = static_cast<std::uint32_t>(number(argv[argc - 1]));
    tools::Profile profile = has_places
                                 ? on_machine(program, threads, static_cast<std::uint32_t>(number(argv[5])), (number(argv[3]) + 1) * (number(argv[4]) + 1), 1)
                                 : TaskTeam(program, threads, 1).run();
    if (kind == "first" && has_places) {
        auto& ranges = profile.ranks[0].pages->ranges;
        ranges = {{first_numa_page * numa_page, ranges.back().end, 0}};
    }
    const ByteVector bytes = task_file(profile);
    std::filesystem::create_directories(argv[1]);
    std::ofstream out(std::filesystem::path(argv[1]) / "profile.lprof", std::ios::binary);
    out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    return out.good() ? 0 : 1;
}
