// Readers of other tools' profiles that the process tests do not reach: databases of HPCToolkit, contexts of TAU, names of places.
#include "tests/unit/tools_hpctoolkit_4.hpp"
#include "tools/export/location_name.hpp"
#include "tools/frames/place_values.hpp"
#include "tools/import/importers.hpp"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

namespace libprofile::tools {

namespace {

namespace fs = std::filesystem;

class ImportedProfiles : public testing::Test {
  protected:
    ImportedProfiles() {
        char name[] = "/tmp/import_test.XXXXXX";
        folder_ = ::mkdtemp(name);
    }
    ~ImportedProfiles() override { fs::remove_all(folder_); }
    void write(const std::string& name, const std::string& bytes) const { std::ofstream(folder_ / name, std::ios::binary) << bytes; }
    fs::path folder_;
};

double imported_value(const Frame& frame, const char* metric, std::size_t place, const std::string& name) {
    const FrameColumn& column = frame.column(metric);
    for (std::uint64_t i = column.begin[place]; i < column.begin[place + 1]; ++i)
        if (frame.name_of(column.node[i]) == name) return column.value[i];
    return 0;
}

} // namespace

TEST_F(ImportedProfiles, DatabasesOfVersion4HaveOwnValuesWhateverTheirScope) {
    for (const bool is_point : {true, false}) {
        const test::Database4 database = test::database_4(is_point);
        write("meta.db", database.meta);
        write("profile.db", database.profile);
        const Frame frame = import_frame(folder_);
        EXPECT_EQ(frame.tool, "HPCToolkit databases, version 4");
        ASSERT_EQ(frame.places.size(), 2u);
        EXPECT_EQ(frame.places[1].rank, 1u);
        EXPECT_EQ(frame.places[1].host, "abc");
        for (std::size_t p = 0; p < 2; ++p) {
            const double times = static_cast<double>(p + 1);
            EXPECT_EQ(imported_value(frame, "time", p, "main"), 0.5e9 * times);
            EXPECT_EQ(imported_value(frame, "time", p, "solve"), 0.25e9 * times);
            EXPECT_EQ(imported_value(frame, "time", p, "line a.c:13"), 3e9 * times) << "with its instruction";
            EXPECT_EQ(imported_value(frame, "time", p, "small"), 0.125e9 * times);
            EXPECT_EQ(imported_value(frame, "time", p, "app: function at 0x1234"), 0.75e9 * times);
            EXPECT_EQ(imported_value(frame, "CYCLES", p, "solve"), 250 * times);
        }
        EXPECT_EQ(sums_over_places(frame, "time", true)[0], 3 * 4.625e9);
        const std::uint32_t line = 5, loop = 4, solve = 3;
        EXPECT_EQ(frame.name_of(loop), "loop at a.c:12");
        EXPECT_EQ(frame.nodes.parent[line], loop);
        EXPECT_EQ(frame.nodes.parent[loop], solve);
        EXPECT_EQ(frame.nodes.line[solve], 10u);
        EXPECT_EQ(frame.texts[frame.nodes.file[solve]], "/src/a.c");
        EXPECT_EQ(frame.texts[frame.nodes.module[solve]], "/bin/app");
    }
}

TEST_F(ImportedProfiles, DamagedDatabasesOfVersion4AreRefused) {
    const test::Database4 database = test::database_4(false);
    write("profile.db", database.profile);
    write("meta.db", database.meta.substr(0, 200));
    EXPECT_THROW(import_frame(folder_), FrameError);
    std::string other = database.meta;
    other[14] = 5;
    write("meta.db", other);
    try {
        import_frame(folder_);
        FAIL();
    } catch (const FrameError& error) {
        EXPECT_NE(std::string(error.what()).find("meta.db is of version 5"), std::string::npos) << error.what();
    }
}

TEST_F(ImportedProfiles, ContextsOfTauAreThreadsOfTheirOwn) {
    const std::string head = "1 templated_functions_MULTI_TIME\n# Name Calls Subrs Excl Incl ProfileCalls #\n\"main\" 1 0 ";
    const std::pair<const char*, int> files[] = {{"0.0.0", 1}, {"0.0.1", 2}, {"0.1.0", 4}, {"0.2.0", 8}, {"1.0.0", 16}};
    for (const auto& [name, time] : files)
        write(std::string("profile.") + name, head + std::to_string(time) + " " + std::to_string(time) + " 0 GROUP=\"X\"\n0 aggregates\n");
    const Frame frame = import_frame(folder_);
    ASSERT_EQ(frame.places.size(), 5u);
    for (std::size_t p = 0; p < 5; ++p) {
        EXPECT_EQ(frame.places[p].rank, p / 4);
        EXPECT_EQ(frame.places[p].thread, p % 4);
        EXPECT_EQ(imported_value(frame, "time", p, "main"), 1000.0 * (1 << p));
    }
    EXPECT_EQ(frame.notes.size(), 1u);
}

TEST_F(ImportedProfiles, MatricesThatAreSparseOnDiskNeedNotFitIntoMemory) {
    write("experiment.xml", "<?xml version=\"1.0\"?><HPCToolkitExperiment><MetricDB i=\"0\" n=\"CPUTIME (sec) (E)\" db-id=\"0\" db-num-metrics=\"1\"/>"
                            "<PF i=\"1\" n=\"main\"><PF i=\"2\" n=\"f\"/></PF></HPCToolkitExperiment>");
    std::string matrix = "HPCPROF-metricdb__00.10b";
    const std::uint32_t rows = 0xffffffff;
    for (const std::uint32_t number : {rows, 1u})
        for (int shift = 24; shift >= 0; shift -= 8) matrix += static_cast<char>(number >> shift);
    matrix += std::string("\x3f\xf0\0\0\0\0\0\0", 8) + std::string("\x40\0\0\0\0\0\0\0", 8); // 1 s and 2 s
    write("app-000000-000-1-2-0.metric-db", matrix);
    fs::resize_file(folder_ / "app-000000-000-1-2-0.metric-db", 32 + 8ull * rows); // 32 GiB
    const Frame frame = import_frame(folder_);
    EXPECT_EQ(imported_value(frame, "time", 0, "main"), 1e9);
    EXPECT_EQ(imported_value(frame, "time", 0, "f"), 2e9);
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    EXPECT_LT(used.ru_maxrss, 2'000'000) << "KiB";
}

TEST(LocationName, IsReadAsItIsWritten) {
    for (const auto& [rank, thread] : {std::pair(0u, 0u), std::pair(3u, 1u), std::pair(4294967295u, 7u)}) {
        const auto found = location_named(location_name(rank, thread));
        ASSERT_TRUE(found);
        EXPECT_EQ(found->rank, rank);
        EXPECT_EQ(found->thread, thread);
    }
    for (const char* other : {"", "rank", "rank ", "rank x", "rank 3 ", "rank 3 thread", "rank 3 thread 1 ", "rank 4294967296", "rank -1", "Rank 3", "rank 3x"})
        EXPECT_FALSE(location_named(other)) << other;
}

/// Small files of each kind that would become large: refused before they do.
TEST_F(ImportedProfiles, FilesThatWouldFillMemoryAreRefused) {
    constexpr std::size_t size = 5u << 20;
    const auto times = [](std::size_t count, const std::string& part) {
        std::string text;
        text.reserve(count * part.size());
        for (std::size_t i = 0; i < count; ++i) text += part;
        return text;
    };
    const auto field = [](char number, const std::string& bytes) {
        std::string text(1, static_cast<char>(number << 3 | 2));
        std::size_t rest = bytes.size();
        for (; rest > 127; rest >>= 7) text += static_cast<char>(rest | 128);
        return text + static_cast<char>(rest) + bytes;
    };
    const std::string types = field(1, std::string("\x08\0\x10\0", 4)) + field(6, ""), location = field(4, "\x08\x01");
    const std::pair<const char*, std::string> files[] = {
        {"stack", "x 1\n" + times(size / 2, "a;") + "a 1\n"},
        {"lists", R"({"graph":"children","x":)" + times(size, "[")},
        {"record", "__rec=ctx," + times(size, ",a") + "\n"},
        {"profile.pb", types + location + field(2, field(1, times(size / 2, "\x01")) + "\x10\x01")},
    };
    for (const auto& [name, bytes] : files) {
        write(name, bytes);
        try {
            import_frame(folder_ / name);
            ADD_FAILURE() << name << " was read";
        } catch (const FrameError& error) {
            const std::string said = error.what();
            const bool is_of_size = said.find("16 times its size") != std::string::npos || said.find("longer than 1 MiB") != std::string::npos ||
                                    said.find("more than a million functions") != std::string::npos;
            EXPECT_TRUE(is_of_size) << name << ": " << said;
        }
        fs::remove(folder_ / name);
    }
    write("experiment.xml", "<A>" + times(size / 4, "<PF>"));
    EXPECT_THROW(import_frame(folder_), FrameError);
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
#ifndef __SANITIZE_ADDRESS__
    EXPECT_LT(used.ru_maxrss, 512 * 1024) << "KiB";
#endif
}

TEST_F(ImportedProfiles, ValuesWhoseSumsWouldBeInfiniteAreRefused) {
    write("stacks", "a 1e308\na;b 1e308\n");
    EXPECT_THROW(import_frame(folder_ / "stacks"), FrameError);
    write("stacks", "a 1\na;b 1e99\n");
    EXPECT_TRUE(std::isfinite(sums_over_places(import_frame(folder_ / "stacks"), "time", true)[0]));
}

} // namespace libprofile::tools
