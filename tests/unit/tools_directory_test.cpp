// Reading parts of a file by its directories, and files that lie about their sizes and places.
#include "tests/unit/tools_read_one.hpp"
#include "tools/reader/directory.hpp"
#include "tools/reader/reader.hpp"

#include <gtest/gtest.h>
#include <zstd.h>

using namespace libprofile;
using namespace libprofile::test;
using namespace libprofile::tools;

namespace {

/// Counts what is read.
class CountingSource : public MemorySource {
  public:
    using MemorySource::MemorySource;
    std::vector<unsigned char> read(std::uint64_t at, std::uint64_t count) const override {
        std::vector<unsigned char> bytes = MemorySource::read(at, count);
        bytes_read += bytes.size();
        return bytes;
    }
    mutable std::uint64_t bytes_read = 0;
};

Profile read_part(const ByteVector& bytes, const Selection& selection) { return read_profile(MemorySource(bytes), "profile.lprof", selection); }

using Values = std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t>; // by kind and address, and metric

Values values(const Profile& profile, std::uint32_t rank, const std::string& phase) {
    Values sums;
    for (const Location& location : profile.locations)
        for (const PhaseData& data : location.phases)
            if (location.rank == rank && profile.phases[data.phase].name == phase)
                for_each_cell(data, [&](const libprofile::tools::Cell& cell) {
                    const CallPath& path = profile.paths[cell.path];
                    sums[{static_cast<std::uint32_t>(path.kind) * 1000 + path.target, cell.metric}] += cell.value;
                });
    return sums;
}

ByteVector zeros_compressed(std::size_t size) {
    const ByteVector zeros(size);
    ByteVector compressed(ZSTD_compressBound(size));
    compressed.resize(ZSTD_compress(compressed.data(), compressed.size(), zeros.data(), zeros.size(), 1));
    return compressed;
}

} // namespace

TEST(Directory, OneMetricOfOneRankReadsASmallPart) {
    const ByteVector bytes = sample_file(64, true);
    const CountingSource source(bytes);
    const Profile part = read_profile(source, "profile.lprof", {{37}, {"timestep"}, {"time"}});
    EXPECT_LT(source.bytes_read * 10, bytes.size()) << source.bytes_read << " of " << bytes.size();
    ASSERT_EQ(part.locations.size(), 1u);
    EXPECT_TRUE(part.notes.empty()) << part.notes.front();
    EXPECT_TRUE(part.complete);
    EXPECT_EQ(part.locations[0].rank, 37u);
    ASSERT_EQ(part.locations[0].phases.size(), 1u);
    std::uint64_t time = 0;
    for_each_cell(part.locations[0].phases[0], [&](const libprofile::tools::Cell& cell) {
        EXPECT_EQ(cell.metric, 0u);
        time += cell.value;
    });
    EXPECT_EQ(time, 2000u + 7 * 37);
}

TEST(Directory, PartsAreWhatTheWholeHas) {
    const ByteVector bytes = sample_file(3, true);
    const Profile whole = read_one(bytes);
    for (std::uint32_t rank = 0; rank < 3; ++rank)
        for (const char* phase : {"", "timestep"}) {
            const Profile part = read_part(bytes, {{rank}, {phase}, {}, true, true});
            EXPECT_TRUE(part.notes.empty()) << part.notes.front();
            EXPECT_FALSE(values(part, rank, phase).empty());
            EXPECT_EQ(values(part, rank, phase).size(), values(whole, rank, phase).size());
            const PhaseData& data = part.locations.at(0).phases.at(0);
            EXPECT_EQ(data.series.has_value(), *phase != 0);
            EXPECT_EQ(part.locations[0].trace.samples.size(), 4u);
        }
    const Profile all = read_part(bytes, {{}, {}, {}, true, true});
    for (std::uint32_t rank = 0; rank < 3; ++rank) EXPECT_EQ(values(all, rank, "timestep"), values(whole, rank, "timestep"));
}

TEST(Directory, FilesWithoutOneAreReadFromTheBeginning) {
    ByteVector bytes = sample_file(3);
    const Selection selection{{1}, {"timestep"}, {"time"}};
    const Values expected = values(read_part(bytes, selection), 1, "timestep");
    bytes.resize(bytes.size() - 64); // the footer
    EXPECT_FALSE(Directory::open(MemorySource(bytes)).has_value());
    const Profile part = read_part(bytes, selection);
    EXPECT_EQ(part.locations.size(), 1u);
    EXPECT_EQ(values(part, 1, "timestep"), expected);
}

TEST(Directory, EveryFlippedByteIsNoticedOrHarmless) {
    const ByteVector whole = sample_file(2, true);
    const Selection selection{{1}, {"timestep"}, {"time"}};
    const Values expected = values(read_part(whole, selection), 1, "timestep");
    std::size_t same = 0;
    for (std::size_t at = 0; at < whole.size(); ++at) {
        ByteVector bytes = whole;
        bytes[at] ^= 0x55;
        try {
            const Profile part = read_part(bytes, selection);
            same += values(part, 1, "timestep") == expected ? 1 : 0;
            if (part.notes.empty()) {
                EXPECT_EQ(values(part, 1, "timestep"), expected) << at;
            }
        } catch (const ReadError& error) {
            EXPECT_STRNE(error.what(), "");
        }
    }
    EXPECT_GT(same, whole.size() / 3);
}

TEST(Directory, OnesThatPointAnywhereAreRefused) {
    const auto with = [](std::uint64_t distance, std::uint64_t size, int times) {
        ProfileBuilder b(1);
        b.job(1);
        b.metrics();
        add_sample_rank(b, 0);
        const std::uint64_t at = b.bytes().size();
        b.block(BlockType::Directory, 0, [&](Encoder& e) {
            e.number(static_cast<std::uint64_t>(times));
            for (int i = 0; i < times; ++i) {
                DirectoryEntryRecord r{static_cast<std::uint64_t>(BlockType::Rank), 0, 0, 0, 0, distance, size};
                describe(e, r);
            }
        });
        b.place(at, b.bytes().size() - at, 0);
        b.end();
        const Profile p = read_part(b.bytes(), {{0}, {}, {}});
        EXPECT_EQ(p.locations.size(), 1u); // found by reading all
        EXPECT_TRUE(p.notes.empty());
    };
    with(8, 100, 1);
    with(0, 16, 1);
    with(16, 16, 3); // overlapping
    with(~std::uint64_t{0}, 16, 1);
    with(64, ~std::uint64_t{0}, 1);
}

TEST(Directory, MapsOfOtherRanksAreFound) {
    ProfileBuilder b(2);
    b.job(2);
    b.metrics();
    b.modules(no_rank, {{"BUILD-APP", "/home/user/app"}});
    b.functions(no_rank, {});
    b.tree(no_rank, 0, {{0, NodeKind::Frame, 0, 0x1000}, {0, NodeKind::OffCpu, 0, 0}});
    b.node_map(0, 0, {2, 1});
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
        RankRecord r;
        r.rank = rank;
        r.threads = 1;
        r.complete = 1;
        b.rank(r);
        b.location(rank, {0, 5, 1, static_cast<std::uint64_t>(PathsIn::NodeMap), 0, 0});
        BuiltPhase p;
        p.wall_ns = 5;
        p.rest = {{1, Metric::Time, 5}};
        b.phase(rank, p);
        b.directory(rank);
    }
    b.end();
    const Profile part = read_part(b.bytes(), {{1}, {}, {}});
    EXPECT_TRUE(part.notes.empty()) << part.notes.front();
    ASSERT_EQ(part.locations.size(), 1u);
    EXPECT_EQ(part.locations[0].rank, 1u);
    EXPECT_EQ(part.ranks.size(), 1u);
    EXPECT_EQ(part.paths[part.locations[0].phases.at(0).rest.at(0).path].kind, NodeKind::OffCpu);
}

TEST(Compression, BombsAreRefusedBeforeTheyTakeMemory) {
    const ByteVector frame = zeros_compressed(64u << 20); // some 2 KB
    ASSERT_LT(frame.size(), 16384u);
    const auto with = [&](std::uint64_t raw_size, int times) {
        ProfileBuilder b(1);
        b.job(1);
        b.metrics();
        add_sample_rank(b, 0);
        for (int i = 0; i < times; ++i) b.stored_block({BlockType::NodeMap, 0}, frame, raw_size);
        return read_one(b.bytes());
    };
    EXPECT_FALSE(with(std::uint64_t{1} << 30, 1).notes.empty());
    EXPECT_FALSE(with(64u << 20, 1).notes.empty());         // what it holds, but more than is believed
    EXPECT_FALSE(with(frame.size() * 64, 1).notes.empty()); // believed, but it holds more
    EXPECT_FALSE(with(~std::uint64_t{0}, 1).notes.empty());
    EXPECT_EQ(with(std::uint64_t{1} << 30, 1).locations.size(), 1u);
}

TEST(Compression, PayloadsAreTheSameAsUncompressedOnes) {
    ProfileBuilder b(1);
    b.job(1);
    b.metrics();
    b.rank(RankRecord{});
    b.functions(0, {});
    b.tree(0, 0, 0, {{0, NodeKind::Frame, 99, 1}});
    ByteVector payload(10'000);
    Encoder e(payload.data(), payload.size());
    e.number(100);
    for (int i = 0; i < 100; ++i) {
        const std::string path = "/usr/lib/lib" + std::to_string(i) + ".so";
        ModuleRecord r{"", Text(path.data(), path.size())};
        describe(e, r);
    }
    payload.resize(e.size());
    ByteVector frame(ZSTD_compressBound(payload.size()));
    frame.resize(ZSTD_compress(frame.data(), frame.size(), payload.data(), payload.size(), 1));
    ASSERT_LT(frame.size(), payload.size());
    b.stored_block({BlockType::Modules, 0}, frame, payload.size());
    const Profile p = read_one(b.bytes());
    EXPECT_EQ(p.modules.size(), 100u);
    EXPECT_EQ(p.modules.at(99).path, "/usr/lib/lib99.so");
}
