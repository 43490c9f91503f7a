#include "libprofile/callpath/unwind_info.hpp"

#include "libprofile/callpath/arch/return_rules.hpp"
#include "libprofile/callpath/arch/signal_return.hpp"
#include "libprofile/callpath/personality.hpp"
#include "libprofile/callpath/unwind_expression.hpp"
#include "libprofile/callpath/unwind_program.hpp"
#include "libprofile/callpath/unwind_table.hpp"

namespace libprofile {

namespace {

/// DW_OP_*.
namespace operation {
constexpr std::uint8_t deref = 0x06;
constexpr std::uint8_t bit_and = 0x1a;
constexpr std::uint8_t plus = 0x22;
constexpr std::uint8_t shift_left = 0x24;
constexpr std::uint8_t greater_or_equal = 0x2a;
constexpr std::uint8_t literal_0 = 0x30;
constexpr std::uint8_t literal_31 = 0x4f;
} // namespace operation

bool take_literal(DwarfCursor& cursor, std::uint64_t& value) {
    const auto byte = cursor.read<std::uint8_t>();
    value = std::uint64_t{byte} - operation::literal_0;
    return byte >= operation::literal_0 && byte <= operation::literal_31;
}

/// Reads what linkers write for procedure linkage tables, whose 16-byte stubs push one word:
/// CFA = rsp + offset + ((address & mask) >= limit) << shift.
bool read_linkage_table(DwarfCursor cursor, std::uintptr_t address, std::int64_t& result) {
    std::int64_t offset = 0;
    std::int64_t from_address = 0;
    std::uint64_t mask = 0;
    std::uint64_t limit = 0;
    std::uint64_t shift = 0;
    const bool matches = take_register(cursor, unwind_register::stack_pointer, offset) &&
                         take_register(cursor, unwind_register::return_address, from_address) && take_literal(cursor, mask) &&
                         take_operation(cursor, operation::bit_and) && take_literal(cursor, limit) && take_operation(cursor, operation::greater_or_equal) &&
                         take_literal(cursor, shift) && take_operation(cursor, operation::shift_left) && take_operation(cursor, operation::plus) &&
                         cursor.at_end() && !cursor.failed();
    if (!matches) return false;
    const std::uint64_t position = (address + static_cast<std::uint64_t>(from_address)) & mask;
    const std::uint64_t pushed = std::uint64_t{position >= limit} << shift;
    result = static_cast<std::int64_t>(static_cast<std::uint64_t>(offset) + pushed);
    return true;
}

bool read_cfa(const UnwindRule& rule, std::uintptr_t address, Recipe& recipe, std::int64_t& offset) {
    if (rule.kind == UnwindRule::Kind::Register) {
        if (rule.number != unwind_register::stack_pointer && rule.number != unwind_register::frame_pointer) return false;
        recipe.kind = rule.number == unwind_register::stack_pointer ? RecipeKind::Stack : RecipeKind::Frame;
        offset = rule.value;
        return true;
    }
    if (rule.kind != UnwindRule::Kind::Expression) return false;
    DwarfCursor cursor = expression_of(rule);
    if (take_register(cursor, unwind_register::frame_pointer, offset) && take_operation(cursor, operation::deref) && cursor.at_end()) {
        recipe.kind = RecipeKind::FrameIndirect;
        return true;
    }
    recipe.kind = RecipeKind::Stack;
    return read_linkage_table(expression_of(rule), address, offset);
}

/// Returns true if the number fits in 32 bits.
bool is_small(std::int64_t value) { return value >= INT32_MIN && value <= INT32_MAX; }

Recipe recipe_of(const UnwindEntry& entry, std::uintptr_t address) {
    Recipe hard;
    hard.kind = RecipeKind::Hard;
    UnwindRow row;
    if (entry.return_address_register != unwind_register::return_address || !run_unwind_program(entry, address, row)) return hard;

    Recipe recipe;
    if (row.return_address.kind == UnwindRule::Kind::Undefined) {
        recipe.kind = RecipeKind::Outermost;
        return recipe;
    }
    if (row.stack_pointer.kind != UnwindRule::Kind::Unspecified) return hard;
    std::int64_t cfa_offset = 0;
    std::int64_t frame_offset = 0;
    if (!read_cfa(row.cfa, address, recipe, cfa_offset) || !read_return_rules(row, cfa_offset, recipe, frame_offset) || !is_small(cfa_offset) ||
        !is_small(frame_offset))
        return hard;
    recipe.cfa_offset = static_cast<std::int32_t>(cfa_offset);
    recipe.frame_offset = static_cast<std::int32_t>(frame_offset);
    return recipe.fits() ? recipe : hard;
}

} // namespace

Recipe read_unwind_info(const UnwindSection& section, std::uintptr_t address) noexcept {
    UnwindEntry entry;
    Recipe recipe;
    const EntrySearch found = find_unwind_entry(section, address, entry);
    if (found != EntrySearch::Found) {
        recipe.kind = found == EntrySearch::Missing ? RecipeKind::Missing : RecipeKind::Hard;
    } else if (entry.is_signal_frame) {
        recipe.kind = RecipeKind::Signal;
    } else {
        recipe = recipe_of(entry, address);
        if (entry.personality != 0 && has_foreign_personality(entry)) recipe.flags |= ForeignPersonality;
    }
    return recipe;
}

Recipe read_unwind_info(std::uintptr_t address) noexcept {
    UnwindSection section;
    Recipe recipe;
    recipe.kind = RecipeKind::Missing;
    if (find_unwind_section(address, section)) recipe = read_unwind_info(section, address);
    if (recipe.kind == RecipeKind::Missing && is_signal_return(address + 1)) recipe.kind = RecipeKind::Signal;
    return recipe;
}

} // namespace libprofile
