#include "format/codec.hpp"
#include "format/profile_file.hpp"

#include <gtest/gtest.h>
#include <limits>
#include <random>
#include <string_view>
#include <vector>

namespace libprofile {

namespace {
const std::uint64_t interesting[] = {
    0, 1, 127, 128, 16383, 16384, 1u << 31, std::numeric_limits<std::uint64_t>::max() - 1, std::numeric_limits<std::uint64_t>::max()};
}

TEST(Codec, NumbersReadBackAsWritten) {
    unsigned char buffer[256];
    Encoder encoder(buffer, sizeof buffer);
    for (const std::uint64_t value : interesting) encoder.number(value);
    ASSERT_FALSE(encoder.overflow());
    Decoder decoder(buffer, encoder.size());
    for (const std::uint64_t value : interesting) {
        std::uint64_t read = 99;
        decoder.number(read);
        EXPECT_EQ(read, value);
    }
    EXPECT_FALSE(decoder.failed());
    EXPECT_EQ(decoder.remaining(), 0u);
}

/// Eight bytes are decoded at a time where so many are left: the answer may not depend on that, nor on what stands behind.
TEST(Codec, NumbersAreThoseReadByteByByteWhateverFollows) {
    std::mt19937_64 random(3);
    for (int round = 0; round < 100'000; ++round) {
        unsigned char bytes[24];
        const std::size_t size = 1 + random() % sizeof bytes;
        const std::uint64_t more = random() & random(); // bytes that go on
        for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<unsigned char>((random() & 0x7f) | ((more >> i & 1) != 0 || round % 3 == 0 ? 0x80 : 0));
        if (round % 3 == 0) bytes[random() % size] &= 0x7f;
        std::uint64_t expected = 0;
        std::size_t end = 0;
        bool is_number = false;
        for (unsigned shift = 0; shift < 64 && end < size && !is_number; shift += 7) {
            const std::uint64_t part = bytes[end] & 0x7fu;
            if (shift == 63 && part > 1) break;
            expected |= part << shift;
            is_number = bytes[end++] < 0x80;
        }
        Decoder decoder(bytes, size);
        std::uint64_t value = 99;
        decoder.number(value);
        ASSERT_EQ(decoder.failed(), !is_number);
        ASSERT_EQ(value, is_number ? expected : 0);
        ASSERT_EQ(decoder.remaining(), is_number ? size - end : 0);
    }
}

TEST(Codec, SignedNumbersReadBackAsWritten) {
    unsigned char buffer[128];
    Encoder encoder(buffer, sizeof buffer);
    const std::int64_t values[] = {0, -1, 1, -64, 64, std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()};
    for (const std::int64_t value : values) encoder.signed_number(value);
    Decoder decoder(buffer, encoder.size());
    for (const std::int64_t value : values) {
        std::int64_t read = 99;
        decoder.signed_number(read);
        EXPECT_EQ(read, value);
    }
}

TEST(Codec, EncoderMeasuresWithoutABuffer) {
    Encoder measure(nullptr, 0);
    measure.text("libprofile");
    measure.number(300);
    unsigned char buffer[64];
    Encoder encoder(buffer, sizeof buffer);
    encoder.text("libprofile");
    encoder.number(300);
    EXPECT_EQ(measure.size(), encoder.size());
    EXPECT_TRUE(measure.overflow());
}

TEST(Codec, EncoderNeverWritesPastItsBuffer) {
    unsigned char buffer[4] = {0, 0, 0, 0xaa};
    Encoder encoder(buffer, 3);
    encoder.number(std::numeric_limits<std::uint64_t>::max());
    EXPECT_TRUE(encoder.overflow());
    EXPECT_EQ(buffer[3], 0xaa);
}

TEST(Codec, DecoderFailsOnTruncationAndStaysFailed) {
    unsigned char buffer[64];
    Encoder encoder(buffer, sizeof buffer);
    encoder.text("twelve bytes");
    for (std::size_t size = 0; size < encoder.size(); ++size) {
        Decoder decoder(buffer, size);
        Text text;
        decoder.text(text);
        EXPECT_TRUE(decoder.failed()) << size;
        EXPECT_EQ(text.size, 0u);
        std::uint64_t number = 5;
        decoder.number(number);
        EXPECT_EQ(number, 0u);
    }
}

TEST(Codec, DecoderRejectsNumbersOver64Bits) {
    const unsigned char bytes[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02};
    Decoder decoder(bytes, sizeof bytes);
    std::uint64_t value = 0;
    decoder.number(value);
    EXPECT_TRUE(decoder.failed());
}

TEST(Codec, CrcIsTheOneOfZlib) {
    EXPECT_EQ(crc32("123456789", 9), 0xcbf43926u);
    EXPECT_EQ(crc32("", 0), 0u);
}

TEST(ProfileFile, RecordsReadBackAsWritten) {
    PhaseRecord written;
    written.thread = 3;
    written.name = "timestep";
    written.kind = 2;
    written.instances = 1000;
    written.wall_ns = 123456789012345;
    written.clusters = 64;
    unsigned char buffer[256];
    Encoder encoder(buffer, sizeof buffer);
    describe(encoder, written);
    Decoder decoder(buffer, encoder.size());
    PhaseRecord read;
    describe(decoder, read);
    EXPECT_FALSE(decoder.failed());
    EXPECT_EQ(std::string_view(read.name.data, read.name.size), "timestep");
    EXPECT_EQ(read.thread, written.thread);
    EXPECT_EQ(read.instances, written.instances);
    EXPECT_EQ(read.wall_ns, written.wall_ns);
    EXPECT_EQ(read.clusters, written.clusters);
}

} // namespace libprofile
