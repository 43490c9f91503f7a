#include "libprofile/callpath/arch/prologue.hpp"

namespace libprofile {

namespace {

constexpr unsigned sp = 31, x29 = 29, x30 = 30;
constexpr std::uintptr_t longest_prologue = 128;

std::uint32_t instruction_at(std::uintptr_t address) { return *reinterpret_cast<const std::uint32_t*>(address); }

/// The bits [low, low + size) as a signed number.
std::int32_t signed_field(std::uint32_t code, unsigned low, unsigned size) { return static_cast<std::int32_t>(code << (32 - low - size)) >> (32 - size); }

/// The effect of the instructions so far.
struct Prologue {
    std::int32_t depth = 0;      // CFA - sp
    std::int32_t base_depth = 0; // CFA - x29, once x29 was set from sp
    std::int32_t frame_offset = 0;
    std::int32_t return_offset = 0;

    void note(unsigned reg, std::int32_t from_sp) {
        std::int32_t& offset = reg == x30 ? return_offset : frame_offset;
        if ((reg == x29 || reg == x30) && offset == 0) offset = from_sp - depth;
    }
};

/// Interprets one instruction. Returns false if it does not belong to a prologue.
bool step(std::uint32_t code, Prologue& state) {
    const unsigned first = code & 31, base = (code >> 5) & 31, second = (code >> 10) & 31;
    const auto immediate = static_cast<std::int32_t>((code >> 10) & 0xfff) << ((code & 0x400000) != 0 ? 12 : 0);
    if ((code & 0xfffff01f) == 0xd503201f) return true;                           // hints: nop, bti, paciasp
    if ((code & 0xff8003ff) == 0xd10003ff) return state.depth += immediate, true; // sub sp, sp, #
    if ((code & 0xff8003ff) == 0x910003ff) return state.depth -= immediate, true; // add sp, sp, #-
    if ((code & 0xff8003ff) == 0x910003fd) {                                      // add x29, sp, #: or mov
        state.base_depth = state.depth - immediate;
        return true;
    }
    if ((code & 0x3a400000) == 0x28000000 && base == sp) { // stp of general, or vector registers
        const bool is_vector = (code & 0x04000000) != 0;
        const unsigned mode = (code >> 23) & 3; // 1: post-index, 2: offset, 3: pre-index
        const unsigned scale = is_vector ? 2 + (code >> 30) : 2 + (code >> 31);
        const std::int32_t offset = signed_field(code, 15, 7) * (1 << scale);
        if (mode == 1) return false;
        if (mode == 3) state.depth -= offset;
        if (is_vector || scale != 3) return true;
        state.note(first, mode == 3 ? 0 : offset);
        state.note(second, (mode == 3 ? 0 : offset) + 8);
        return true;
    }
    if ((code & 0xffe00c00) == 0xf8000c00 && base == sp) { // str, pre-index
        state.depth -= signed_field(code, 12, 9);
        state.note(first, 0);
        return true;
    }
    if ((code & 0xffc00000) == 0xf9000000 && base == sp) { // str
        state.note(first, static_cast<std::int32_t>((code >> 10) & 0xfff) * 8);
        return true;
    }
    return false;
}

} // namespace

CodeFrame read_prologue(std::uintptr_t start, std::uintptr_t until, std::uintptr_t& body) noexcept {
    Prologue state;
    std::uintptr_t at = start;
    while (at + 4 <= until && at < start + longest_prologue && step(instruction_at(at), state)) at += 4;
    body = at;
    const bool by_frame = state.base_depth != 0; // it may move sp later
    return {by_frame ? CodeFrame::Base::FramePointer : CodeFrame::Base::StackPointer, by_frame ? state.base_depth : state.depth, state.frame_offset,
            state.return_offset};
}

bool ends_with_call(std::uintptr_t address, const LoadedObject& module) noexcept {
    if (address % 4 != 0) return false;
    const std::uint32_t code = instruction_at(address - 4);
    if ((code & 0xfc000000) == 0x94000000) { // bl
        const std::uintptr_t target = address - 4 + static_cast<std::uintptr_t>(std::intptr_t{signed_field(code, 0, 26)} * 4);
        return target >= module.start && target < module.end;
    }
    return (code & 0xfffffc1f) == 0xd63f0000 || (code & 0xfefff800) == 0xd63f0800; // blr, and with authentication
}

/// adrp x16; ldr x17, [x16]; add x16, x16; br x17.
bool is_in_stub(std::uintptr_t address) noexcept {
    if (address % 4 != 0) return false;
    for (std::uintptr_t at = address; at <= address + 12; at += 4) {
        const std::uint32_t code = instruction_at(at);
        if (code == 0xd61f0220) return true;
        const bool belongs = code == 0xd503245f || (code & 0x9f00001f) == 0x90000010 || (code & 0xffc003ff) == 0xf9400211 || (code & 0xffc003ff) == 0x91000210;
        if (!belongs) return false;
    }
    return false;
}
const CodeFrame at_entry{CodeFrame::Base::StackPointer, 0, 0, 0};

} // namespace libprofile
