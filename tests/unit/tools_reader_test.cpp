// The reader: what it makes of good, damaged and hostile files.
#include "tests/unit/tools_read_one.hpp"
#include "tools/analysis/totals.hpp"
#include "tools/reader/reader.hpp"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <set>
#include <unistd.h>

using namespace libprofile;
using namespace libprofile::test;
using namespace libprofile::tools;

namespace {

std::string error_of(const ByteVector& bytes) {
    try {
        read_one(bytes);
    } catch (const ReadError& error) {
        return error.what();
    }
    return "";
}

} // namespace

TEST(Reader, ReadsTheSample) {
    const Profile p = read_one(sample_file(3));
    EXPECT_TRUE(p.complete);
    EXPECT_TRUE(p.notes.empty()) << p.notes.front();
    EXPECT_EQ(p.job.ranks, 3u);
    EXPECT_EQ(p.job.command, "./app input");
    ASSERT_EQ(p.locations.size(), 3u);
    ASSERT_EQ(p.phases.size(), 2u);
    EXPECT_EQ(p.phases[0].name, "");
    EXPECT_EQ(p.phases[1].name, "timestep");
    const PhaseData* steps = find_phase(&p.locations[1], 1);
    ASSERT_NE(steps, nullptr);
    EXPECT_EQ(steps->clusters.size(), 2u);
    EXPECT_EQ(steps->cluster_of_iteration, (std::vector<std::uint32_t>{0, 0, 1, 0, 0, 2}));
    EXPECT_EQ(steps->iteration_ns, (std::vector<std::uint64_t>{210, 210, 860, 210, 210, 307}));
    EXPECT_EQ(p.ranks.at(2).samples_lost, 2u);
}

TEST(Reader, ExclusiveTimesAddUp) {
    const Profile p = read_one(sample_file(4));
    for (const Location& location : p.locations) {
        std::uint64_t wall = 0;
        for (const PhaseData& data : location.phases) {
            std::uint64_t time = 0;
            for_each_cell(data, [&](const tools::Cell& cell) { time += cell.metric == 0 ? cell.value : 0; });
            EXPECT_EQ(time, data.wall_ns);
            wall += data.wall_ns;
        }
        EXPECT_EQ(wall, location.wall_ns);
    }
}

TEST(Reader, SaysWhenSumsDoNotFit) {
    ProfileBuilder b(1);
    b.job(1);
    b.metrics();
    b.rank(RankRecord{});
    b.modules(0, {});
    b.functions(0, {});
    b.tree(0, 0, 11, {{0, NodeKind::OffCpu, 0, 0}});
    BuiltPhase p;
    p.wall_ns = 10;
    p.rest = {{1, Metric::Time, 9}};
    b.phase(0, p);
    const Profile profile = read_one(b.bytes());
    ASSERT_EQ(profile.notes.size(), 2u);
    EXPECT_NE(profile.notes[0].find("add up to 9 ns"), std::string::npos);
    EXPECT_NE(profile.notes[1].find("the wall time is 11 ns"), std::string::npos);
}

TEST(Reader, UnifiesRanksWithDifferentTables) {
    const Profile p = read_one(sample_file(4));
    EXPECT_EQ(p.modules.size(), 2u);
    EXPECT_EQ(p.functions.size(), 2u);
    EXPECT_EQ(p.paths.size(), 6u); // as one rank alone
    // The same call path holds the values of every rank.
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
        const PhaseData* data = find_phase(&p.locations[rank], 0);
        ASSERT_NE(data, nullptr);
        for (const tools::Cell& cell : data->rest)
            if (cell.metric == 0 && p.paths[cell.path].kind == NodeKind::Mpi) {
                EXPECT_EQ(p.functions[p.paths[cell.path].target].name, "MPI_Barrier");
                EXPECT_EQ(cell.value, 300 + rank);
            }
    }
}

TEST(Reader, SameBuildIdIsOneModuleWhateverItsPath) {
    ProfileBuilder b(2);
    b.job(2);
    b.metrics();
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
        RankRecord r;
        r.rank = rank;
        b.rank(r);
        b.modules(rank, {{"ID", rank == 0 ? "/node0/app" : "/node1/app"}, {"", rank == 0 ? "/a" : "/b"}});
        b.functions(rank, {});
        b.tree(rank, 0, 0, {{0, NodeKind::Frame, 0, 1}, {0, NodeKind::Frame, 1, 1}});
    }
    EXPECT_EQ(read_one(b.bytes()).modules.size(), 3u);
    EXPECT_EQ(read_one(b.bytes()).paths.size(), 4u);
}

TEST(Reader, CheckpointsAreReadAndAreNotComplete) {
    ProfileBuilder b(1);
    b.job(1);
    b.metrics();
    RankRecord r;
    r.checkpoint = 1;
    r.threads_running = 3;
    b.rank(r);
    b.modules(0, {});
    b.functions(0, {});
    b.tree(0, 0, 0, {});
    const Profile p = read_one(b.bytes());
    EXPECT_TRUE(p.ranks.at(0).checkpoint);
    EXPECT_EQ(p.ranks.at(0).threads_running, 3u);
    EXPECT_FALSE(p.complete);
}

TEST(Reader, RanksOfEarlierFilesHaveLostNoOperations) {
    for (const bool is_earlier : {true, false}) {
        ProfileBuilder b(1);
        b.job(1);
        b.metrics();
        RankRecord r = sample_rank_record(0);
        r.operations_lost = 7;
        b.block(BlockType::Rank, 0, [&](Encoder& e) {
            unsigned char bytes[4096];
            Encoder all(bytes, sizeof bytes);
            describe(all, r);
            e.raw(bytes, all.size() - (is_earlier ? 1 : 0));
        });
        b.modules(0, {});
        b.functions(0, {});
        b.tree(0, 0, 0, {});
        EXPECT_EQ(read_one(b.bytes()).ranks.at(0).operations_lost, is_earlier ? 0u : 7u);
    }
}

TEST(Reader, RanksThatWroteAloneJoin) {
    ProfileBuilder first(1), second(1);
    first.job(3);
    first.metrics();
    add_sample_rank(first, 0);
    second.job(3);
    second.metrics();
    add_sample_rank(second, 2);
    const std::vector<NamedBytes> files = {{"rank-0.lprof", first.bytes()}, {"rank-2.lprof", second.bytes()}};
    const Profile p = read_profile(files);
    EXPECT_FALSE(p.complete); // rank 1 is missing
    EXPECT_EQ(p.locations.size(), 2u);
    const auto mains = main_threads(p);
    ASSERT_EQ(mains.size(), 3u);
    EXPECT_EQ(mains[1], nullptr);
    EXPECT_NE(mains[2], nullptr);
}

TEST(Reader, FirstFileWinsWhenARankIsThereTwice) {
    const ByteVector all = sample_file(2);
    ProfileBuilder again(1);
    again.job(2);
    again.metrics();
    add_sample_rank(again, 1);
    const std::vector<NamedBytes> files = {{"profile.lprof", all}, {"rank-1.lprof", again.bytes()}};
    const Profile p = read_profile(files);
    EXPECT_EQ(p.locations.size(), 2u);
    ASSERT_EQ(p.notes.size(), 1u);
    EXPECT_NE(p.notes[0].find("rank 1 is in another file too"), std::string::npos);
}

namespace {

/// Where the n-th block of a kind begins.
std::size_t block_at(const ByteVector& bytes, BlockType type, int n) {
    std::size_t at = sizeof(FileHeader);
    for (;;) {
        BlockHeader header{};
        std::memcpy(&header, bytes.data() + at, sizeof header);
        if (header.type == static_cast<std::uint32_t>(type) && n-- == 0) return at;
        at += sizeof header + (header.stored_size + 7) / 8 * 8;
    }
}

} // namespace

TEST(Reader, TruncatedAnywhereKeepsWhatIsGood) {
    const ByteVector whole = sample_file(3);
    const std::size_t data_end = block_at(whole, BlockType::Directory, 2);
    std::set<std::size_t> locations;
    for (std::size_t size = 0; size < whole.size(); ++size) {
        // A copy of exactly this size, so that a sanitizer sees every byte beyond.
        const ByteVector part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
        try {
            const Profile p = read_one(part);
            // The padding behind the last block may be missing; nothing else may without being said.
            EXPECT_TRUE(!p.complete || size + 8 > data_end) << size;
            EXPECT_TRUE(p.complete || !p.notes.empty() || p.ranks.size() < 3) << size;
            locations.insert(p.locations.size());
        } catch (const ReadError& error) {
            EXPECT_STRNE(error.what(), "");
        }
    }
    EXPECT_EQ(locations, (std::set<std::size_t>{1, 2, 3}));
}

TEST(Reader, EveryFlippedByteIsNoticedOrHarmless) {
    const ByteVector whole = sample_file(2);
    for (std::size_t at = 0; at < whole.size(); ++at) {
        ByteVector bytes = whole;
        bytes[at] ^= 0x55;
        try {
            const Profile p = read_one(bytes);
            for (const Location& location : p.locations)
                for (const PhaseData& data : location.phases)
                    for_each_cell(data, [&](const tools::Cell& cell) {
                        EXPECT_LT(cell.path, p.paths.size());
                        EXPECT_LT(cell.metric, p.metrics.size());
                    });
        } catch (const ReadError& error) {
            EXPECT_STRNE(error.what(), "");
        }
    }
}

TEST(Reader, DamagedPayloadLosesItsBlockOnly) {
    ByteVector bytes = sample_file(3);
    bytes[block_at(bytes, BlockType::Phase, 5) + sizeof(BlockHeader)] ^= 1; // "timestep" of rank 2
    const Profile p = read_one(bytes);
    EXPECT_FALSE(p.complete);
    EXPECT_EQ(p.locations.size(), 3u);
    EXPECT_EQ(find_phase(&p.locations[2], 1), nullptr);
    EXPECT_NE(find_phase(&p.locations[1], 1), nullptr);
    ASSERT_FALSE(p.notes.empty());
    EXPECT_NE(p.notes[0].find("a phase block of rank 2"), std::string::npos) << p.notes[0];
    EXPECT_NE(p.notes[0].find("checksum"), std::string::npos) << p.notes[0];
}

TEST(Reader, FindsTheNextBlockBehindADamagedHeader) {
    const ByteVector whole = sample_file(2);
    const std::size_t at = block_at(whole, BlockType::Tree, 1);
    ByteVector bytes = whole;
    bytes[at + 1] ^= 0xff; // magic
    Profile p = read_one(bytes);
    EXPECT_FALSE(p.complete);
    EXPECT_EQ(p.locations.size(), 1u);
    bytes = whole;
    bytes[at + 12] = 0x7f; // size
    p = read_one(bytes);
    EXPECT_FALSE(p.complete);
    EXPECT_EQ(p.locations.size(), 1u);
}

TEST(Reader, RefusesOtherFilesClearly) {
    EXPECT_NE(error_of({}).find("too short"), std::string::npos);
    EXPECT_NE(error_of(ByteVector(100, 'x')).find("not a profile of libprofile"), std::string::npos);
    EXPECT_NE(error_of(ProfileBuilder(1, 99).bytes()).find("version 99"), std::string::npos);
    EXPECT_NE(error_of(ProfileBuilder(1).bytes()), "");
    ProfileBuilder job_only(1);
    job_only.job(1);
    EXPECT_NE(error_of(job_only.bytes()), "");
}

TEST(Reader, NeverAllocatesFromAnUnboundedCount) {
    constexpr std::uint64_t huge = ~std::uint64_t{0};
    const auto only = [](BlockType type, const std::function<void(Encoder&)>& write) {
        ProfileBuilder b(1);
        b.job(1);
        b.metrics();
        b.block(type, 0, write);
        EXPECT_NE(error_of(b.bytes()), "");
    };
    only(BlockType::Modules, [&](Encoder& e) { e.number(huge); });
    only(BlockType::Functions, [&](Encoder& e) { e.number(huge); });
    only(BlockType::Names, [&](Encoder& e) { e.number(huge); });
    only(BlockType::Metrics, [&](Encoder& e) { e.number(huge); });
    only(BlockType::Tree, [&](Encoder& e) {
        TreeRecord t{0, huge};
        describe(e, t);
    });
    only(BlockType::Phase, [&](Encoder& e) {
        PhaseRecord r;
        r.clusters = huge;
        describe(e, r);
    });
    only(BlockType::Phase, [&](Encoder& e) { // a run of 2^64 iterations
        PhaseRecord r;
        r.kind = 2;
        r.instances = huge;
        r.unclustered = huge;
        describe(e, r);
        e.number(1);
        e.number(huge);
        e.number(0);
    });
    only(BlockType::Cells, [&](Encoder& e) {
        CellsRecord r{0, 0, 0, huge};
        describe(e, r);
    });
    only(BlockType::Cells, [&](Encoder& e) {
        CellsRecord r{0, 0, 0, 1};
        describe(e, r);
        e.number(huge);
    });
    only(BlockType::NodeMap, [&](Encoder& e) {
        NodeMapRecord r{0, huge};
        describe(e, r);
    });
    ProfileBuilder job(1);
    job.block(BlockType::Job, no_rank, [&](Encoder& e) {
        JobRecord r;
        r.ranks = huge;
        describe(e, r);
    });
    EXPECT_NE(error_of(job.bytes()), "");
}

TEST(Reader, RefusesReferencesThatLeadNowhere) {
    const auto with_phase = [](const BuiltCell& cell) {
        ProfileBuilder b(1);
        b.job(1);
        b.metrics();
        b.rank(RankRecord{});
        b.modules(0, {});
        b.functions(0, {});
        b.tree(0, 0, 5, {{0, NodeKind::OffCpu, 0, 0}});
        BuiltPhase p;
        p.wall_ns = 5;
        p.rest = {cell};
        b.phase(0, p);
        return read_one(b.bytes());
    };
    EXPECT_TRUE(with_phase({1, Metric::Time, 5}).notes.empty());
    EXPECT_FALSE(with_phase({2, Metric::Time, 5}).notes.empty());
    EXPECT_FALSE(with_phase({1, static_cast<Metric>(200), 5}).notes.empty());
    ProfileBuilder b(1);
    b.job(1);
    b.metrics();
    b.rank(RankRecord{});
    b.modules(0, {});
    b.functions(0, {});
    b.tree(0, 0, 5, {{0, NodeKind::Frame, 3, 0}});
    EXPECT_NE(error_of(b.bytes()).find("do not fit together"), std::string::npos);
}

namespace {

/// Two ranks whose locations use the job's tables by the map of `map_rank`; rank 0 alone has one, from its nodes to `map`.
ByteVector with_job_tables(const std::vector<std::uint64_t>& map, std::uint64_t map_rank) {
    ProfileBuilder b(2);
    b.job(2);
    b.metrics();
    b.modules(no_rank, {{"BUILD-APP", "/home/user/app"}});
    b.functions(no_rank, {{5, "MPI_Barrier", TimeCategory::MpiSyncColl}});
    b.tree(no_rank, 0, {{0, NodeKind::Frame, 0, 0x1000}, {0, NodeKind::OffCpu, 0, 0}, {1, NodeKind::Mpi, 5, 0}});
    b.node_map(0, 0, map);
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
        RankRecord r;
        r.rank = rank;
        r.threads = 1;
        r.complete = 1;
        b.rank(r);
        b.location(rank, {0, 5, 1, static_cast<std::uint64_t>(PathsIn::NodeMap), map_rank, 0});
        BuiltPhase p;
        p.wall_ns = 5;
        p.rest = {{2, Metric::Time, 5}};
        b.phase(rank, p);
    }
    return b.bytes();
}

} // namespace

TEST(Reader, LocationsWithEqualTablesShareAMapIntoTheJobsTree) {
    const Profile p = read_one(with_job_tables({2, 3, 1}, 0));
    EXPECT_TRUE(p.complete);
    EXPECT_TRUE(p.notes.empty()) << p.notes.front();
    ASSERT_EQ(p.locations.size(), 2u);
    EXPECT_EQ(p.paths.size(), 4u);
    for (const Location& location : p.locations) {
        const CallPath& path = p.paths[location.phases.at(0).rest.at(0).path];
        EXPECT_EQ(path.kind, NodeKind::Mpi);
        EXPECT_EQ(p.functions[path.target].name, "MPI_Barrier");
    }
}

TEST(Reader, MapsThatLeadNowhereLoseTheirLocationsOnly) {
    EXPECT_NE(error_of(with_job_tables({2, 4}, 0)).find("do not fit together"), std::string::npos);  // no such node
    EXPECT_NE(error_of(with_job_tables({2, 3}, 1)).find("do not fit together"), std::string::npos);  // rank 1 has no map
    EXPECT_NE(error_of(with_job_tables({2, 3}, 77)).find("do not fit together"), std::string::npos); // no such rank
    EXPECT_FALSE(read_one(with_job_tables({2}, 0)).notes.empty());                                   // a cell of a node that is in no map
}

TEST(Reader, KeepsMetricsTheCatalogueDoesNotKnow) {
    ProfileBuilder b(1);
    b.job(1);
    b.block(BlockType::Metrics, no_rank, [](Encoder& e) { // another order than ours, and a counter
        e.number(3);
        for (const char* text : {"PAPI_TOT_INS", "count", "visits", "count", "time", "ns"}) e.text(text);
    });
    b.rank(RankRecord{});
    b.modules(0, {});
    b.functions(0, {});
    b.tree(0, 0, 5, {{0, NodeKind::OffCpu, 0, 0}});
    BuiltPhase p;
    p.wall_ns = 5;
    p.rest = {{1, static_cast<Metric>(0), 1234}, {1, static_cast<Metric>(2), 5}};
    b.phase(0, p);
    const Profile profile = read_one(b.bytes());
    const MetricValues values = totals(profile, profile.locations[0]);
    ASSERT_EQ(values.size(), catalogue_size + 1);
    EXPECT_EQ(values.back(), 1234u);
    EXPECT_EQ(metric_rows(profile).back().name, "PAPI_TOT_INS");
    EXPECT_EQ(values[static_cast<std::size_t>(CatalogueId::OffCpu)], 5u);
}

TEST(Reader, FoldersWithoutAProfile) {
    namespace fs = std::filesystem;
    const fs::path folder = fs::temp_directory_path() / ("lprof-test-" + std::to_string(::getpid()));
    fs::create_directory(folder);
    const auto message = [](const fs::path& place) -> std::string {
        try {
            read_profile(place);
        } catch (const ReadError& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_NE(message(folder / "none").find("does not exist"), std::string::npos);
    EXPECT_NE(message(folder).find("there is no profile in"), std::string::npos);
    const auto write = [&](const char* name, const ByteVector& bytes) {
        std::ofstream(folder / name, std::ios::binary).write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    };
    write("profile.lprof", {});
    EXPECT_NE(message(folder).find("profile.lprof is too short"), std::string::npos) << message(folder);
    write("profile.lprof", sample_file(1));
    EXPECT_EQ(message(folder), "");
    fs::rename(folder / "profile.lprof", folder / "profile.lprof.partial");
    EXPECT_EQ(message(folder), "");
    EXPECT_FALSE(read_profile(folder).complete);
    fs::remove_all(folder);
}
