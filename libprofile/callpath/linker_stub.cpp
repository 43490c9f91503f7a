#include "libprofile/callpath/linker_stub.hpp"

#include "libprofile/callpath/unwind_table.hpp"

namespace libprofile {

std::uintptr_t word_at(std::uintptr_t address) noexcept {
    UnwindSection segment;
    if (!find_segment(address, segment)) return 0;
    return DwarfCursor(address, segment.end).read<std::uintptr_t>();
}

bool follow_stub(std::uintptr_t address, std::uintptr_t& target) noexcept {
    UnwindSection segment;
    if (!find_segment(address, segment)) return false;
    constexpr std::uint32_t endbr64 = 0xfa1e0ff3;
    constexpr std::uint8_t bnd = 0xf2;
    constexpr std::uint16_t jump_through_slot = 0x25ff;
    DwarfCursor code(address, segment.end);
    DwarfCursor ahead = code;
    if (ahead.read<std::uint32_t>() == endbr64) code = ahead;
    ahead = code;
    if (ahead.read<std::uint8_t>() == bnd) code = ahead;
    if (code.read<std::uint16_t>() != jump_through_slot) return false;
    const auto distance = static_cast<std::uintptr_t>(std::intptr_t{code.read<std::int32_t>()});
    if (code.failed()) return false;
    target = word_at(code.position() + distance);
    return true;
}

} // namespace libprofile
