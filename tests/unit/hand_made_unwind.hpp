// Unwind information for tests.
#pragma once

#include "libprofile/callpath/arch/machine.hpp"
#include "libprofile/callpath/personality.hpp"
#include "libprofile/callpath/unwind_info.hpp"
#include "libprofile/callpath/unwind_table.hpp"

#include <algorithm>
#include <cstdint>
#include <gtest/gtest.h>
#include <vector>

namespace libprofile {

using Bytes = std::vector<std::uint8_t>;

/// Unwind information made by hand: one CIE and one FDE for [code, code + 256), absolute addresses, no sorted table.
class HandMade {
  public:
    static constexpr std::uintptr_t code = 0x10000;

    Bytes augmentation = {'z', 'R', 0};
    Bytes augmentation_data = {pointer_encoding::absolute};
    Bytes entry_state = state_at_entry();
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
    static Bytes state_at_entry() {
        if (!has_fixed_return_slot) return {0x0c, std::uint8_t{unwind_register::stack_pointer}, 0}; // CFA = stack pointer
        return {0x0c, 7, 8, 0x90, 1};                                                               // CFA = rsp + 8; the return address at CFA - 8
    }
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
        append(common, {1, 0x78, std::uint8_t{unwind_register::return_address}}); // code alignment 1, data alignment -8
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

} // namespace libprofile
