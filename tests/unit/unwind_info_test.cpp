#include "libprofile/callpath/unwind_info.hpp"

#include "libprofile/callpath/personality.hpp"
#include "libprofile/callpath/unwind_table.hpp"

#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <random>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <vector>

namespace libprofile {

namespace {

using Bytes = std::vector<std::uint8_t>;

DwarfCursor cursor_over(const Bytes& bytes) {
    const auto start = reinterpret_cast<std::uintptr_t>(bytes.data());
    return {start, start + bytes.size()};
}

/// Unwind information made by hand: one CIE and one FDE for [code, code + 256), absolute addresses, no sorted table.
class HandMade {
  public:
    static constexpr std::uintptr_t code = 0x10000;

    Bytes augmentation = {'z', 'R', 0};
    Bytes augmentation_data = {pointer_encoding::absolute};
    Bytes entry_state = {0x0c, 7, 8, 0x90, 1}; // CFA = rsp + 8; the return address at CFA - 8
    Bytes program;
    std::uint8_t version = 1;

    Recipe at(std::uintptr_t offset) { return with_entry(offset, nullptr); }
    bool is_foreign() {
        UnwindEntry entry;
        with_entry(0, &entry);
        return has_foreign_personality(entry);
    }
    /// Damages one byte, or (beyond the end) shortens the section.
    Recipe damaged(std::size_t at, std::uint8_t value, std::size_t size) {
        Bytes bytes = build();
        bytes[at % bytes.size()] = value;
        bytes.resize(std::min(bytes.size(), size));
        bytes.shrink_to_fit();
        return look_up(bytes, 128, nullptr);
    }
    std::size_t size() { return build().size(); }

  private:
    static void append(Bytes& bytes, const Bytes& more) { bytes.insert(bytes.end(), more.begin(), more.end()); }
    template <class T> static void append_number(Bytes& bytes, T value) {
        const auto* start = reinterpret_cast<const std::uint8_t*>(&value);
        bytes.insert(bytes.end(), start, start + sizeof value);
    }
    static void append_entry(Bytes& bytes, const Bytes& contents) {
        append_number(bytes, static_cast<std::uint32_t>(contents.size()));
        append(bytes, contents);
    }
    Bytes build() const {
        // Header: .eh_frame follows 4 bytes after the field that says so; no table.
        Bytes bytes = {1, pointer_encoding::pc_relative | pointer_encoding::sdata4, pointer_encoding::omitted, pointer_encoding::omitted};
        append_number(bytes, std::int32_t{4});
        Bytes common = {0, 0, 0, 0, version};
        append(common, augmentation);
        append(common, {1, 0x78, 16}); // code alignment 1, data alignment -8, return address in register 16
        if (augmentation[0] == 'z') common.push_back(static_cast<std::uint8_t>(augmentation_data.size()));
        if (augmentation[0] == 'z') append(common, augmentation_data);
        append(common, entry_state);
        append_entry(bytes, common);
        Bytes function;
        append_number(function, static_cast<std::uint32_t>(bytes.size() + 4 - 8)); // back to the CIE, which begins at 8
        append_number(function, code);
        append_number(function, std::uintptr_t{256});
        if (augmentation[0] == 'z') function.push_back(0);
        append(function, program);
        append_entry(bytes, function);
        append_number(bytes, std::uint32_t{0});
        return bytes;
    }
    static Recipe look_up(const Bytes& bytes, std::uintptr_t offset, UnwindEntry* entry) {
        UnwindSection section;
        section.start = section.header = reinterpret_cast<std::uintptr_t>(bytes.data());
        section.end = section.start + bytes.size();
        if (entry != nullptr) {
            EXPECT_EQ(find_unwind_entry(section, code + offset, *entry), EntrySearch::Found);
            return {};
        }
        return read_unwind_info(section, code + offset);
    }
    Recipe with_entry(std::uintptr_t offset, UnwindEntry* entry) const { return look_up(build(), offset, entry); }
};

void expect_stack(const Recipe& recipe, std::int32_t offset) {
    EXPECT_EQ(recipe.kind, RecipeKind::Stack);
    EXPECT_EQ(recipe.cfa_offset, offset);
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

TEST(UnwindInfo, RowsApplyFromTheirLocationOn) {
    HandMade information;
    // push at 0 (1 byte), CFA = rsp+16 from 1 on, = rbp+16 from 4 on, = rsp+8 from 200 on
    information.program = {0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x02, 196, 0x0c, 7, 8, 0xc6};
    expect_stack(information.at(0), 8);
    expect_stack(information.at(1), 16);
    EXPECT_EQ(information.at(1).frame_rule, FramePointerRule::AtCfa);
    EXPECT_EQ(information.at(1).frame_offset, -16);
    expect_stack(information.at(3), 16);
    EXPECT_EQ(information.at(4).kind, RecipeKind::Frame);
    EXPECT_EQ(information.at(199).kind, RecipeKind::Frame);
    expect_stack(information.at(200), 8);
    EXPECT_EQ(information.at(200).frame_rule, FramePointerRule::Same);
    expect_stack(information.at(255), 8);
    EXPECT_EQ(information.at(256).kind, RecipeKind::Missing);
    EXPECT_EQ(information.at(static_cast<std::uintptr_t>(-1)).kind, RecipeKind::Missing);
}

TEST(UnwindInfo, RemembersAndRestores) {
    HandMade information;
    information.program = {0x0e, 32, 0x0a, 0x44, 0x0e, 8, 0x44, 0x0b};
    expect_stack(information.at(0), 32);
    expect_stack(information.at(4), 8);
    expect_stack(information.at(8), 32);
    information.program = {0x0b};
    EXPECT_EQ(information.at(0).kind, RecipeKind::Hard);
    information.program = Bytes(100, 0x0a);
    EXPECT_EQ(information.at(0).kind, RecipeKind::Hard);
}

TEST(UnwindInfo, RareInstructions) {
    HandMade information;
    for (const std::uint8_t version : {1, 3}) {
        information.version = version;
        information.program = {0x2e, 16, 0x12, 7, 0x7e, 0x2f, 6, 3, 0x05, 3, 9, 0x11, 12, 0x7f}; // def_cfa_sf, data factor -8
        expect_stack(information.at(0), 16);
        EXPECT_EQ(information.at(0).frame_offset, 24);
    }
    information.program = {0x01, 0, 0, 2, 0, 0, 0, 0, 0, 0x0e, 64};
    expect_stack(information.at(128), 8); // set_loc beyond the end of the function
    information.program = {0x01, 16, 0, 1, 0, 0, 0, 0, 0, 0x0e, 64};
    expect_stack(information.at(15), 8);
    expect_stack(information.at(16), 64);
    information.program = {0x07, 16};
    EXPECT_EQ(information.at(0).kind, RecipeKind::Outermost);
    information.program = {0x08, 6};
    expect_stack(information.at(0), 8);
}

TEST(UnwindInfo, Expressions) {
    HandMade information;
    information.program = {0x0f, 3, 0x76, 0x78, 0x06, 0x10, 6, 2, 0x76, 0};
    EXPECT_EQ(information.at(0).kind, RecipeKind::FrameIndirect);
    EXPECT_EQ(information.at(0).cfa_offset, -8);
    EXPECT_EQ(information.at(0).frame_rule, FramePointerRule::AtFrame);
    EXPECT_EQ(information.at(0).frame_offset, 0);
    information.program = {0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22}; // a linkage table
    expect_stack(information.at(10), 8);
    expect_stack(information.at(11), 16);
    expect_stack(information.at(32), 8);
    information.program = {0x0f, 3, 0x77, 8, 0x06}; // CFA = the word at rsp + 8
    EXPECT_EQ(information.at(0).kind, RecipeKind::Hard);
}

TEST(UnwindInfo, WhatIsNotExpressedIsHard) {
    HandMade information;
    for (const Bytes& program : {
             Bytes{0x0d, 3},                            // CFA from rbx
             Bytes{0x09, 6, 3},                         // rbp in rbx
             Bytes{0x07, 6},                            // rbp lost
             Bytes{0x16, 6, 2, 0x76, 0},                // rbp = a value
             Bytes{0x10, 6, 2, 0x77, 0},                // rbp at rsp
             Bytes{0x90, 2},                            // return address elsewhere
             Bytes{0x09, 16, 0},                        // return address in rax
             Bytes{0x08, 7},                            // rsp kept
             Bytes{0x0e, 12},                           // not a multiple of 8
             Bytes{0x0e, 0x80, 0x80, 0x80, 0x80, 0x10}, // too large
             Bytes{0x3f},                               // unknown
             Bytes{0x0e},                               // cut off
         }) {
        information.program = program;
        EXPECT_EQ(information.at(0).kind, RecipeKind::Hard) << int(program[0]);
    }
}

TEST(UnwindInfo, SignalFrames) {
    HandMade information;
    information.augmentation = {'z', 'R', 'S', 0};
    information.program = {0x0f, 3, 0x77, 8, 0x06};
    EXPECT_EQ(information.at(0).kind, RecipeKind::Signal);
    information.augmentation = {'e', 'h', 0};
    EXPECT_EQ(information.at(0).kind, RecipeKind::Hard);
}

namespace {
std::uintptr_t handler_returns_to = 0;
[[gnu::noinline]] void note_return(int) { handler_returns_to = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)); }
} // namespace

TEST(UnwindInfo, KnowsTheEndsOfStacksAndSignalHandlers) {
    signal(SIGUSR1, note_return);
    raise(SIGUSR1);
    signal(SIGUSR1, SIG_DFL);
#ifndef __SANITIZE_THREAD__ // it calls handlers from one of its own
    EXPECT_EQ(read_unwind_info(handler_returns_to - 1).kind, RecipeKind::Signal);
#endif
    EXPECT_EQ(read_unwind_info(getauxval(AT_ENTRY) + 16).kind, RecipeKind::Outermost);
    EXPECT_EQ(read_unwind_info(getauxval(AT_SYSINFO_EHDR)).kind, RecipeKind::Missing); // not code
    EXPECT_EQ(read_unwind_info(8).kind, RecipeKind::Missing);
    EXPECT_EQ(read_unwind_info(reinterpret_cast<std::uintptr_t>(&handler_returns_to)).kind, RecipeKind::Missing);
}

TEST(UnwindInfo, PersonalitiesAreToldByTheirModules) {
    HandMade information;
    information.augmentation = {'z', 'P', 'L', 'R', 0};
    static std::uintptr_t routine = 0; // for the indirect encoding
    const auto use = [&](std::uintptr_t address, std::uint8_t encoding) {
        information.augmentation_data = {encoding};
        for (unsigned i = 0; i < 8; ++i) information.augmentation_data.push_back(static_cast<std::uint8_t>(address >> 8 * i));
        information.augmentation_data.push_back(pointer_encoding::omitted);
        information.augmentation_data.push_back(pointer_encoding::absolute);
        EXPECT_EQ((information.at(0).flags & ForeignPersonality) != 0, information.is_foreign());
        return information.is_foreign();
    };
    const auto through = [&](std::uintptr_t address) {
        routine = address;
        return use(reinterpret_cast<std::uintptr_t>(&routine), pointer_encoding::indirect);
    };
    const auto terminate = reinterpret_cast<std::uintptr_t>(&std::terminate); // stands for anything in libstdc++
    const auto libm = reinterpret_cast<std::uintptr_t>(static_cast<double (*)(double)>(&std::cbrt));
    EXPECT_FALSE(use(terminate, pointer_encoding::absolute));
    EXPECT_FALSE(through(terminate));
    EXPECT_FALSE(through(reinterpret_cast<std::uintptr_t>(&::ldiv)));
    EXPECT_FALSE(through(reinterpret_cast<std::uintptr_t>(&has_foreign_personality)));
    EXPECT_FALSE(through(0));
    EXPECT_FALSE(use(0, pointer_encoding::absolute));
    EXPECT_TRUE(use(libm, pointer_encoding::absolute));
    EXPECT_TRUE(through(libm));
    EXPECT_TRUE(through(8));
    EXPECT_FALSE(use(8, pointer_encoding::indirect)); // cannot be read
}

TEST(UnwindInfo, DamageIsHarmless) {
    HandMade information;
    information.augmentation = {'z', 'P', 'L', 'R', 0};
    information.augmentation_data = {pointer_encoding::indirect, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0};
    information.program = {0x41, 0x0e, 16, 0x0f, 3, 0x76, 0x78, 0x06, 0x10, 6, 2, 0x76, 0, 0x0a, 0x44, 0x0b};
    const std::size_t size = information.size();
    for (std::size_t at = 0; at < size; ++at)
        for (unsigned value = 0; value < 256; ++value) information.damaged(at, static_cast<std::uint8_t>(value), size);
    for (std::size_t shorter = 1; shorter < size; ++shorter) {
        const RecipeKind kind = information.damaged(0, 1, shorter).kind;
        const bool is_whole = shorter + 4 >= size; // except for the end mark
        EXPECT_EQ(kind, is_whole ? RecipeKind::FrameIndirect : RecipeKind::Hard) << shorter;
    }
}

/// A copy of a real segment between unreadable pages, with random damage. Offsets inside it stay right.
TEST(UnwindInfo, DamagedModulesAreHarmless) {
    UnwindSection real;
    const auto libm = reinterpret_cast<std::uintptr_t>(static_cast<double (*)(double)>(&std::cbrt));
    ASSERT_TRUE(find_unwind_section(libm, real));
    const std::size_t size = (real.end - real.start + 4095) & ~std::size_t{4095};
    auto* space = static_cast<std::uint8_t*>(mmap(nullptr, size + 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(space, MAP_FAILED);
    ASSERT_EQ(mprotect(space + 4096, size, PROT_READ | PROT_WRITE), 0);
    UnwindSection copy; // ends where the readable pages end
    copy.end = reinterpret_cast<std::uintptr_t>(space) + 4096 + size;
    copy.start = copy.end - (real.end - real.start);
    copy.header = copy.start + (real.header - real.start);
    auto* bytes = reinterpret_cast<std::uint8_t*>(copy.start);
    const auto restore = [&] { std::memcpy(bytes, reinterpret_cast<const void*>(real.start), real.end - real.start); };
    restore();
    const std::uintptr_t shift = copy.start - real.start;
    const Recipe right = read_unwind_info(libm);
    EXPECT_EQ(read_unwind_info(copy, libm + shift).pack(0), right.pack(0));
    EXPECT_NE(right.kind, RecipeKind::Hard);
    std::mt19937_64 random(1);
    bytes[copy.header - copy.start + 3] = pointer_encoding::omitted; // no table: all entries are visited
    for (int i = 0; i < 200; ++i) {
        const std::uintptr_t address = libm + random() % 0x40000 - 0x20000;
        EXPECT_EQ(read_unwind_info(copy, address + shift).pack(0), read_unwind_info(address).pack(0));
    }
    restore();
    const std::size_t first = copy.header - copy.start;
    for (int round = 0; round < 300; ++round) {
        for (int i = 0; i < 1 << (round % 12); ++i) bytes[first + random() % (copy.end - copy.header)] = static_cast<std::uint8_t>(random());
        if (round % 3 == 0) bytes[first + random() % 12] = static_cast<std::uint8_t>(random()); // the header itself
        for (int i = 0; i < 200; ++i) read_unwind_info(copy, libm + shift + random() % 0x80000 - 0x40000);
        if (round % 12 == 11) restore();
    }
    munmap(space, size + 8192);
}

} // namespace libprofile
