#include "libprofile/code/code_range.hpp"

#include "libprofile/callpath/load_map.hpp"
#include "libprofile/callpath/unwind_table.hpp"

namespace libprofile {

bool find_function_code(std::uintptr_t address, CodeRange& range) noexcept {
    UnwindSection section;
    UnwindEntry entry;
    if (!find_unwind_section(address, section) || find_unwind_entry(section, address, entry) != EntrySearch::Found) return false;
    if (address < entry.start || address >= entry.end) return false;
    // Damaged tables must not lead to memory that is no code.
    const std::uint32_t number = load_map.find(address);
    if (number == LoadMap::none || load_map[number].headers == nullptr) return false;
    const Module& module = load_map[number];
    for (std::uint16_t i = 0; i < module.header_count; ++i) {
        const ElfW(Phdr)& header = module.headers[i];
        if (header.p_type != PT_LOAD || (header.p_flags & PF_X) == 0 || (header.p_flags & PF_R) == 0) continue;
        const std::uintptr_t start = module.bias + header.p_vaddr;
        if (entry.start < start || entry.end > start + header.p_memsz || entry.end <= entry.start) continue;
        range = {entry.start, entry.end};
        return true;
    }
    return false;
}

} // namespace libprofile
