#include "libprofile/base/dwarf_cursor.hpp"

#include <gtest/gtest.h>
#include <vector>

namespace libprofile {

namespace {

using Bytes = std::vector<std::uint8_t>;

DwarfCursor cursor_over(const Bytes& bytes) {
    const auto start = reinterpret_cast<std::uintptr_t>(bytes.data());
    return {start, start + bytes.size()};
}

} // namespace

TEST(DwarfCursor, StopsAtItsEnd) {
    const Bytes bytes = {1, 2, 3, 4, 5};
    DwarfCursor cursor = cursor_over(bytes);
    EXPECT_EQ(cursor.read<std::uint32_t>(), 0x04030201u);
    EXPECT_EQ(cursor.read<std::uint16_t>(), 0u);
    EXPECT_TRUE(cursor.failed());
    EXPECT_TRUE(cursor.at_end());
    EXPECT_EQ(cursor.read<std::uint8_t>(), 0u); // after a failure nothing is read
    cursor = cursor_over(bytes);
    cursor.skip(~std::uint64_t{0});
    EXPECT_TRUE(cursor.failed());
    cursor = cursor_over(bytes);
    EXPECT_TRUE(cursor.part(6).failed());
    EXPECT_TRUE(cursor.failed());
    EXPECT_TRUE(DwarfCursor(16, 8).failed());
    EXPECT_TRUE(DwarfCursor(16, 8).at_end());
}

TEST(DwarfCursor, ReadsLeb128) {
    const auto is = [](const Bytes& bytes, std::uint64_t wanted) {
        DwarfCursor cursor = cursor_over(bytes);
        EXPECT_EQ(cursor.unsigned_leb(), wanted);
        EXPECT_FALSE(cursor.failed());
    };
    const auto is_signed = [](const Bytes& bytes, std::int64_t wanted) {
        DwarfCursor cursor = cursor_over(bytes);
        EXPECT_EQ(cursor.signed_leb(), wanted);
        EXPECT_FALSE(cursor.failed());
    };
    is({0x7f}, 127);
    is({0xe5, 0x8e, 0x26}, 624485);
    is({0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01}, ~std::uint64_t{0});
    is_signed({0x78}, -8);
    is_signed({0x80, 0x7f}, -128);
    is_signed({0xff, 0x00}, 127);
    is_signed({0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x7f}, INT64_MIN);
    for (const Bytes& endless : {Bytes(4, 0xff), Bytes(40, 0x80)}) {
        DwarfCursor cursor = cursor_over(endless);
        cursor.unsigned_leb();
        EXPECT_TRUE(cursor.failed());
        cursor = cursor_over(endless);
        cursor.signed_leb();
        EXPECT_TRUE(cursor.failed());
    }
}

TEST(DwarfCursor, ReadsEncodedPointers) {
    const Bytes bytes = {0xf0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    const auto address = reinterpret_cast<std::uintptr_t>(bytes.data());
    const auto read = [&](unsigned encoding, std::uintptr_t base) { return cursor_over(bytes).pointer(static_cast<std::uint8_t>(encoding), base); };
    using namespace pointer_encoding;
    EXPECT_EQ(read(absolute, 0), static_cast<std::uintptr_t>(-16));
    EXPECT_EQ(read(udata2, 0), 0xfff0u);
    EXPECT_EQ(read(udata4, 0), 0xfffffff0u);
    EXPECT_EQ(read(sdata2, 0), static_cast<std::uintptr_t>(-16));
    EXPECT_EQ(read(pc_relative | sdata4, 0), address - 16);
    EXPECT_EQ(read(pc_relative | sdata8, 0), address - 16);
    EXPECT_EQ(read(data_relative | sdata4, 0x1000), 0x1000u - 16);
    for (const unsigned unknown : {0x20u, 0x40u, 0x60u, 0x30u, 0x05u, 0xffu}) {
        DwarfCursor cursor = cursor_over(bytes);
        cursor.pointer(static_cast<std::uint8_t>(unknown), 0);
        EXPECT_TRUE(cursor.failed()) << unknown;
    }
}

} // namespace libprofile
