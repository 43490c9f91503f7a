#include "tools/code/frame_parts.hpp"

#include "libprofile/base/dwarf_cursor.hpp"

#include <elfutils/libdw.h>
#include <map>

namespace libprofile::tools {

namespace {

/// What the entries of functions share.
struct Common {
    bool is_known = false;
    bool has_sizes = false; // of the further data
    std::uint8_t address_encoding = pointer_encoding::absolute;
    std::uint8_t landing_encoding = pointer_encoding::omitted;
};

Common read_common(const Dwarf_CIE& entry) {
    Common common;
    const char* letters = entry.augmentation;
    common.has_sizes = *letters == 'z';
    if (*letters == '\0') return {true, false, pointer_encoding::absolute, pointer_encoding::omitted};
    if (!common.has_sizes) return common;
    const auto start = reinterpret_cast<std::uintptr_t>(entry.augmentation_data);
    DwarfCursor data(start, start + entry.augmentation_data_size);
    while (*++letters != '\0') {
        switch (*letters) {
        case 'R': common.address_encoding = data.read<std::uint8_t>(); break;
        case 'L': common.landing_encoding = data.read<std::uint8_t>(); break;
        case 'P': {
            const auto encoding = data.read<std::uint8_t>();
            data.pointer(encoding & ~pointer_encoding::indirect, 0);
            break;
        }
        case 'S':
        case 'B': break;
        default: return common;
        }
    }
    common.is_known = !data.failed();
    return common;
}

/// Whether a frame stands already at the first instruction.
bool begins_inside(DwarfCursor program) {
    const auto first = program.at_end() ? std::uint8_t{0} : program.read<std::uint8_t>();
    return first >= 0x80 || (first >= 0x0c && first <= 0x0e); // saved registers; DW_CFA_def_cfa, _register, _offset
}

} // namespace

std::vector<CodePart> frame_parts(std::span<const unsigned char> table, std::uint64_t address, const unsigned char* identity) {
    std::vector<CodePart> parts;
    std::map<Dwarf_Off, Common> commons;
    Elf_Data data{};
    data.d_buf = const_cast<unsigned char*>(table.data()); // it is only read
    data.d_size = table.size();
    data.d_type = ELF_T_BYTE;
    const auto memory = reinterpret_cast<std::uintptr_t>(table.data());
    // In memory, relative pointers count from where the file lies there.
    const auto read_pointer = [&](DwarfCursor& cursor, std::uint8_t encoding) -> std::uint64_t {
        const std::uintptr_t value = cursor.pointer(encoding, 0);
        const bool is_relative = (encoding & pointer_encoding::relation_mask) == pointer_encoding::pc_relative && value != 0;
        return is_relative ? value - memory + address : value;
    };
    Dwarf_Off next = 0;
    for (Dwarf_Off at = 0;; at = next) {
        Dwarf_CFI_Entry entry;
        const int found = dwarf_next_cfi(identity, &data, true, at, &next, &entry);
        if (found > 0 || next <= at || next == static_cast<Dwarf_Off>(-1)) break;
        if (found < 0 || dwarf_cfi_cie_p(&entry)) continue;
        auto common = commons.find(entry.fde.CIE_pointer);
        if (common == commons.end()) {
            Dwarf_CFI_Entry shared;
            Dwarf_Off unused = 0;
            const bool is_read = entry.fde.CIE_pointer < table.size() && dwarf_next_cfi(identity, &data, true, entry.fde.CIE_pointer, &unused, &shared) == 0 &&
                                 dwarf_cfi_cie_p(&shared);
            common = commons.emplace(entry.fde.CIE_pointer, is_read ? read_common(shared.cie) : Common()).first;
        }
        if (!common->second.is_known) continue;
        DwarfCursor cursor(reinterpret_cast<std::uintptr_t>(entry.fde.start), reinterpret_cast<std::uintptr_t>(entry.fde.end));
        CodePart part;
        part.begin = read_pointer(cursor, common->second.address_encoding);
        part.end = part.begin + cursor.pointer(common->second.address_encoding & pointer_encoding::format_mask, 0);
        if (common->second.has_sizes) {
            DwarfCursor further = cursor.part(cursor.unsigned_leb());
            if (common->second.landing_encoding != pointer_encoding::omitted) part.landing_table = read_pointer(further, common->second.landing_encoding);
        }
        part.is_inner = begins_inside(cursor);
        if (!cursor.failed() && part.begin < part.end && part.begin != 0) parts.push_back(part);
    }
    return parts;
}

} // namespace libprofile::tools
