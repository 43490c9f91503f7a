#include "libprofile/callpath/linker_stub.hpp"

#include "libprofile/callpath/unwind_table.hpp"

namespace libprofile {

bool follow_stub(std::uintptr_t address, std::uintptr_t& target) noexcept {
    UnwindSection segment;
    if (!find_segment(address, segment)) return false;
    constexpr std::uint32_t bti = 0xd503245f;
    DwarfCursor code(address, segment.end);
    std::uintptr_t page = code.position() & ~std::uintptr_t{4095};
    auto first = code.read<std::uint32_t>();
    if (first == bti) {
        page = code.position() & ~std::uintptr_t{4095};
        first = code.read<std::uint32_t>();
    }
    const auto load = code.read<std::uint32_t>();
    if (code.failed() || (first & 0x9f00001f) != 0x90000010 || (load & 0xffc003ff) != 0xf9400211) return false; // adrp x16; ldr x17, [x16]
    const auto pages = static_cast<std::int32_t>(((first >> 5) & 0x7ffff) << 13) >> 13;
    page += static_cast<std::uintptr_t>((std::intptr_t{pages} * 4 + ((first >> 29) & 3)) * 4096);
    target = word_at(page + ((load >> 10) & 0xfff) * 8);
    return true;
}

/// All stubs that are not bound yet lead to one place, which is told the slot.
const char* unbound_name(std::uintptr_t) noexcept { return nullptr; }

} // namespace libprofile
