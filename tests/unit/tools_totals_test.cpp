// Frames that are read a rank at a time, from the profile or from the sums kept beside it, are those of tables.
#include "tests/unit/tools_profile_builder.hpp"
#include "tools/frames/call_graph.hpp"
#include "tools/frames/hot_path.hpp"
#include "tools/frames/imbalance.hpp"
#include "tools/frames/read_frame.hpp"
#include "tools/frames/table_frame.hpp"
#include "tools/names/expand_inlined.hpp"
#include "tools/reader/reader.hpp"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <random>
#include <unistd.h>

namespace libprofile::tools {
namespace {

using namespace libprofile::test;
namespace fs = std::filesystem;

constexpr ReadLimits keeping{~std::uint64_t{0}, 0}, not_keeping{}, in_file{0, 0};

/// A folder that is gone afterwards.
class Folder {
  public:
    Folder() {
        std::string name = (fs::temp_directory_path() / "totals.XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder");
        path_ = name;
    }
    ~Folder() {
        std::error_code ignored;
        fs::permissions(path_, fs::perms::owner_all, ignored);
        fs::remove_all(path_, ignored);
    }
    const fs::path& path() const { return path_; }
    fs::path totals() const { return path_ / totals_file; }
    void write(const ByteVector& bytes, const char* name = "profile.lprof") const {
        std::ofstream(path_ / name, std::ios::binary).write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    }
    ByteVector read(const char* name) const {
        std::ifstream in(path_ / name, std::ios::binary);
        return {std::istreambuf_iterator<char>(in), {}};
    }

  private:
    fs::path path_;
};

/// Ranks with trees of their own, and ranks whose call paths are in the tree of the job; two threads; several phases and clusters.
ByteVector random_profile(unsigned seed) {
    std::mt19937 random(seed);
    const auto below = [&](std::uint64_t n) { return random() % n; };
    const std::uint32_t ranks = 1 + static_cast<std::uint32_t>(below(4));
    constexpr std::uint64_t most_filled = 40;
    const std::uint64_t nodes = 2 + below(30) + (seed % 5 == 1 ? 2000 : 0); // many: threads come to few of them
    std::vector<BuiltNode> tree = {{0, NodeKind::Frame, 0, 0x1000}};
    for (std::uint64_t n = 2; n <= nodes; ++n) {
        const std::uint64_t parent = 1 + below(n - 1);
        if (below(4) == 0)
            tree.push_back({parent, NodeKind::Mpi, 1 + below(2), 0});
        else
            tree.push_back({parent, NodeKind::Frame, 0, 0x1000 + 16 * n});
    }
    tree.push_back({0, NodeKind::NotSampled, 0, 0});
    const std::vector<BuiltModule> modules = {{"BUILD", "/nowhere/app"}};
    const std::vector<BuiltFunction> functions = {{1, "MPI_Send", TimeCategory::MpiP2p}, {2, "MPI_Barrier", TimeCategory::MpiSyncColl}};
    ProfileBuilder b(ranks);
    b.job(ranks);
    b.metrics();
    b.modules(no_rank, modules);
    b.functions(no_rank, functions);
    b.tree(no_rank, 0, tree);
    for (std::uint32_t r = 0; r < ranks; ++r) {
        RankRecord record = sample_rank_record(r);
        const std::uint64_t threads = record.threads = 1 + below(2);
        b.rank(record);
        const bool is_own = r != 0 && below(2) == 0;
        if (is_own) {
            b.modules(r, modules);
            b.functions(r, functions);
        }
        std::vector<std::uint64_t> map;
        for (std::uint64_t n = 1; n <= tree.size(); ++n) map.push_back(n);
        if (r == 0) b.node_map(0, 0, map);
        for (std::uint64_t t = 0; t < threads; ++t) {
            if (is_own)
                b.tree(r, t, 0, tree);
            else
                b.location(r, LocationRecord{t, 0, 1, static_cast<std::uint64_t>(PathsIn::NodeMap), 0, 0});
            for (unsigned p = 0; p < 3; ++p) {
                BuiltPhase phase;
                phase.thread = t;
                phase.name = p == 0 ? "" : p == 1 ? "steps" : "other";
                phase.kind = p == 0 ? PhaseKind::Outside : p == 1 ? PhaseKind::Iterations : PhaseKind::Aggregate;
                const auto fill = [&](std::vector<BuiltCell>& cells) {
                    for (std::uint64_t n = 1; n <= tree.size(); ++n) {
                        if (below(3) == 0 || (n > most_filled && n != tree.size())) continue;
                        const bool is_code = tree[n - 1].kind == NodeKind::Frame;
                        cells.push_back({n, Metric::Time, 1 + below(100000)});
                        if (is_code || below(8) == 0) cells.push_back({n, Metric::Samples, 1 + below(9)});
                        if (!is_code) cells.push_back({n, Metric::Visits, 1 + below(5)});
                    }
                    std::sort(cells.begin(), cells.end(),
                              [](const BuiltCell& x, const BuiltCell& y) { return std::pair(x.node, x.metric) < std::pair(y.node, y.metric); });
                };
                fill(phase.rest);
                if (p == 1) {
                    phase.clusters.resize(2);
                    for (BuiltCluster& cluster : phase.clusters) {
                        cluster.size = 1;
                        fill(cluster.cells);
                    }
                    phase.instances = 2;
                    phase.cluster_of_iteration = {0, 1};
                    phase.iteration_ns = {10, 20};
                }
                b.phase(r, phase);
            }
        }
        b.directory(r);
    }
    b.end();
    return b.bytes();
}

Frame of_table(const fs::path& place, const TableChoice& choice) {
    Profile profile = read_profile(place);
    expand_inlined(profile);
    return frame_of(make_call_table(profile, choice));
}

std::vector<std::string> names(const Frame& frame) {
    std::vector<std::string> list;
    for (std::uint32_t n = 0; n < frame.nodes.size(); ++n)
        list.push_back(frame.name_of(n) + "|" + frame.texts[frame.nodes.kind[n]] + "|" + frame.texts[frame.nodes.file[n]] + "|" +
                       std::to_string(frame.nodes.line[n]) + "|" + frame.texts[frame.nodes.module[n]]);
    return list;
}

void expect_equal(const Frame& got, const Frame& wanted) {
    EXPECT_EQ(got.nodes.parent, wanted.nodes.parent);
    EXPECT_EQ(names(got), names(wanted));
    ASSERT_EQ(got.places.size(), wanted.places.size());
    for (std::size_t p = 0; p < got.places.size(); ++p)
        EXPECT_EQ(std::tuple(got.places[p].rank, got.places[p].thread, got.places[p].host),
                  std::tuple(wanted.places[p].rank, wanted.places[p].thread, wanted.places[p].host));
    ASSERT_EQ(got.columns.size(), wanted.columns.size());
    for (std::size_t c = 0; c < got.columns.size(); ++c) {
        EXPECT_EQ(got.columns[c].metric, wanted.columns[c].metric);
        EXPECT_EQ(got.columns[c].unit, wanted.columns[c].unit);
        EXPECT_EQ(got.columns[c].begin, wanted.columns[c].begin) << got.columns[c].metric;
        EXPECT_EQ(got.columns[c].node, wanted.columns[c].node) << got.columns[c].metric;
        EXPECT_EQ(got.columns[c].value, wanted.columns[c].value) << got.columns[c].metric;
    }
    EXPECT_NO_THROW(got.check());
}

std::vector<TableChoice> choices() {
    std::vector<TableChoice> list(5);
    list[1].metrics = {"all"};
    list[2].metrics = {"mpi", "visits"};
    list[3].ranks = {0};
    list[3].by_line = true;
    list[4].metrics = {"time"};
    list[4].short_names = true;
    return list;
}

} // namespace

TEST(Totals, FramesOfAnyProfileAreThoseOfTables) {
    for (unsigned seed = 0; seed < 100; ++seed) {
        const Folder folder;
        folder.write(seed == 0 ? sample_file(3, true) : random_profile(seed));
        for (const TableChoice& choice : choices()) {
            const Frame wanted = of_table(folder.path(), choice);
            expect_equal(read_frame(folder.path(), choice, not_keeping), wanted);
            expect_equal(read_frame(folder.path(), choice, keeping), wanted);
            ASSERT_TRUE(fs::exists(folder.totals())) << "seed " << seed;
            expect_equal(read_frame(folder.path(), choice, keeping), wanted);
        }
        if (HasFailure()) return;
    }
}

TEST(Totals, WhatStaysInTheFileIsTheSame) {
    for (unsigned seed = 1; seed < 20; ++seed) {
        const Folder folder;
        folder.write(random_profile(seed));
        const Frame wanted = read_frame(folder.path(), {}, keeping);
        Frame frame = read_frame(folder.path(), {}, in_file);
        for (const FrameColumn& column : wanted.columns)
            for (const bool inclusive : {false, true}) {
                ASSERT_TRUE(frame.column(column.metric).source);
                EXPECT_EQ(sums_over_places(frame, column.metric, inclusive), sums_over_places(wanted, column.metric, inclusive));
                const ImbalanceChoice choice{inclusive, Over::Rank, 0, true};
                const Imbalance a = load_imbalance(frame, column.metric, choice), b = load_imbalance(wanted, column.metric, choice);
                EXPECT_EQ(std::tie(a.node, a.mean, a.max, a.present, a.top, a.percentile, a.bins),
                          std::tie(b.node, b.mean, b.max, b.present, b.top, b.percentile, b.bins));
            }
        EXPECT_EQ(hot_path(frame, "time", {}), hot_path(wanted, "time", {}));
        EXPECT_EQ(call_graph(frame, "time", GroupBy::Name).edge, call_graph(wanted, "time", GroupBy::Name).edge);
        for (FrameColumn& column : frame.columns) column.fetch();
        expect_equal(frame, wanted);
    }
}

TEST(Totals, OnesOfAnotherProfileAreNotUsed) {
    const Folder folder;
    folder.write(random_profile(1));
    read_frame(folder.path(), {}, keeping);
    const ByteVector old = folder.read(totals_file);
    folder.write(random_profile(2));
    expect_equal(read_frame(folder.path(), {}, keeping), of_table(folder.path(), {}));
    EXPECT_NE(folder.read(totals_file), old);
    // Of the same size, but written anew.
    fs::last_write_time(folder.path() / "profile.lprof", fs::file_time_type::clock::now() + std::chrono::seconds(5));
    folder.write(old, totals_file);
    expect_equal(read_frame(folder.path(), {}, keeping), of_table(folder.path(), {}));
}

TEST(Totals, SmallProfilesAndFoldersThatAreNotWritableGetNone) {
    const Folder folder;
    folder.write(random_profile(3));
    read_frame(folder.path(), {}, not_keeping);
    EXPECT_FALSE(fs::exists(folder.totals()));
    if (::geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
    fs::permissions(folder.path(), fs::perms::owner_read | fs::perms::owner_exec);
    expect_equal(read_frame(folder.path(), {}, keeping), of_table(folder.path(), {}));
    EXPECT_FALSE(fs::exists(folder.totals()));
}

TEST(Totals, AreNoProfileFile) {
    const Folder folder;
    folder.write(random_profile(4));
    read_frame(folder.path(), {}, keeping);
    EXPECT_EQ(profile_files(folder.path()).size(), 1u);
    EXPECT_TRUE(read_profile(folder.path()).complete || !read_profile(folder.path()).locations.empty());
}

/// A damaged index is not used, and a damaged block is an error; nothing else happens.
TEST(Totals, DamagedOnesGiveNoOtherNumbers) {
    const Folder folder;
    folder.write(random_profile(5));
    const Frame wanted = read_frame(folder.path(), {}, keeping);
    TableChoice last; // of one rank only its own blocks say which nodes it has
    last.ranks = {wanted.places.back().rank};
    const Frame wanted_of_last = read_frame(folder.path(), last, keeping);
    const ByteVector whole = folder.read(totals_file);
    std::mt19937 random(1);
    unsigned refused = 0;
    for (int round = 0; round < 300; ++round) {
        ByteVector bytes = whole;
        if (round % 4 == 0)
            bytes.resize(random() % bytes.size());
        else
            bytes[random() % bytes.size()] ^= static_cast<unsigned char>(1u << random() % 8);
        folder.write(bytes, totals_file);
        try {
            if (round % 2 == 0)
                expect_equal(read_frame(folder.path(), {}, keeping), wanted);
            else
                expect_equal(read_frame(folder.path(), last, keeping), wanted_of_last);
        } catch (const FrameError&) {
            ++refused;
        }
        if (HasFailure()) return;
    }
    EXPECT_GT(refused, 0u);
}

TEST(Totals, DamagedProfilesAreReadAsAWhole) {
    const Folder folder;
    const ByteVector whole = random_profile(6);
    std::mt19937 random(2);
    for (int round = 0; round < 200; ++round) {
        ByteVector bytes = whole;
        bytes[sizeof(FileHeader) + random() % (bytes.size() - sizeof(FileHeader))] ^= static_cast<unsigned char>(1u << random() % 8);
        folder.write(bytes);
        std::optional<Frame> wanted;
        try {
            wanted = of_table(folder.path(), {});
        } catch (const std::runtime_error&) {
            EXPECT_ANY_THROW(read_frame(folder.path(), {}, not_keeping));
            continue;
        }
        expect_equal(read_frame(folder.path(), {}, not_keeping), *wanted);
        if (HasFailure()) return;
    }
}

} // namespace libprofile::tools
