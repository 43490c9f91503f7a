#include "libprofile/callpath/function_symbols.hpp"

#include "libprofile/callpath/load_map.hpp"

#include <cstdio>
#include <cstring>

namespace libprofile {

namespace {

constexpr std::uint64_t largest_headers = 4 << 20;
constexpr std::uint64_t largest_table = 256 << 20;

/// The path at which a distribution installs a module's debug information.
void debug_path(const Module& module, char (&path)[128]) {
    char* at = path + std::snprintf(path, sizeof path, "/usr/lib/debug/.build-id/");
    for (unsigned i = 0; i < module.build_id_size; ++i) at += std::snprintf(at, 4, i == 0 ? "%02x/" : "%02x", static_cast<unsigned>(module.build_id[i]));
    std::memcpy(at, ".debug", 7);
}

} // namespace

FunctionSymbols::FunctionSymbols(const Module& module) noexcept {
    // /proc/self/exe is the program even if its file was renamed.
    own_.open(module.is_executable ? "/proc/self/exe" : module.path);
    has_all_ = choose(own_, SHT_SYMTAB);
    if (!has_all_ && module.build_id_size > 1) {
        char path[128];
        debug_path(module, path);
        debug_.open(path);
        has_all_ = choose(debug_, SHT_SYMTAB);
    }
    if (!has_all_) choose(own_, SHT_DYNSYM);
}

/// Chooses the table of this type in `file`, if there is one.
bool FunctionSymbols::choose(Pieces& file, std::uint32_t type) noexcept {
    Elf64_Ehdr header{};
    if (!file.read(0, &header, sizeof header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_shentsize != sizeof(Elf64_Shdr))
        return false;
    const auto* sections = reinterpret_cast<const Elf64_Shdr*>(file.piece(header.e_shoff, std::uint64_t{header.e_shnum} * sizeof(Elf64_Shdr), largest_headers));
    for (unsigned i = 0; sections != nullptr && i < header.e_shnum; ++i) {
        const Elf64_Shdr& section = sections[i];
        if (section.sh_type != type || section.sh_link >= header.e_shnum || section.sh_entsize != sizeof(Elf64_Sym)) continue;
        chosen_ = &file;
        table_ = section;
        texts_ = sections[section.sh_link];
        return true;
    }
    return false;
}

bool FunctionSymbols::read() noexcept {
    if (chosen_ == nullptr) return false;
    symbols_ = reinterpret_cast<const Elf64_Sym*>(chosen_->piece(table_.sh_offset, table_.sh_size, largest_table));
    names_ = symbols_ == nullptr ? nullptr : chosen_->piece(texts_.sh_offset, texts_.sh_size, largest_table);
    if (names_ == nullptr) chosen_ = nullptr;
    return names_ != nullptr;
}

bool FunctionSymbols::next(FunctionSymbol& symbol) noexcept {
    if (names_ == nullptr && !read()) return false;
    const std::uint64_t count = table_.sh_size / sizeof(Elf64_Sym);
    while (next_ < count) {
        const Elf64_Sym& found = symbols_[next_++];
        if (ELF64_ST_TYPE(found.st_info) != STT_FUNC || found.st_shndx == SHN_UNDEF || found.st_name >= texts_.sh_size) continue;
        symbol = {names_ + found.st_name, found.st_value, found.st_size};
        return true;
    }
    return false;
}

} // namespace libprofile
