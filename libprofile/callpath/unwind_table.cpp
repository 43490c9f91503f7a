#include "libprofile/callpath/unwind_table.hpp"

#include "libprofile/callpath/arch/machine.hpp"

#include <elf.h>
#include <link.h>
#include <sys/auxv.h>

namespace libprofile {

namespace {

constexpr std::uint32_t longest_walk = 1u << 16; // entries; a few milliseconds, once per address
constexpr std::uint32_t extended_length = 0xffffffffu;
constexpr std::uintptr_t page = 4096;

/// The readable segment around `address`, from a module's program headers.
bool find_in_headers(std::uintptr_t headers, unsigned count, std::uintptr_t bias, std::uintptr_t address, UnwindSection& segment) {
    for (unsigned i = 0; i < count; ++i) {
        ElfW(Phdr) header;
        std::memcpy(&header, reinterpret_cast<const void*>(headers + i * sizeof header), sizeof header);
        if (header.p_type != PT_LOAD || (header.p_flags & PF_R) == 0) continue;
        const std::uintptr_t start = bias + header.p_vaddr;
        if (address < start || address - start >= header.p_memsz) continue;
        segment.start = start;
        segment.end = start + header.p_memsz;
        return true;
    }
    return false;
}

/// The next entry's contents, without its length. An empty entry marks the end. 64-bit entries do not occur in practice and are only
/// skipped (their contents are empty too, but `ended` is false).
DwarfCursor next_entry(DwarfCursor& cursor, bool& ended) {
    const auto length = cursor.read<std::uint32_t>();
    ended = length == 0 && !cursor.failed();
    if (length != extended_length) return cursor.part(length);
    cursor.skip(cursor.read<std::uint64_t>());
    return {};
}

bool read_common_entry(const UnwindSection& section, std::uintptr_t address, UnwindEntry& entry) {
    if (address < section.start || address >= section.end) return false;
    DwarfCursor outer(address, section.end);
    bool ended = false;
    DwarfCursor cursor = next_entry(outer, ended);
    if (cursor.at_end() || cursor.read<std::uint32_t>() != 0) return false; // an id of 0 makes it a CIE
    const auto version = cursor.read<std::uint8_t>();
    if (version != 1 && version != 3 && version != 4) return false;
    char augmentation[8] = {};
    for (unsigned i = 0; (augmentation[i] = cursor.read<char>()) != 0;)
        if (++i == sizeof augmentation) return false;
    // Version 4 gives the sizes of addresses and segment selectors.
    if (version == 4 && (cursor.read<std::uint8_t>() != sizeof(std::uintptr_t) || cursor.read<std::uint8_t>() != 0)) return false;
    entry.code_factor = cursor.unsigned_leb();
    entry.data_factor = cursor.signed_leb();
    entry.return_address_register = version == 1 ? cursor.read<std::uint8_t>() : cursor.unsigned_leb();
    if (augmentation[0] != 0) {
        if (augmentation[0] != 'z') return false; // before GCC 3
        entry.has_augmentation_size = true;
        DwarfCursor data = cursor.part(cursor.unsigned_leb());
        for (const char* letter = augmentation + 1; *letter != 0; ++letter) {
            switch (*letter) {
            case 'R': entry.encoding = data.read<std::uint8_t>(); break;
            case 'L': entry.exceptions_encoding = data.read<std::uint8_t>(); break;
            case 'S': entry.is_signal_frame = true; break;
            case 'P': {
                const auto encoding = data.read<std::uint8_t>();
                if (encoding == pointer_encoding::omitted) break;
                entry.personality = data.pointer(encoding, 0);
                entry.personality_is_indirect = (encoding & pointer_encoding::indirect) != 0;
                break;
            }
            case 'B': // return addresses are signed with the other key
                if (!has_signed_returns) return false;
                entry.is_signed_by_key_b = true;
                break;
            default: return false;
            }
        }
        if (data.failed()) return false;
    }
    entry.common_program = cursor;
    return !cursor.failed();
}

/// Reads the address of the language's own table. Unwinding does without it.
void read_exceptions(DwarfCursor data, UnwindEntry& entry) {
    if (entry.exceptions_encoding == pointer_encoding::omitted) return;
    entry.exceptions = data.pointer(entry.exceptions_encoding, 0);
    entry.is_exceptions_known = !data.failed() && (entry.exceptions_encoding & pointer_encoding::indirect) == 0;
}

/// Reads the FDE at `address`, and its CIE.
bool read_entry(const UnwindSection& section, std::uintptr_t address, UnwindEntry& entry) {
    if (address < section.start || address >= section.end) return false;
    DwarfCursor outer(address, section.end);
    bool ended = false;
    DwarfCursor cursor = next_entry(outer, ended);
    if (cursor.at_end()) return false;
    const std::uintptr_t position = cursor.position();
    const auto distance = cursor.read<std::uint32_t>(); // back to the CIE
    entry = {};
    if (distance == 0 || distance > position || !read_common_entry(section, position - distance, entry)) return false;
    if ((entry.encoding & pointer_encoding::indirect) != 0) return false;
    entry.start = cursor.pointer(entry.encoding, 0);
    entry.end = entry.start + cursor.pointer(entry.encoding & pointer_encoding::format_mask, 0);
    if (entry.has_augmentation_size) read_exceptions(cursor.part(cursor.unsigned_leb()), entry);
    entry.program = cursor;
    return !cursor.failed() && entry.start <= entry.end;
}

EntrySearch walk(const UnwindSection& section, std::uintptr_t frames, std::uintptr_t address, UnwindEntry& entry) {
    if (frames < section.start || frames >= section.end) return EntrySearch::Damaged;
    DwarfCursor cursor(frames, section.end);
    bool all_read = true; // else the address may lie in an entry that could not be read
    for (std::uint32_t i = 0; i < longest_walk && !cursor.at_end(); ++i) {
        const std::uintptr_t position = cursor.position();
        bool ended = false;
        DwarfCursor contents = next_entry(cursor, ended);
        if (ended) return all_read ? EntrySearch::Missing : EntrySearch::Damaged;
        if (contents.at_end() || contents.read<std::uint32_t>() == 0) continue; // a CIE
        if (!read_entry(section, position, entry))
            all_read = false;
        else if (entry.start <= address && address < entry.end)
            return EntrySearch::Found;
    }
    return EntrySearch::Damaged; // no end mark
}

/// A row of the sorted table: (start of the code, entry), both relative to the header.
struct TableRow {
    std::int32_t code;
    std::int32_t entry;
};

} // namespace

/// A module may have unreadable holes between its segments, so the segment is looked up in the program headers, which lie in the first
/// page. A module that hides them is taken as a whole. For an executable with a hole, the loader gives only the segment with the code; the
/// kernel tells where its headers are.
bool find_segment(const LoadedObject& object, std::uintptr_t address, UnwindSection& segment) noexcept {
    const std::uintptr_t bias = object.bias;
    if (object.is_executable) return find_in_headers(getauxval(AT_PHDR), static_cast<unsigned>(getauxval(AT_PHNUM)), bias, address, segment);
    segment.start = object.start;
    segment.end = object.end;
    if (address < segment.start || address >= segment.end || segment.end - segment.start < page) return false;
    ElfW(Ehdr) head;
    std::memcpy(&head, reinterpret_cast<const void*>(object.start), sizeof head);
    if (std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_phentsize != sizeof(ElfW(Phdr)) || head.e_phoff > page ||
        head.e_phoff + head.e_phnum * sizeof(ElfW(Phdr)) > page)
        return true;
    const UnwindSection whole = segment;
    return find_in_headers(segment.start + head.e_phoff, head.e_phnum, bias, address, segment) && segment.start >= whole.start &&
           segment.end - whole.start <= whole.end - whole.start;
}

bool find_segment(std::uintptr_t address, UnwindSection& segment) noexcept {
    LoadedObject object;
    return find_loaded_object(address, object) && find_segment(object, address, segment);
}

bool find_unwind_section(std::uintptr_t address, UnwindSection& section) noexcept {
    LoadedObject object;
    if (!find_loaded_object(address, object)) return false;
    section.header = object.unwind_header;
    return section.header != 0 && find_segment(object, section.header, section);
}

EntrySearch find_unwind_entry(const UnwindSection& section, std::uintptr_t address, UnwindEntry& entry) noexcept {
    if (section.header < section.start) return EntrySearch::Damaged;
    DwarfCursor cursor(section.header, section.end);
    if (cursor.read<std::uint8_t>() != 1) return EntrySearch::Damaged; // there is no other version
    const auto frames_encoding = cursor.read<std::uint8_t>();
    const auto count_encoding = cursor.read<std::uint8_t>();
    const auto table_encoding = cursor.read<std::uint8_t>();
    std::uintptr_t frames = 0;
    if (frames_encoding != pointer_encoding::omitted) frames = cursor.pointer(frames_encoding, section.header);
    if (cursor.failed()) return EntrySearch::Damaged;
    if (count_encoding == pointer_encoding::omitted || table_encoding != (pointer_encoding::data_relative | pointer_encoding::sdata4))
        return walk(section, frames, address, entry);

    const std::uint64_t count = cursor.pointer(count_encoding & pointer_encoding::format_mask, 0);
    if (cursor.failed() || count > cursor.left() / sizeof(TableRow)) return EntrySearch::Damaged;
    const std::uintptr_t table = cursor.position();
    const auto wanted = static_cast<std::int64_t>(address - section.header);
    const auto row = [table](std::uint64_t i) {
        TableRow result;
        std::memcpy(&result, reinterpret_cast<const void*>(table + i * sizeof result), sizeof result);
        return result;
    };
    std::uint64_t first = 0; // of the rows that begin after the address
    for (std::uint64_t end = count; first < end;) {
        const std::uint64_t middle = first + (end - first) / 2;
        if (row(middle).code <= wanted)
            first = middle + 1;
        else
            end = middle;
    }
    if (first == 0) return EntrySearch::Missing;
    const auto offset = static_cast<std::uint64_t>(std::int64_t{row(first - 1).entry});
    if (!read_entry(section, section.header + offset, entry)) return EntrySearch::Damaged;
    return entry.start <= address && address < entry.end ? EntrySearch::Found : EntrySearch::Missing;
}

} // namespace libprofile
