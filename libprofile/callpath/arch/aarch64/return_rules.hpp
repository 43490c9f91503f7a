// See arch/return_rules.hpp. The return address is in a register, or next to the caller's frame pointer, or alone on the stack.
#pragma once

#include "libprofile/callpath/arch/machine.hpp"
#include "libprofile/callpath/recipe.hpp"
#include "libprofile/callpath/unwind_program.hpp"
#include "libprofile/callpath/walked_frame.hpp"

namespace libprofile {

inline bool read_return_rules(const UnwindRow& row, std::int64_t cfa_offset, Recipe& recipe, std::int64_t& frame_offset) noexcept {
    using Kind = UnwindRule::Kind;
    const auto is_kept = [](const UnwindRule& rule) { return rule.kind == Kind::Unspecified || rule.kind == Kind::Same; };
    if (recipe.kind == RecipeKind::FrameIndirect) return false;
    if (row.is_signed) recipe.flags |= SignedReturn;
    frame_offset = 0;
    if (is_kept(row.return_address)) {
        recipe.frame_rule = FramePointerRule::Same;
        return is_kept(row.frame_pointer);
    }
    if (row.return_address.kind != Kind::AtCfa) return false;
    const bool is_record = row.frame_pointer.kind == Kind::AtCfa && row.frame_pointer.value == row.return_address.value - 8;
    if (!is_record && !is_kept(row.frame_pointer)) return false;
    const std::int64_t from_cfa = is_record ? row.frame_pointer.value : row.return_address.value, from_base = from_cfa + cfa_offset;
    const auto is_near = [](std::int64_t offset) { return offset <= Recipe::largest_frame_offset && offset >= -Recipe::largest_frame_offset; };
    const bool is_at_cfa = is_record && !is_near(from_base);
    recipe.frame_rule = is_at_cfa ? FramePointerRule::AtCfa : is_record ? FramePointerRule::AtBase : FramePointerRule::ReturnAtBase;
    frame_offset = is_at_cfa ? from_cfa : from_base;
    return true;
}

inline ReturnPlace find_return(const Recipe& recipe, const WalkedFrame& frame, std::uintptr_t cfa) noexcept {
    if (recipe.frame_rule == FramePointerRule::Same) return {};
    const std::uintptr_t base = recipe.frame_rule == FramePointerRule::AtCfa ? cfa : recipe.kind == RecipeKind::Stack ? frame.sp : frame.fp;
    const std::uintptr_t place = base + static_cast<std::uintptr_t>(std::intptr_t{recipe.frame_offset});
    if (recipe.frame_rule == FramePointerRule::ReturnAtBase) return {place, 0};
    return {place + 8, place};
}

} // namespace libprofile
