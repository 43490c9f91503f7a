#include "libprofile/code/function_code.hpp"

namespace libprofile {

using Kind = Instruction::Kind;

std::uint32_t FunctionCode::position(std::uintptr_t address) const noexcept {
    for (std::uint32_t i = 0; i < count_; ++i)
        if (is_in_part(i, address)) return parts_[i].first + static_cast<std::uint32_t>(address - parts_[i].start);
    return none;
}

Instruction FunctionCode::instruction_at(std::uint32_t position) const noexcept {
    std::uint32_t part = count_;
    while (part != 0 && parts_[part - 1].first > position) --part;
    if (part == 0) return {};
    const std::uintptr_t address = parts_[part - 1].start + (position - parts_[part - 1].first);
    return address < parts_[part - 1].end ? decode(address, parts_[part - 1].end - address) : Instruction();
}

FunctionCode::Addition FunctionCode::add_part(std::uintptr_t address, FindCode find_code) noexcept {
    if (position(address) != none) return Addition::Done;
    Part part{};
    if (!find_code(address, part.start, part.end)) return Addition::Elsewhere;
    if (count_ == most_parts || part.end - part.start > largest - size_) return Addition::TooMuch;
    part.first = size_;
    size_ += static_cast<std::uint32_t>(part.end - part.start);
    parts_[count_++] = part;
    return Addition::Done;
}

/// Adds the target of a jump. Stubs of the linker do not belong to the function; one part, which may be large, holds those of the whole module.
FunctionCode::Addition FunctionCode::add_target(std::uintptr_t address, FindCode find_code) noexcept {
    std::uintptr_t start = 0, end = 0;
    if (position(address) != none) return Addition::Done;
    if (!find_code(address, start, end)) return Addition::Elsewhere;
    Instruction first = decode(address, end - address);
    if (first.kind == Kind::Nop) first = decode(address + first.length, end - address - first.length); // endbr64
    return first.kind == Kind::IndirectJump && first.operand != 0 ? Addition::Elsewhere : add_part(address, find_code);
}

bool FunctionCode::read(std::uintptr_t address, FindCode find_code) noexcept {
    if (!add(address, find_code)) return false;
    const FunctionCode main = *this;
    return main.for_each([&](std::uint32_t, bool, std::uintptr_t, const Instruction& instruction) {
        // in another function
        return !is_jump(instruction.kind) || add_target(instruction.target, find_code) != Addition::TooMuch;
    });
}

} // namespace libprofile
