#include "libprofile/callpath/exception_table.hpp"

#include "libprofile/callpath/personality.hpp"
#include "libprofile/callpath/unwind_table.hpp"

namespace libprofile {

bool ExceptionTable::find(std::uintptr_t address) noexcept {
    *this = {};
    UnwindSection section;
    UnwindEntry entry;
    if (!find_unwind_section(address, section) || find_unwind_entry(section, address, entry) != EntrySearch::Found) return fail();
    if (entry.personality == 0) return true;
    if (has_foreign_personality(entry) || !entry.is_exceptions_known) return fail();
    return entry.exceptions == 0 || read_head(entry.exceptions, entry.start) || fail();
}

bool ExceptionTable::read_head(std::uintptr_t table, std::uintptr_t function) noexcept {
    UnwindSection segment;
    if (!find_segment(table, segment)) return false;
    DwarfCursor cursor(table, segment.end);
    function_ = function;
    const auto base_encoding = cursor.read<std::uint8_t>();
    base_ = base_encoding == pointer_encoding::omitted ? function : cursor.pointer(base_encoding, 0);
    if (base_encoding != pointer_encoding::omitted && (base_encoding & pointer_encoding::indirect) != 0) return false;
    if (cursor.read<std::uint8_t>() != pointer_encoding::omitted) cursor.unsigned_leb(); // the table of types
    encoding_ = cursor.read<std::uint8_t>();
    if ((encoding_ & ~pointer_encoding::format_mask) != 0) return false;
    sites_ = cursor.part(cursor.unsigned_leb());
    actions_ = cursor;
    return !cursor.failed();
}

/// Follows the chain of what is compared with the exception. Positive filters are types, negative ones lists of types (exception specifications), and
/// zero cleans up.
bool ExceptionTable::may_catch(std::uint64_t action) noexcept {
    DwarfCursor cursor = actions_;
    cursor.skip(action - 1);
    for (std::uint32_t i = 0; i < most_actions && !cursor.failed(); ++i) {
        const std::int64_t filter = cursor.signed_leb();
        const std::uintptr_t from = cursor.position();
        const std::int64_t distance = cursor.signed_leb();
        if (cursor.failed()) break;
        if (filter != 0) return true;
        if (distance == 0) return false;
        cursor = actions_;
        cursor.skip(from + static_cast<std::uint64_t>(distance) - actions_.position()); // fails outside
    }
    fail();
    return true;
}

bool ExceptionTable::next(LandingPad& pad) noexcept {
    while (!failed_ && !sites_.at_end()) {
        if (++sites_read_ > most_sites) return fail();
        const std::uintptr_t from = function_ + sites_.pointer(encoding_, 0);
        const std::uintptr_t length = sites_.pointer(encoding_, 0);
        const std::uintptr_t distance = sites_.pointer(encoding_, 0);
        const std::uint64_t action = sites_.unsigned_leb();
        if (sites_.failed()) return fail();
        if (distance == 0) continue;
        pad = {base_ + distance, from, from + length, action != 0 && may_catch(action)};
        return !failed_;
    }
    failed_ = failed_ || sites_.failed();
    return false;
}

} // namespace libprofile
