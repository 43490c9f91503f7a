#include "tools/code/landing_pads.hpp"

#include "libprofile/base/dwarf_cursor.hpp"

#include <algorithm>

namespace libprofile::tools {

std::vector<LandingPad> landing_pads(const ElfCode& code, const CodePart& part) {
    std::vector<LandingPad> pads;
    if (part.landing_table == 0) return pads;
    const auto bytes = code.bytes(part.landing_table);
    const auto memory = reinterpret_cast<std::uintptr_t>(bytes.data());
    DwarfCursor table(memory, memory + bytes.size());
    std::uint64_t origin = part.begin; // that pads are counted from
    if (const auto encoding = table.read<std::uint8_t>(); encoding != pointer_encoding::omitted) {
        const std::uintptr_t value = table.pointer(encoding, 0);
        const bool is_relative = (encoding & pointer_encoding::relation_mask) == pointer_encoding::pc_relative;
        origin = is_relative ? value - memory + part.landing_table : value;
    }
    if (table.read<std::uint8_t>() != pointer_encoding::omitted) table.unsigned_leb(); // types
    const auto encoding = table.read<std::uint8_t>();
    DwarfCursor calls = table.part(table.unsigned_leb());
    constexpr std::size_t most = 1 << 16; // functions of broken files may share a table as large as the file
    while (!calls.failed() && !calls.at_end() && pads.size() < most) {
        const std::uint64_t begin = part.begin + calls.pointer(encoding & pointer_encoding::format_mask, 0);
        const std::uint64_t size = calls.pointer(encoding & pointer_encoding::format_mask, 0);
        const std::uint64_t pad = calls.pointer(encoding & pointer_encoding::format_mask, 0);
        calls.unsigned_leb(); // what is done there
        if (!calls.failed() && pad != 0 && begin + size > begin) pads.push_back({begin, begin + size, origin + pad});
    }
    std::sort(pads.begin(), pads.end(), [](const LandingPad& a, const LandingPad& b) { return a.begin < b.begin; });
    return pads;
}

} // namespace libprofile::tools
