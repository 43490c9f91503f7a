// Blocks as a job writes them: compressed without the application's malloc, without floating point, on a small stack.
#include "libprofile/output/block_writer.hpp"
#include "libprofile/output/file_end.hpp"

#include <cfenv>
#include <gtest/gtest.h>
#include <malloc.h>
#include <pthread.h>
#include <random>
#include <vector>
#include <zstd.h>

namespace libprofile {

namespace {

using Bytes = std::vector<unsigned char>;

/// Numbers like those in cells: small ones often, large ones rarely.
Bytes numbers(std::size_t size, unsigned seed) {
    std::mt19937 random(seed);
    Bytes bytes(size);
    for (unsigned char& byte : bytes) byte = static_cast<unsigned char>(random() % 8 == 0 ? random() : random() % 4);
    return bytes;
}

Bytes noise(std::size_t size) {
    std::mt19937 random(1);
    Bytes bytes(size);
    for (unsigned char& byte : bytes) byte = static_cast<unsigned char>(random());
    return bytes;
}

/// The decompressed output of compress().
Bytes there_and_back(Compressor& compressor, Bytes bytes) {
    const std::size_t size = bytes.size();
    const std::size_t stored = compressor.compress(bytes.data(), size);
    if (stored == 0) return bytes;
    EXPECT_LT(stored, size);
    Bytes result(size);
    EXPECT_EQ(ZSTD_decompress(result.data(), size, bytes.data(), stored), size);
    return result;
}

BlockHeader header_at(const BlockBuffer& buffer, std::size_t at) {
    BlockHeader header{};
    std::memcpy(&header, buffer.data() + at, sizeof header);
    return header;
}

} // namespace

TEST(Compressor, WhatComesOutIsWhatWentIn) {
    Compressor compressor;
    for (const std::size_t size : {1u, 63u, 64u, 65u, 1000u, 70'000u, 200'000u, 3'000'000u, 100u})
        for (unsigned seed = 0; seed < 3; ++seed) {
            const Bytes bytes = numbers(size, seed);
            EXPECT_EQ(there_and_back(compressor, bytes), bytes) << size;
        }
    EXPECT_EQ(there_and_back(compressor, noise(100'000)), noise(100'000));
}

TEST(Compressor, FramesOfPartsAreReadOneByOneAndTogether) {
    Compressor compressor;
    const Bytes bytes = numbers(200'000, 3);
    Bytes stored = bytes;
    stored.resize(compressor.compress(stored.data(), stored.size(), events_frame_size));
    ASSERT_FALSE(stored.empty());
    Bytes whole(bytes.size()), parts;
    EXPECT_EQ(ZSTD_decompress(whole.data(), whole.size(), stored.data(), stored.size()), whole.size());
    EXPECT_EQ(whole, bytes);
    for (std::size_t at = 0; at < stored.size();) {
        const std::size_t size = ZSTD_findFrameCompressedSize(stored.data() + at, stored.size() - at);
        ASSERT_FALSE(ZSTD_isError(size));
        Bytes part(events_frame_size);
        part.resize(ZSTD_decompress(part.data(), part.size(), stored.data() + at, size));
        EXPECT_EQ(part.size(), std::min(events_frame_size, bytes.size() - parts.size()));
        parts.insert(parts.end(), part.begin(), part.end());
        at += size;
    }
    EXPECT_EQ(parts, bytes);
}

TEST(Compressor, NothingIsCompressedThatReadersWouldNotBelieve) {
    Compressor compressor;
    Bytes zeros(1u << 20);
    EXPECT_EQ(compressor.compress(zeros.data(), zeros.size()), 0u);
    EXPECT_EQ(zeros, Bytes(1u << 20));
    Bytes fewer(most_raw_always);
    EXPECT_NE(compressor.compress(fewer.data(), fewer.size()), 0u);
}

TEST(Compressor, NeverAllocatesAndRaisesNoFloatingPointTrap) {
    const Bytes bytes = numbers(500'000, 7);
    Bytes copy = bytes;
    const auto before = mallinfo2().uordblks;
    std::feclearexcept(FE_ALL_EXCEPT);
    feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW | FE_UNDERFLOW | FE_INEXACT);
    std::size_t stored = 0;
    {
        Compressor compressor;
        stored = compressor.compress(copy.data(), copy.size());
    }
    fedisableexcept(FE_ALL_EXCEPT);
    EXPECT_NE(stored, 0u);
    EXPECT_EQ(mallinfo2().uordblks, before);
}

TEST(Compressor, TakesLittleStack) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "sanitizers take stack of their own";
#endif
    constexpr std::size_t size = 256 << 10;
    alignas(4096) static unsigned char stack[size];
    std::memset(stack, 0xa5, size);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, stack, size);
    static Bytes bytes = numbers(300'000, 3);
    pthread_t thread;
    ASSERT_EQ(pthread_create(
                  &thread, &attributes,
                  [](void*) -> void* {
                      Compressor compressor;
                      compressor.compress(bytes.data(), bytes.size());
                      return nullptr;
                  },
                  nullptr),
              0);
    pthread_join(thread, nullptr);
    std::size_t untouched = 0;
    while (untouched < size && stack[untouched] == 0xa5) ++untouched;
    // Includes what a thread itself takes (its descriptor, thread-local storage).
    EXPECT_LT(size - untouched, std::size_t{32} << 10);
    pthread_attr_destroy(&attributes);
}

TEST(BlockBuffer, BlocksAreAlignedCheckedAndListed) {
    BlockBuffer buffer;
    const FileHeader file{};
    ASSERT_TRUE(buffer.append(&file, sizeof file));
    const Bytes small = numbers(13, 1), great = numbers(5000, 2);
    const auto put = [](const Bytes& bytes) { return [&bytes](Encoder& encoder) { encoder.raw(bytes.data(), bytes.size()); }; };
    ASSERT_TRUE(write_block(buffer, {BlockType::Job}, put(small)));
    const std::size_t second = buffer.size();
    ASSERT_TRUE(write_block(buffer, {BlockType::Cells, 7, 1, 2, 3}, put(great)));
    const std::size_t third = buffer.size();
    ASSERT_TRUE(write_block(buffer, {BlockType::Phase, 7, 0, 1, 0, true}, put(great)));
    RankEntry rank_entry{};
    ASSERT_TRUE(write_directory(buffer, 7, rank_entry));
    const std::size_t end = buffer.size();
    ASSERT_TRUE(append_file_end(buffer, rank_entry));
    EXPECT_EQ(buffer.size(), end + file_end_size(1));

    std::vector<BlockHeader> headers;
    for (std::size_t at = sizeof file; at < buffer.size();) {
        const BlockHeader header = header_at(buffer, at);
        EXPECT_EQ(at % 8, 0u);
        ASSERT_EQ(header.magic, block_magic);
        const unsigned char* stored = buffer.data() + at + sizeof header;
        if (header.type != static_cast<std::uint32_t>(BlockType::RankTable)) {
            EXPECT_EQ(header.crc, crc32(stored, header.stored_size));
        }
        at += sizeof header + header.stored_size;
        for (; at % 8 != 0; ++at) EXPECT_EQ(buffer.data()[at], 0);
        headers.push_back(header);
    }
    ASSERT_EQ(headers.size(), 6u);
    EXPECT_EQ(headers[0].stored_size, small.size());
    EXPECT_LT(headers[1].stored_size, great.size());
    EXPECT_EQ(headers[1].raw_size, great.size());
    EXPECT_EQ(headers[2].stored_size, great.size()); // plain

    FooterRecord footer{};
    std::memcpy(&footer, buffer.data() + buffer.size() - sizeof footer, sizeof footer);
    EXPECT_EQ(footer.file_size, buffer.size());
    EXPECT_EQ(footer.table_at, end);
    std::memcpy(&rank_entry, buffer.data() + end + sizeof(BlockHeader), sizeof rank_entry);
    EXPECT_EQ(rank_entry.crc, crc32(&rank_entry, offsetof(RankEntry, crc)));
    const BlockHeader directory = header_at(buffer, rank_entry.directory_at);
    EXPECT_EQ(directory.type, static_cast<std::uint32_t>(BlockType::Directory));
    EXPECT_EQ(rank_entry.directory_size, sizeof directory + directory.stored_size);
    ASSERT_EQ(directory.raw_size, directory.stored_size); // small
    Decoder d(buffer.data() + rank_entry.directory_at + sizeof directory, directory.stored_size);
    std::uint64_t count = 0;
    d.number(count);
    ASSERT_EQ(count, 3u);
    const std::size_t entries[] = {sizeof file, second, third};
    for (const std::size_t at : entries) {
        DirectoryEntryRecord entry;
        describe(d, entry);
        EXPECT_EQ(rank_entry.directory_at - entry.distance, at);
        EXPECT_EQ(entry.type, header_at(buffer, at).type);
        EXPECT_EQ(entry.stored_size, header_at(buffer, at).stored_size);
        EXPECT_EQ(entry.of_job, at == sizeof file ? 1u : 0u);
        EXPECT_EQ(entry.metric, at == second ? 3u : 0u);
    }
    EXPECT_EQ(d.remaining(), 0u);
}

} // namespace libprofile
