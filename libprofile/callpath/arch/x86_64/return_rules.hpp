// See arch/return_rules.hpp. The return address lies at CFA - 8.
#pragma once

#include "libprofile/callpath/arch/machine.hpp"
#include "libprofile/callpath/recipe.hpp"
#include "libprofile/callpath/unwind_expression.hpp"
#include "libprofile/callpath/walked_frame.hpp"

namespace libprofile {

inline bool read_frame_pointer(const UnwindRule& rule, Recipe& recipe, std::int64_t& offset) noexcept {
    offset = 0;
    switch (rule.kind) {
    case UnwindRule::Kind::Unspecified:
    case UnwindRule::Kind::Same: recipe.frame_rule = FramePointerRule::Same; return true;
    case UnwindRule::Kind::AtCfa:
        recipe.frame_rule = FramePointerRule::AtCfa;
        offset = rule.value;
        return true;
    case UnwindRule::Kind::Expression: {
        DwarfCursor cursor = expression_of(rule);
        recipe.frame_rule = FramePointerRule::AtFrame;
        return take_register(cursor, unwind_register::frame_pointer, offset) && cursor.at_end();
    }
    default: return false;
    }
}

inline bool read_return_rules(const UnwindRow& row, std::int64_t, Recipe& recipe, std::int64_t& frame_offset) noexcept {
    if (row.return_address.kind != UnwindRule::Kind::AtCfa || row.return_address.value != -8) return false;
    return read_frame_pointer(row.frame_pointer, recipe, frame_offset);
}

inline ReturnPlace find_return(const Recipe& recipe, const WalkedFrame& frame, std::uintptr_t cfa) noexcept {
    const auto offset = static_cast<std::uintptr_t>(std::intptr_t{recipe.frame_offset});
    switch (recipe.frame_rule) {
    case FramePointerRule::AtCfa: return {cfa - 8, cfa + offset};
    case FramePointerRule::AtFrame: return {cfa - 8, frame.fp + offset};
    default: return {cfa - 8, 0};
    }
}

} // namespace libprofile
