#include "libprofile/code/module_constants.hpp"

#include "libprofile/callpath/load_map.hpp"

namespace libprofile {

bool are_constants(std::uintptr_t address, std::size_t size) noexcept {
    const std::uint32_t number = load_map.find(address);
    if (number == LoadMap::none || load_map[number].headers == nullptr) return false;
    const Module& module = load_map[number];
    for (std::uint16_t i = 0; i < module.header_count; ++i) {
        const ElfW(Phdr)& header = module.headers[i];
        if (header.p_type != PT_LOAD || (header.p_flags & PF_R) == 0 || (header.p_flags & PF_W) != 0) continue;
        const std::uintptr_t start = module.bias + header.p_vaddr;
        if (address >= start && address - start < header.p_filesz && size <= header.p_filesz - (address - start)) return true;
    }
    return false;
}

} // namespace libprofile
