// See tests/unit/arch/oracle_rules.hpp, which includes this.
#pragma once

namespace libprofile {

inline Recipe recipe_of_rules(Dwarf_Frame* frame, int return_register, bool is_signal_frame, std::uintptr_t address) {
    Recipe hard;
    hard.kind = RecipeKind::Hard;
    Recipe result;
    Dwarf_Op memory[3];
    if (is_signal_frame) {
        result.kind = RecipeKind::Signal;
        return result;
    }
    Operations rip;
    if (return_register != 16 || dwarf_frame_register(frame, 16, memory, &rip.list, &rip.count) != 0) return hard;
    if (rip.count == 0 && rip.list == memory) {
        result.kind = RecipeKind::Outermost;
        return result;
    }
    if (!rip.is({DW_OP_call_frame_cfa, DW_OP_plus_uconst}) || rip.number(1) != -8) return hard;
    Operations rsp;
    if (dwarf_frame_register(frame, 7, memory, &rsp.list, &rsp.count) != 0) return hard;
    if (!rsp.is({DW_OP_call_frame_cfa, DW_OP_stack_value})) return hard;

    Operations rbp;
    std::int64_t frame_offset = 0;
    if (dwarf_frame_register(frame, 6, memory, &rbp.list, &rbp.count) != 0) return hard;
    if (rbp.count == 0 && rbp.list == nullptr)
        result.frame_rule = FramePointerRule::Same;
    else if (rbp.is({DW_OP_call_frame_cfa}) || rbp.is({DW_OP_call_frame_cfa, DW_OP_plus_uconst})) {
        result.frame_rule = FramePointerRule::AtCfa;
        frame_offset = rbp.count == 2 ? rbp.number(1) : 0;
    } else if (rbp.is({DW_OP_call_frame_cfa, DW_OP_breg6}) || rbp.is({DW_OP_breg6})) {
        result.frame_rule = FramePointerRule::AtFrame;
        frame_offset = rbp.number(rbp.count - 1);
    } else
        return hard;

    Operations cfa;
    std::int64_t offset = 0;
    if (dwarf_frame_cfa(frame, &cfa.list, &cfa.count) != 0 || cfa.count == 0) return hard;
    if (cfa.is({DW_OP_bregx}) && (cfa.number(0) == 6 || cfa.number(0) == 7)) {
        result.kind = cfa.number(0) == 7 ? RecipeKind::Stack : RecipeKind::Frame;
        offset = static_cast<std::int64_t>(cfa.list[0].number2);
    } else if (cfa.is({DW_OP_breg6, DW_OP_deref})) {
        result.kind = RecipeKind::FrameIndirect;
        offset = cfa.number(0);
    } else if (cfa.count == 9 && cfa.list[0].atom == DW_OP_breg7 && cfa.list[1].atom == DW_OP_breg16 && cfa.list[2].atom == DW_OP_lit15 &&
               cfa.list[5].atom == DW_OP_ge) {
        result.kind = RecipeKind::Stack;
        offset = cfa.number(0) + ((address & 15) >= static_cast<unsigned>(cfa.list[4].atom - DW_OP_lit0) ? 8 : 0);
    } else
        return hard;
    if (std::abs(offset) > Recipe::largest_cfa_offset) return hard;
    if (std::abs(frame_offset) > Recipe::largest_frame_offset) return hard;
    result.cfa_offset = static_cast<std::int32_t>(offset);
    result.frame_offset = static_cast<std::int32_t>(frame_offset);
    return result.fits() ? result : hard;
}

} // namespace libprofile
