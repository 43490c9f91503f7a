#include "libprofile/callpath/arch/prologue.hpp"

#include <cstring>

namespace libprofile {

namespace {

constexpr unsigned rbx = 3, rsp = 4, rbp = 5; // numbers in instructions
constexpr std::uintptr_t longest_prologue = 96;

/// The effect of the instructions so far.
struct Prologue {
    CodeFrame::Base base = CodeFrame::Base::StackPointer;
    std::int32_t depth = 8;      // CFA - rsp; meaningless after and(rsp)
    std::int32_t base_depth = 0; // CFA - base, once rsp was copied to it
    std::int32_t frame_offset = 0;
    bool is_aligned = false;

    CodeFrame frame() const {
        const bool by_stack = base == CodeFrame::Base::StackPointer || !is_aligned;
        return {by_stack ? CodeFrame::Base::StackPointer : base, by_stack ? depth : base_depth, frame_offset, -8};
    }
};

std::int32_t immediate(const unsigned char* code, bool wide) {
    if (!wide) return static_cast<signed char>(*code);
    std::int32_t value = 0;
    std::memcpy(&value, code, sizeof value);
    return value;
}

/// A mov between a register and a word relative to rsp, or between registers (opcode 89 or 8b). Returns its length.
unsigned step_over_move(const unsigned char* code, unsigned prefix, Prologue& state) {
    const bool stores = code[1] == 0x89;
    const unsigned mode = code[2] >> 6;
    const unsigned reg = ((code[2] >> 3) & 7) | (prefix & 4) << 1;
    const unsigned operand = (code[2] & 7) | (prefix & 1) << 3;
    if (mode == 3) {
        const unsigned from = stores ? reg : operand;
        const unsigned to = stores ? operand : reg;
        if (from == rsp && (to == rbx || to == rbp) && !state.is_aligned) {
            state.base = to == rbx ? CodeFrame::Base::Rbx : CodeFrame::Base::FramePointer;
            state.base_depth = state.depth;
        }
        return to == rsp ? 0 : 3;
    }
    if ((code[2] & 7) != rsp || code[3] != 0x24) return 0; // another address: the body has begun
    const unsigned size = mode == 0 ? 0 : mode == 1 ? 1 : 4;
    const std::int32_t offset = size == 0 ? 0 : immediate(code + 4, size == 4);
    if (stores && reg == rbp && !state.is_aligned && state.frame_offset == 0) state.frame_offset = offset - state.depth;
    return 4 + size;
}

/// Interprets one instruction. Returns its length, or 0 if it does not belong to a prologue.
unsigned step(const unsigned char* code, Prologue& state) {
    if (std::memcmp(code, "\xf3\x0f\x1e\xfa", 4) == 0) return 4; // endbr64
    if (std::memcmp(code, "\xc5\xf8\x77", 3) == 0) return 3;     // vzeroupper
    const bool extended = code[0] == 0x41;
    const unsigned char* op = code + (extended ? 1 : 0);
    if (*op >= 0x50 && *op <= 0x57) { // push
        state.depth += 8;
        if (!extended && *op - 0x50 == rbp && state.frame_offset == 0) state.frame_offset = -state.depth;
        return extended ? 2 : 1;
    }
    if ((code[0] & 0xf8) != 0x48) return 0; // REX.W from here on
    const bool wide = code[1] == 0x81;
    if ((wide || code[1] == 0x83) && (code[2] == 0xec || code[2] == 0xe4) && code[0] == 0x48) { // sub or and, rsp
        if (code[2] == 0xec)
            state.depth += immediate(code + 3, wide);
        else
            state.is_aligned = true;
        return wide ? 7 : 4;
    }
    if (code[1] == 0x89 || code[1] == 0x8b) return step_over_move(code, code[0], state);
    return 0;
}

} // namespace

CodeFrame read_prologue(std::uintptr_t start, std::uintptr_t until, std::uintptr_t& body) noexcept {
    Prologue state;
    std::uintptr_t at = start;
    while (at < until && at < start + longest_prologue) {
        const unsigned length = step(reinterpret_cast<const unsigned char*>(at), state);
        if (length == 0) break;
        at += length;
    }
    body = at;
    return state.frame();
}

bool is_in_stub(std::uintptr_t) noexcept { return false; }
const CodeFrame at_entry{CodeFrame::Base::StackPointer, 8, 0, -8};

bool ends_with_call(std::uintptr_t address, const LoadedObject& module) noexcept {
    const auto* code = reinterpret_cast<const unsigned char*>(address);
    if (code[-5] == 0xe8) { // call, with the distance to the callee
        std::int32_t distance = 0;
        std::memcpy(&distance, code - 4, sizeof distance);
        const std::uintptr_t target = address + static_cast<std::uintptr_t>(static_cast<std::intptr_t>(distance));
        return target >= module.start && target < module.end;
    }
    for (int length = 2; length <= 7; ++length) { // call through an operand: FF with register field 2
        if (code[-length] != 0xff || ((code[-length + 1] >> 3) & 7) != 2) continue;
        const int mode = code[-length + 1] >> 6;
        const int operand = code[-length + 1] & 7;
        const int sib = mode != 3 && operand == 4 ? 1 : 0;
        const int displacement = mode == 1 ? 1 : mode == 2 || (mode == 0 && operand == 5) ? 4 : 0;
        if (length == 2 + sib + displacement) return true;
    }
    return false;
}

} // namespace libprofile
