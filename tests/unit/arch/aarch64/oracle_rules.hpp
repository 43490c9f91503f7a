// See tests/unit/arch/oracle_rules.hpp, which includes this.
#pragma once

namespace libprofile {

/// Where a register was saved, relative to the CFA. `is_kept`: it was not.
inline bool read_saved(Dwarf_Frame* frame, int number, bool& is_kept, std::int64_t& offset) {
    Dwarf_Op memory[3];
    Operations rule;
    if (dwarf_frame_register(frame, number, memory, &rule.list, &rule.count) != 0) return false;
    is_kept = rule.count == 0 && rule.list == nullptr;
    offset = rule.count == 2 ? rule.number(1) : 0;
    return is_kept || rule.is({DW_OP_call_frame_cfa}) || rule.is({DW_OP_call_frame_cfa, DW_OP_plus_uconst});
}

inline Recipe recipe_of_rules(Dwarf_Frame* frame, int return_register, bool is_signal_frame, std::uintptr_t) {
    Recipe hard, result;
    hard.kind = RecipeKind::Hard;
    if (is_signal_frame) {
        result.kind = RecipeKind::Signal;
        return result;
    }
    Dwarf_Op memory[3];
    Operations link;
    if (return_register != 30 || dwarf_frame_register(frame, 30, memory, &link.list, &link.count) != 0) return hard;
    if (link.count == 0 && link.list == memory) {
        result.kind = RecipeKind::Outermost;
        return result;
    }
    Operations cfa;
    if (dwarf_frame_cfa(frame, &cfa.list, &cfa.count) != 0 || !cfa.is({DW_OP_bregx}) || (cfa.number(0) != 29 && cfa.number(0) != 31)) return hard;
    result.kind = cfa.number(0) == 31 ? RecipeKind::Stack : RecipeKind::Frame;
    const auto base = static_cast<std::int64_t>(cfa.list[0].number2);

    bool is_link_kept = false, is_frame_kept = false;
    std::int64_t link_at = 0, frame_at = 0, offset = 0;
    if (!read_saved(frame, 30, is_link_kept, link_at) || !read_saved(frame, 29, is_frame_kept, frame_at)) return hard;
    if (is_link_kept) {
        if (!is_frame_kept) return hard;
    } else if (is_frame_kept) {
        result.frame_rule = FramePointerRule::ReturnAtBase;
        offset = base + link_at;
    } else {
        if (link_at != frame_at + 8) return hard;
        const bool is_far = std::abs(base + frame_at) > Recipe::largest_frame_offset;
        result.frame_rule = is_far ? FramePointerRule::AtCfa : FramePointerRule::AtBase;
        offset = is_far ? frame_at : base + frame_at;
    }
    if (std::abs(base) > Recipe::largest_cfa_offset || std::abs(offset) > Recipe::largest_frame_offset) return hard;
    result.cfa_offset = static_cast<std::int32_t>(base);
    result.frame_offset = static_cast<std::int32_t>(offset);
    return result.fits() ? result : hard;
}

} // namespace libprofile
