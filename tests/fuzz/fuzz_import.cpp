// Damages profiles of other tools' formats for some seconds, and reads and reports them: each is read whole or refused with a sentence.
// Usage: fuzz_import SECONDS [SEED]. A failure leaves the file, and says where.
#include "tests/unit/tools_hpctoolkit_4.hpp"
#include "tests/unit/tools_profile_builder.hpp"
#include "tools/export/formats.hpp"
#include "tools/frames/frame_report.hpp"
#include "tools/frames/frame_table.hpp"
#include "tools/import/file_bytes.hpp"
#include "tools/import/importers.hpp"
#include "tools/names/expand_inlined.hpp"
#include "tools/reader/reader.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sys/resource.h>
#include <unistd.h>

namespace {

using namespace libprofile::tools;
namespace fs = std::filesystem;

constexpr const char* texts[] = {
    "main;f 12\nmain;f;g 3\nrank 1;main 4\n",
    R"({"data":[[1.5,0,null],[2.5,1,0]],"columns":["sum#time.duration","mpi.rank","path"],"column_metadata":[{"is_value":true},)"
    R"({"is_value":true},{"is_value":false}],"nodes":[{"label":"main","column":"path"},{"label":"f","column":"path","parent":0}]})",
    "__rec=node,id=19,attr=10,data=268,parent=3\n__rec=node,id=20,attr=8,data=function,parent=19\n__rec=node,id=96,attr=10,data=21,parent=5\n"
    "__rec=node,id=111,attr=8,data=sum#time.duration,parent=96\n__rec=node,id=155,attr=20,data=main\n__rec=node,id=156,attr=20,data=f\\,g,parent=155\n"
    "__rec=ctx,ref=155,attr=111,data=0.25\n__rec=ctx,ref=156,attr=111,data=0.5\n",
    R"({"$schema":"speedscope","shared":{"frames":[{"name":"main"},{"name":"f","file":"a.c","line":3}]},"profiles":[{"type":"sampled",)"
    R"("name":"rank 0","unit":"seconds","startValue":0,"endValue":2,"samples":[[0],[0,1]],"weights":[1,1]},{"type":"evented","name":"x",)"
    R"("unit":"microseconds","startValue":0,"endValue":9,"events":[{"type":"O","frame":0,"at":0},{"type":"C","frame":0,"at":9}]}]})",
    R"j([{"frame":{"name":"a","type":"function"},"metrics":{"time":1.5,"time (inc)":3},"children":[{"frame":{"name":"b"},"metrics":{"time":1.5}}]}])j",
    R"({"graph":[{"0":{"data":{"name":"a"},"children":[1]},"1":{"data":{"name":"b"},"children":[]}}],"dataframe":[{"node":0,"time":1,)"
    R"("rank":1},{"node":1,"time":2}],"inclusive_metrics":[]})",
    "Flat profile:\n\n  %   cumulative   self              self     total\n time   seconds   seconds    calls  ms/call  ms/call  name\n 60.0  0.60  0.60  7  "
    "1.0  2.0  f(int, int)\n 40.0  1.00  0.40  main\n\n",
    "3 templated_functions_MULTI_TIME\n# Name Calls Subrs Excl Incl ProfileCalls #\n\"main\" 1 1 5 9 0 GROUP=\"D\"\n\"f()\" 2 0 4 4 0 GROUP=\"D\"\n\"main => "
    "f()\" 2 0 4 4 0 "
    "GROUP=\"C\"\n0 aggregates\n",
};

struct Seed {
    fs::path place;                                      // file or folder
    std::vector<std::pair<fs::path, std::string>> files; // that may be damaged, and their bytes
};

void write(const fs::path& file, const std::string& bytes) {
    std::ofstream(file, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

std::string bytes_of(const fs::path& file) {
    MemoryLimit memory(file);
    return file_bytes(file, memory);
}

std::vector<Seed> make_seeds(const fs::path& folder) {
    std::vector<Seed> seeds;
    for (const char* text : texts) {
        Seed& seed = seeds.emplace_back();
        seed.place = folder / ("text" + std::to_string(seeds.size()));
        seed.files = {{seed.place, text}};
    }
    for (const bool is_point : {false, true}) {
        const libprofile::test::Database4 database = libprofile::test::database_4(is_point);
        Seed& seed = seeds.emplace_back();
        seed.place = folder / (is_point ? "point.db" : "execution.db");
        fs::create_directory(seed.place);
        seed.files = {{seed.place / "meta.db", database.meta}, {seed.place / "profile.db", database.profile}};
    }
    const fs::path profile_file = folder / "profile.lprof";
    const auto bytes = libprofile::test::sample_file(3);
    write(profile_file, std::string(bytes.begin(), bytes.end()));
    const Profile profile = read_profile(profile_file);
    for (const ExportFormat& format : export_formats()) {
        const std::string name = format.name;
        if (name == "extrap" || name == "chrome" || format.needs_tasks) continue;
        Seed& seed = seeds.emplace_back();
        seed.place = folder / (name + format.suffix);
        ExportRequest request;
        if (name == "folded") request.choice.metrics = {"time"};
        {
            NewFiles files(seed.place, format.is_folder);
            format.write(profile, request, files);
            files.finish();
        }
        if (!format.is_folder)
            seed.files.emplace_back(seed.place, bytes_of(seed.place)); // unpacked: damage would stop at the checksum
        else
            for (const auto& entry : fs::directory_iterator(seed.place)) seed.files.emplace_back(entry.path(), bytes_of(entry.path()));
        std::sort(seed.files.begin(), seed.files.end());
    }
    return seeds;
}

std::string mutated(std::string bytes, std::mt19937_64& random) {
    const auto below = [&](std::size_t limit) { return static_cast<std::size_t>(random() % limit); };
    for (std::size_t changes = 1 + below(4); changes-- > 0 && !bytes.empty();) {
        const std::size_t at = below(bytes.size());
        constexpr const char* pieces[] = {
            "0", "-1", "4294967296", "18446744073709551616", "1e999", "nan", "\"", "[", "{", "]", "}", "=", ",", ";", " => ", "\n", "null", "<a>", "</", "&x;"};
        switch (below(7)) {
        case 0: bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8))); break;
        case 1: bytes[at] = static_cast<char>(random()); break;
        case 2: bytes.resize(at); break;
        case 3: bytes.insert(at, pieces[below(std::size(pieces))]); break;
        case 4: bytes.erase(at, below(32)); break;
        case 5: bytes.replace(at, std::min<std::size_t>(8, bytes.size() - at), "\xff\xff\xff\xff\xff\xff\xff\x7f"); break;
        default: bytes.insert(at, bytes.substr(below(bytes.size()), below(64)));
        }
    }
    return bytes;
}

} // namespace

int main(int count, char** arguments) {
    const double seconds = count > 1 ? std::atof(arguments[1]) : 5;
    std::mt19937_64 random(count > 2 ? std::strtoull(arguments[2], nullptr, 10) : 1);
    char folder_name[] = "/tmp/fuzz_import.XXXXXX";
    if (::mkdtemp(folder_name) == nullptr) return 2;
    const fs::path folder = folder_name;
    std::vector<Seed> seeds = make_seeds(folder);
    for (const Seed& seed : seeds) {
        for (const auto& [file, bytes] : seed.files) write(file, bytes);
        import_frame(seed.place).check(); // undamaged, each is read
    }
#ifndef __SANITIZE_ADDRESS__
    const rlimit memory = {1u << 30, 1u << 30}; // more than that for files of some KiB is a failure
    ::setrlimit(RLIMIT_AS, &memory);
#endif
    std::size_t tried = 0, read = 0;
    for (const auto begin = std::chrono::steady_clock::now(); std::chrono::steady_clock::now() - begin < std::chrono::duration<double>(seconds); ++tried) {
        const Seed& seed = seeds[random() % seeds.size()];
        const auto& [file, bytes] = seed.files[random() % seed.files.size()];
        write(file, mutated(bytes, random));
        try {
            const Frame frame = import_frame(seed.place);
            frame.check();
            ++read;
            Remarks remarks;
            table_of(frame, {}, remarks);
            document_text(frame_report(frame, {}), {});
        } catch (const FrameError&) {
        } catch (const std::exception& error) {
            std::fprintf(stderr, "%s: %s\n", file.c_str(), error.what());
            return 1;
        }
        write(file, bytes);
    }
    std::printf("%zu damaged files, %zu of them were read, the others refused\n", tried, read);
    fs::remove_all(folder);
}
