// What a run takes from the file of an earlier one. No file can harm it.

#include "libprofile/clustering/earlier_run.hpp"

#include "format/averages.hpp"
#include "format/profile_file.hpp"

#include <cstdio>
#include <cstdlib>
#include <gtest/gtest.h>
#include <random>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace libprofile {

namespace {

using Bytes = std::vector<unsigned char>;

AveragesRecord averages(const char* phase, std::uint64_t iterations, std::uint64_t first) {
    AveragesRecord record;
    record.phase = phase;
    record.catalogue = catalogue_fingerprint();
    record.iterations = iterations;
    for (std::size_t i = 0; i < catalogue_size; ++i) record.sums[i] = first + i;
    return record;
}

void add_block(Bytes& file, BlockType type, std::uint32_t rank, const Bytes& payload) {
    BlockHeader header{};
    header.magic = block_magic;
    header.type = static_cast<std::uint32_t>(type);
    header.stored_size = header.raw_size = payload.size();
    header.crc = crc32(payload.data(), payload.size());
    header.rank = rank;
    const auto* bytes = reinterpret_cast<const unsigned char*>(&header);
    file.insert(file.end(), bytes, bytes + sizeof header);
    file.insert(file.end(), payload.begin(), payload.end());
    file.resize((file.size() + 7) & ~std::size_t{7});
}

void add_block(Bytes& file, std::uint32_t rank, AveragesRecord record) {
    Bytes payload(4096);
    Encoder encoder(payload.data(), payload.size());
    describe(encoder, record);
    payload.resize(encoder.size());
    add_block(file, BlockType::Averages, rank, payload);
}

Bytes start_of_file(std::uint32_t version = format_version) {
    FileHeader header{};
    std::memcpy(header.magic, file_magic, sizeof header.magic);
    header.version = version;
    const auto* bytes = reinterpret_cast<const unsigned char*>(&header);
    return {bytes, bytes + sizeof header};
}

Bytes two_ranks() {
    Bytes file = start_of_file();
    add_block(file, BlockType::Tree, 0, Bytes(100000, 7));
    add_block(file, 0, averages("step", 100, 1000));
    add_block(file, 0, averages("solve", 7, 70));
    add_block(file, 3, averages("step", 50, 2000));
    add_block(file, 3, averages("step", 1, 1)); // another thread's
    return file;
}

/// A finished file of `ranks` ranks: sections that end with a directory, the table, the footer. Each rank has 50 blocks.
Bytes finished(std::uint32_t ranks) {
    Bytes file = start_of_file();
    std::vector<RankEntry> entries;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        for (int i = 0; i < 49; ++i) add_block(file, BlockType::Tree, rank, Bytes(40, 7));
        add_block(file, rank, averages("step", 100 + rank, 1000));
        RankEntry entry{file.size(), sizeof(BlockHeader) + 5, rank, 0};
        entry.crc = crc32(reinterpret_cast<const unsigned char*>(&entry), offsetof(RankEntry, crc));
        entries.push_back(entry);
        add_block(file, BlockType::Directory, rank, Bytes(5, 0));
    }
    FooterRecord footer{0, file.size(), ranks, {}};
    std::memcpy(footer.magic, end_magic, sizeof footer.magic);
    const auto* table = reinterpret_cast<const unsigned char*>(entries.data());
    add_block(file, BlockType::RankTable, 0, Bytes(table, table + entries.size() * sizeof(RankEntry)));
    footer.file_size = file.size() + sizeof(BlockHeader) + sizeof footer;
    const auto* bytes = reinterpret_cast<const unsigned char*>(&footer);
    add_block(file, BlockType::Footer, 0, Bytes(bytes, bytes + sizeof footer));
    return file;
}

class EarlierRunTest : public testing::Test {
  protected:
    void SetUp() override { ASSERT_NE(mkdtemp(folder_), nullptr); }
    void TearDown() override {
        std::remove(path().c_str());
        rmdir(folder_);
    }
    std::string path() const { return std::string(folder_) + "/profile.lprof"; }
    void write(const Bytes& bytes) const {
        FILE* file = std::fopen(path().c_str(), "wb");
        ASSERT_NE(file, nullptr);
        const std::size_t written = bytes.empty() ? 0 : std::fwrite(bytes.data(), 1, bytes.size(), file);
        ASSERT_EQ(written, bytes.size());
        std::fclose(file);
    }
    /// The complaint about such a file.
    std::string complaint(const Bytes& bytes) const {
        write(bytes);
        EarlierRun run;
        run.choose(folder_);
        EXPECT_EQ(run.find("no such phase", 0), nullptr);
        const char* text = run.take_complaint();
        EXPECT_EQ(run.take_complaint(), nullptr) << "once";
        return text == nullptr ? "" : text;
    }
    char folder_[40] = "/tmp/earlier_run_test.XXXXXX";
};

} // namespace

TEST_F(EarlierRunTest, OwnRankComesBeforeRank0) {
    write(two_ranks());
    EarlierRun run;
    run.choose(folder_);
    const EarlierIterations* step = run.find("step", 3);
    ASSERT_NE(step, nullptr);
    EXPECT_EQ(step->iterations, 50u);
    EXPECT_EQ(step->sums.values[2], 2002u);
    const EarlierIterations* solve = run.find("solve", 3);
    ASSERT_NE(solve, nullptr);
    EXPECT_EQ(solve->iterations, 7u);
    EXPECT_EQ(run.find("other", 3), nullptr);
    EXPECT_EQ(run.take_complaint(), nullptr);
}

TEST_F(EarlierRunTest, AFileMayBeNamedInsteadOfItsFolder) {
    write(two_ranks());
    const std::string name = path();
    EarlierRun run;
    run.choose(name.c_str());
    ASSERT_NE(run.find("step", 77), nullptr);
    EXPECT_EQ(run.find("step", 77)->iterations, 100u);
}

TEST_F(EarlierRunTest, WithoutAReferenceNothingIsLookedFor) {
    EarlierRun run;
    EXPECT_EQ(run.find("step", 0), nullptr);
    EXPECT_EQ(run.take_complaint(), nullptr);
}

TEST_F(EarlierRunTest, WhatCannotBeUsedIsSaid) {
    EarlierRun missing;
    missing.choose("/no/such/folder");
    EXPECT_EQ(missing.find("step", 0), nullptr);
    EXPECT_STREQ(missing.take_complaint(), "No such file or directory");
    EXPECT_EQ(complaint({}), "it is not a profile");
    EXPECT_EQ(complaint(Bytes(5000, 0)), "it is not a profile");
    EXPECT_EQ(complaint(start_of_file(format_version + 1)), "it was written by another version of libprofile");
    EXPECT_EQ(complaint(start_of_file()), "it holds no averages");
    EXPECT_EQ(complaint(two_ranks()), "");
}

TEST_F(EarlierRunTest, AFinishedFileOfManyRanksIsNotGoneThrough) {
    Bytes file = finished(3000); // 150,000 blocks are more than a run visits
    // Nothing is read before the section of the last rank and after that of the first, except the table.
    const std::size_t section = 50 * (sizeof(BlockHeader) + 40);
    std::fill(file.begin() + 2 * static_cast<std::ptrdiff_t>(section), file.begin() + 2900 * static_cast<std::ptrdiff_t>(section), 0xff);
    write(file);
    EarlierRun run;
    run.choose(folder_);
    ASSERT_NE(run.find("step", 2999), nullptr);
    EXPECT_EQ(run.find("step", 2999)->iterations, 3099u);
    EarlierRun other;
    other.choose(folder_);
    ASSERT_NE(other.find("step", 3000), nullptr) << "that of rank 0";
    EXPECT_EQ(other.find("step", 3000)->iterations, 100u);
    EarlierRun first;
    first.choose(folder_);
    ASSERT_NE(first.find("step", 0), nullptr);
    EXPECT_EQ(first.find("step", 0)->iterations, 100u);
    EXPECT_EQ(first.take_complaint(), nullptr);
}

TEST_F(EarlierRunTest, PipesAndDevicesAreNotWaitedFor) {
    ASSERT_EQ(mkfifo(path().c_str(), 0600), 0);
    for (const std::string& name : {path(), std::string("/dev/zero")}) {
        EarlierRun run;
        run.choose(name.c_str());
        EXPECT_EQ(run.find("step", 0), nullptr);
        EXPECT_NE(run.take_complaint(), nullptr);
    }
}

TEST_F(EarlierRunTest, DamagedFilesAreNoHarm) {
    const Bytes whole[] = {two_ranks(), finished(4)};
    std::mt19937_64 random(5);
    for (int i = 0; i < 6000; ++i) {
        Bytes bad = whole[i / 3 % 2];
        if (i % 3 == 0) bad.resize(random() % bad.size());
        for (int n = 0; n < 1 + i % 4 && !bad.empty(); ++n) {
            // Mostly after the large block, where the averages are.
            const std::size_t at = random() % 4 != 0 && bad.size() > 100064 ? 100064 + random() % (bad.size() - 100064) : random() % bad.size();
            bad[at] = static_cast<unsigned char>(random() % 3 == 0 ? 0xff : random());
        }
        write(bad);
        EarlierRun run;
        run.choose(folder_);
        const EarlierIterations* found = run.find("step", 3);
        EXPECT_TRUE(found == nullptr || found->iterations != 0);
    }
}

TEST_F(EarlierRunTest, RecordsThatClaimMoreThanTheyHoldAreLeftOut) {
    for (int kind = 0; kind < 4; ++kind) {
        AveragesRecord record = averages("step", 1, 1);
        if (kind == 0) record.rows = std::uint64_t{1} << 60;
        if (kind == 1) record.iterations = 0;
        if (kind == 2) record.catalogue ^= 1;
        const std::string long_name(300, 'x');
        if (kind == 3) record.phase = long_name.c_str();
        Bytes file = start_of_file();
        add_block(file, 0, record);
        EXPECT_EQ(complaint(file), "it holds no averages") << kind;
    }
}

} // namespace libprofile
