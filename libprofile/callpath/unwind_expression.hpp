// The expressions of unwind information that occur in practice.
// Contract: async-signal-safe; reads only what the rule's expression covers.
// Source: DWARF 5, section 2.5.
#pragma once

#include "libprofile/base/dwarf_cursor.hpp"
#include "libprofile/callpath/unwind_program.hpp"

#include <cstdint>

namespace libprofile {

inline DwarfCursor expression_of(const UnwindRule& rule) noexcept {
    const auto start = static_cast<std::uintptr_t>(rule.value);
    return {start, start + rule.number};
}

inline bool take_operation(DwarfCursor& cursor, std::uint8_t wanted) noexcept { return cursor.read<std::uint8_t>() == wanted; }

/// A register plus a number.
inline bool take_register(DwarfCursor& cursor, std::uint64_t number, std::int64_t& offset) noexcept {
    constexpr std::uint8_t base_register_0 = 0x70; // DW_OP_breg0
    if (!take_operation(cursor, static_cast<std::uint8_t>(base_register_0 + number))) return false;
    offset = cursor.signed_leb();
    return !cursor.failed();
}

} // namespace libprofile
