#include "tools/code/elf_code.hpp"

#include "libprofile/base/dwarf_cursor.hpp"
#include "tools/code/frame_parts.hpp"

#include <algorithm>
#include <cstring>
#include <fcntl.h>
#include <gelf.h>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

namespace libprofile::tools {

ElfCode::ElfCode(const std::string& path) : file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    struct stat status {};
    if (file_ < 0 || ::fstat(file_, &status) != 0 || !S_ISREG(status.st_mode)) return; // opening a pipe would take for ever
    elf_version(EV_CURRENT);
    elf_.reset(elf_begin(file_, ELF_C_READ_MMAP, nullptr));
    read();
}

ElfCode::ElfCode(std::span<const unsigned char> file) {
    elf_version(EV_CURRENT);
    // libelf does not change a file that it only reads.
    if (!file.empty()) elf_.reset(elf_memory(const_cast<char*>(reinterpret_cast<const char*>(file.data())), file.size()));
    read();
}

ElfCode::~ElfCode() {
    elf_.reset();
    if (file_ >= 0) ::close(file_);
}

void ElfCode::read() {
    GElf_Ehdr header;
    std::size_t size = 0, count = 0;
    if (elf_ == nullptr || elf_kind(elf_.get()) != ELF_K_ELF || gelf_getehdr(elf_.get(), &header) == nullptr || header.e_machine != EM_X86_64) return;
    const auto* file = reinterpret_cast<const unsigned char*>(elf_rawfile(elf_.get(), &size));
    if (file == nullptr || elf_getphdrnum(elf_.get(), &count) != 0) return;
    std::uint64_t frame_header = 0;
    for (std::size_t i = 0; i < count; ++i) {
        GElf_Phdr segment;
        if (gelf_getphdr(elf_.get(), static_cast<int>(i), &segment) == nullptr) continue;
        if (segment.p_type == PT_GNU_EH_FRAME) frame_header = segment.p_vaddr;
        if (segment.p_type != PT_LOAD || segment.p_offset >= size) continue;
        const std::uint64_t stored = std::min({segment.p_filesz, segment.p_memsz, size - segment.p_offset});
        if (stored == 0 || segment.p_vaddr + stored < segment.p_vaddr) continue;
        segments_.push_back({segment.p_vaddr, segment.p_vaddr + stored, file + segment.p_offset, (segment.p_flags & PF_X) != 0, (segment.p_flags & PF_W) == 0});
    }
    const std::span<const unsigned char> head = bytes(frame_header);
    if (head.size() > 8 && head[0] == 1) {
        const auto memory = reinterpret_cast<std::uintptr_t>(head.data());
        DwarfCursor cursor(memory + 4, memory + head.size());
        const std::uintptr_t table = cursor.pointer(head[1], memory);
        const bool is_relative = (head[1] & pointer_encoding::relation_mask) != pointer_encoding::absolute;
        const std::uint64_t address = is_relative ? table - memory + frame_header : table;
        parts_ = frame_parts(bytes(address), address, file);
    }
    add_symbols();
    // A range wins that begins first; linkers leave none that overlap.
    std::erase_if(parts_, [&](const CodePart& part) { return !is_code(part.begin, part.end) || slot_of_stub(part.begin) != 0; });
    std::stable_sort(parts_.begin(), parts_.end(), [](const CodePart& a, const CodePart& b) { return a.begin < b.begin; });
    std::uint64_t last = 0;
    std::erase_if(parts_, [&](const CodePart& part) {
        const bool overlaps = part.begin < last;
        if (!overlaps) last = part.end;
        return overlaps;
    });
}

/// Functions without unwind information, as assembler has them; and away with the linker's stubs.
void ElfCode::add_symbols() {
    std::vector<CodePart> known = std::move(parts_);
    parts_.clear();
    std::vector<CodePart> stubs;
    for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf_.get(), section)) != nullptr;) {
        GElf_Shdr header;
        std::size_t names = 0;
        if (gelf_getshdr(section, &header) == nullptr) continue;
        if (header.sh_type == SHT_PROGBITS && elf_getshdrstrndx(elf_.get(), &names) == 0) {
            const char* name = elf_strptr(elf_.get(), names, header.sh_name);
            if (name != nullptr && std::string_view(name).starts_with(".plt")) stubs.push_back({header.sh_addr, header.sh_addr + header.sh_size, 0, false});
        }
        if (header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM) continue;
        Elf_Data* data = elf_getdata(section, nullptr);
        if (data == nullptr || header.sh_entsize == 0) continue;
        for (std::size_t i = 0, count = data->d_size / header.sh_entsize; i < count; ++i) {
            GElf_Sym symbol;
            if (gelf_getsym(data, static_cast<int>(i), &symbol) == nullptr) break;
            if (GELF_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF || symbol.st_size == 0) continue;
            if (symbol.st_value + symbol.st_size > symbol.st_value) parts_.push_back({symbol.st_value, symbol.st_value + symbol.st_size, 0, false});
        }
    }
    const auto by_begin = [](const CodePart& a, const CodePart& b) { return a.begin < b.begin; };
    std::sort(known.begin(), known.end(), by_begin);
    std::erase_if(parts_, [&](const CodePart& symbol) {
        const auto after = std::upper_bound(known.begin(), known.end(), symbol, by_begin);
        return (after != known.end() && after->begin < symbol.end) || (after != known.begin() && std::prev(after)->end > symbol.begin);
    });
    parts_.insert(parts_.end(), known.begin(), known.end());
    std::erase_if(parts_, [&](const CodePart& part) {
        return std::any_of(stubs.begin(), stubs.end(), [&](const CodePart& stub) { return part.begin >= stub.begin && part.begin < stub.end; });
    });
}

const ElfCode::Segment* ElfCode::segment_of(std::uint64_t address) const {
    for (const Segment& segment : segments_)
        if (address >= segment.begin && address < segment.end) return &segment;
    return nullptr;
}

bool ElfCode::is_code(std::uint64_t begin, std::uint64_t end) const {
    const Segment* segment = segment_of(begin);
    return segment != nullptr && segment->is_code && end > begin && end <= segment->end;
}

bool ElfCode::is_constant(std::uint64_t address) const {
    const Segment* segment = segment_of(address);
    return segment != nullptr && segment->is_constant;
}

const CodePart* ElfCode::part_of(std::uint64_t address) const {
    auto after = std::upper_bound(parts_.begin(), parts_.end(), address, [](std::uint64_t value, const CodePart& part) { return value < part.begin; });
    if (after == parts_.begin() || address >= std::prev(after)->end) return nullptr;
    return &*std::prev(after);
}

std::optional<std::uint64_t> ElfCode::address_of(std::uint64_t file_offset) const {
    std::size_t size = 0;
    const auto* file = elf_ == nullptr ? nullptr : reinterpret_cast<const unsigned char*>(elf_rawfile(elf_.get(), &size));
    for (const Segment& segment : segments_) {
        const auto first = static_cast<std::uint64_t>(segment.bytes - file);
        if (file_offset >= first && file_offset - first < segment.end - segment.begin) return segment.begin + (file_offset - first);
    }
    return std::nullopt;
}

std::span<const unsigned char> ElfCode::bytes(std::uint64_t address) const {
    const Segment* segment = segment_of(address);
    if (segment == nullptr) return {};
    return {segment->bytes + (address - segment->begin), static_cast<std::size_t>(segment->end - address)};
}

CodeAt ElfCode::at(std::uint64_t address, std::uint64_t end) const {
    const Segment* segment = segment_of(address);
    if (segment == nullptr || !segment->is_code || address >= end) return {};
    CodeAt out;
    out.bytes = segment->bytes + (address - segment->begin);
    const auto memory = reinterpret_cast<std::uintptr_t>(out.bytes);
    out.instruction = decode(memory, std::min(end, segment->end) - address);
    if (out.instruction.displacement_at != 0) out.instruction.operand += address - memory;
    if (out.instruction.target != 0) out.instruction.target += address - memory;
    return out;
}

void ElfCode::read_relocations() const {
    has_relocations_ = true;
    for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf_.get(), section)) != nullptr;) {
        GElf_Shdr header, symbols_header;
        if (gelf_getshdr(section, &header) == nullptr || header.sh_type != SHT_RELA || header.sh_entsize == 0) continue;
        Elf_Data* data = elf_getdata(section, nullptr);
        if (data == nullptr) continue;
        Elf_Scn* symbols_section = elf_getscn(elf_.get(), header.sh_link);
        Elf_Data* symbols = symbols_section == nullptr || symbols_section == section ? nullptr : elf_getdata(symbols_section, nullptr);
        if (symbols == nullptr || gelf_getshdr(symbols_section, &symbols_header) == nullptr || symbols_header.sh_type != SHT_DYNSYM) symbols = nullptr;
        for (std::size_t i = 0, count = data->d_size / header.sh_entsize; i < count; ++i) {
            GElf_Rela entry;
            if (gelf_getrela(data, static_cast<int>(i), &entry) == nullptr) break;
            const auto type = GELF_R_TYPE(entry.r_info);
            Relocation relocation{entry.r_offset, static_cast<std::uint64_t>(entry.r_addend), nullptr};
            if (type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT || type == R_X86_64_64) {
                GElf_Sym symbol;
                if (symbols == nullptr || gelf_getsym(symbols, static_cast<int>(GELF_R_SYM(entry.r_info)), &symbol) == nullptr) continue;
                relocation.symbol = elf_strptr(elf_.get(), symbols_header.sh_link, symbol.st_name);
                relocation.value = symbol.st_value == 0 ? 0 : symbol.st_value + relocation.value;
            } else if (type != R_X86_64_RELATIVE) {
                continue;
            }
            relocations_.push_back(relocation);
        }
    }
    std::sort(relocations_.begin(), relocations_.end(), [](const Relocation& a, const Relocation& b) { return a.at < b.at; });
}

const ElfCode::Relocation* ElfCode::relocation_at(std::uint64_t address) const {
    if (!has_relocations_ && elf_ != nullptr) read_relocations();
    const auto found =
        std::lower_bound(relocations_.begin(), relocations_.end(), address, [](const Relocation& a, std::uint64_t value) { return a.at < value; });
    return found == relocations_.end() || found->at != address ? nullptr : &*found;
}

std::optional<std::uint64_t> ElfCode::word(std::uint64_t address) const {
    if (const Relocation* relocation = relocation_at(address)) return relocation->value;
    const std::span<const unsigned char> stored = bytes(address);
    std::uint64_t value = 0;
    if (stored.size() < sizeof value) return std::nullopt;
    std::memcpy(&value, stored.data(), sizeof value);
    return value;
}

const char* ElfCode::symbol_in(std::uint64_t slot) const {
    const Relocation* relocation = relocation_at(slot);
    return relocation == nullptr ? nullptr : relocation->symbol;
}

std::uint64_t ElfCode::slot_of_stub(std::uint64_t address) const {
    CodeAt first = at(address, address + 16);
    if (first.instruction.kind == Instruction::Kind::Nop) first = at(address + first.instruction.length, address + 16); // endbr64
    return first.instruction.kind == Instruction::Kind::IndirectJump ? first.instruction.operand : 0;
}

std::uint64_t ElfCode::callee(const Instruction& call) const {
    if (call.target != 0 && part_of(call.target) != nullptr) return call.target;
    const std::uint64_t slot = call.target != 0 ? slot_of_stub(call.target) : call.operand;
    const Relocation* relocation = slot == 0 ? nullptr : relocation_at(slot);
    return relocation != nullptr && part_of(relocation->value) != nullptr ? relocation->value : 0;
}

} // namespace libprofile::tools
