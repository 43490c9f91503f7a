// Writes the page of a profile to which made-up traces were added: traced_page FOLDER FILE SAMPLES. Prints the strip's exact times as JSON, and the
// memory and processor time that the page took. Odd ranks work half as long in each step and wait for the others.
#include "tools/reader/reader.hpp"
#include "tools/view/page.hpp"

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include <sys/resource.h>

using namespace libprofile;
using namespace libprofile::tools;

namespace {

std::uint32_t add_frame(Profile& profile, std::uint32_t parent, std::uint64_t offset, const std::string& function) {
    profile.sites.push_back({static_cast<std::uint32_t>(profile.modules.size() - 1), offset, {function, "made_up.c", static_cast<std::uint32_t>(offset)}, {}});
    profile.paths.push_back({parent, NodeKind::Frame, static_cast<std::uint32_t>(profile.sites.size() - 1), 0});
    return static_cast<std::uint32_t>(profile.paths.size() - 1);
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 4) return 2;
    Profile profile = read_profile(argv[1]);
    const long samples = std::atol(argv[3]);
    profile.modules.push_back({"made up", "/nowhere/made_up"});
    const std::uint32_t main = add_frame(profile, 0, 10, "main"), solve = add_frame(profile, main, 20, "solve"),
                        work = add_frame(profile, solve, 30, "work&amp;\"");
    std::uint32_t leaves[40];
    for (std::uint32_t i = 0; i < 40; ++i) leaves[i] = add_frame(profile, work, 100 + i, "leaf");
    profile.functions.push_back({"MPI_Allreduce", TimeCategory::MpiColl});
    profile.paths.push_back({add_frame(profile, main, 21, "main"), NodeKind::Mpi, static_cast<std::uint32_t>(profile.functions.size() - 1), 0});
    const auto wait = static_cast<std::uint32_t>(profile.paths.size() - 1);
    double waited = 0;
    for (Location& location : profile.locations) {
        if (location.thread != 0) continue;
        location.trace = {};
        location.trace.stride = 1;
        const long of_work = location.rank % 2 == 1 ? 4 : 8;
        std::uint64_t random = location.rank + 1;
        for (long i = 0; i < samples; ++i) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            const bool is_work = i % 10 < of_work;
            const bool goes_on = i % 10 != 0 && i % 10 != of_work;
            location.trace.samples.push_back({static_cast<std::uint64_t>(i + 1) * 1'000'000, is_work ? leaves[(random >> 33) % 40] : wait,
                                              goes_on ? (is_work ? 4u : 2u) : 1u, i == 0 ? LcaKind::Unknown : LcaKind::Exact});
            waited += is_work ? 0 : 1e6;
        }
    }
    PageRequest request;
    request.folder = argv[1];
    const std::string text = page(profile, request);
    std::ofstream(argv[2], std::ios::binary) << text;
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    std::printf("{\"waited\": %.0f, \"bytes\": %zu, \"seconds\": %ld.%02ld, \"mib\": %ld}\n", waited, text.size(), static_cast<long>(usage.ru_utime.tv_sec),
                static_cast<long>(usage.ru_utime.tv_usec) / 10000, usage.ru_maxrss / 1024);
    return 0;
}
