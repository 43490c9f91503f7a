#include "libprofile/callpath/linker_stub.hpp"

#include "libprofile/callpath/dynamic_symbols.hpp"
#include "libprofile/callpath/load_map.hpp"
#include "libprofile/callpath/unwind_table.hpp"

namespace libprofile {

namespace {

/// Behind endbr64, if that comes first.
DwarfCursor code_at(std::uintptr_t address, const UnwindSection& segment) {
    constexpr std::uint32_t endbr64 = 0xfa1e0ff3;
    const DwarfCursor code(address, segment.end);
    DwarfCursor ahead = code;
    return ahead.read<std::uint32_t>() == endbr64 ? ahead : code;
}

} // namespace

bool follow_stub(std::uintptr_t address, std::uintptr_t& target) noexcept {
    UnwindSection segment;
    if (!find_segment(address, segment)) return false;
    constexpr std::uint8_t bnd = 0xf2;
    constexpr std::uint16_t jump_through_slot = 0x25ff;
    DwarfCursor code = code_at(address, segment);
    DwarfCursor ahead = code;
    if (ahead.read<std::uint8_t>() == bnd) code = ahead;
    if (code.read<std::uint16_t>() != jump_through_slot) return false;
    const auto distance = static_cast<std::uintptr_t>(std::intptr_t{code.read<std::int32_t>()});
    if (code.failed()) return false;
    target = word_at(code.position() + distance);
    return true;
}

const char* unbound_name(std::uintptr_t target) noexcept {
    UnwindSection segment;
    const std::uint32_t number = load_map.find(target);
    if (number == LoadMap::none || load_map[number].headers == nullptr || !find_segment(target, segment)) return nullptr;
    constexpr std::uint8_t push = 0x68;
    constexpr std::uint8_t bnd = 0xf2;
    constexpr std::uint8_t jump = 0xe9;
    DwarfCursor code = code_at(target, segment);
    if (code.read<std::uint8_t>() != push) return nullptr;
    const auto index = code.read<std::uint32_t>();
    auto opcode = code.read<std::uint8_t>();
    if (opcode == bnd) opcode = code.read<std::uint8_t>();
    if (code.failed() || opcode != jump) return nullptr;
    return find_bound_name(load_map[number].bias, load_map[number].headers, load_map[number].header_count, index);
}

} // namespace libprofile
