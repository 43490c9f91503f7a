#include "libprofile/callpath/dynamic_symbols.hpp"

#include <cstring>

namespace libprofile {

namespace {

struct Tables {
    const ElfW(Sym) * symbols = nullptr;
    const char* names = nullptr;
    const std::uint32_t* hash = nullptr;
    const ElfW(Rela) * bound = nullptr;
    std::size_t bound_size = 0; // bytes
};

/// A DT_GNU_HASH section: symbols from `first` on, sorted by bucket; an odd number ends a bucket's chain.
struct GnuHash {
    explicit GnuHash(const std::uint32_t* section)
        : buckets(section[0]), first(section[1]), bucket(section + 4 + section[2] * (sizeof(ElfW(Addr)) / 4)), chain_(bucket + buckets) {}
    /// The entry of symbol `index`, which is at least `first`.
    std::uint32_t chain(std::uint32_t index) const { return chain_[index - first]; }

    std::uint32_t buckets;
    std::uint32_t first;
    const std::uint32_t* bucket;

  private:
    const std::uint32_t* chain_;
};

Tables find_tables(std::uintptr_t bias, const ElfW(Phdr) * headers, unsigned count) {
    Tables tables;
    for (unsigned i = 0; i < count; ++i) {
        if (headers[i].p_type != PT_DYNAMIC) continue;
        for (const auto* entry = reinterpret_cast<const ElfW(Dyn)*>(bias + headers[i].p_vaddr); entry->d_tag != DT_NULL; ++entry) {
            // glibc's loader has replaced virtual addresses by real ones here.
            const std::uintptr_t address = entry->d_un.d_ptr < bias ? bias + entry->d_un.d_ptr : entry->d_un.d_ptr;
            if (entry->d_tag == DT_SYMTAB) tables.symbols = reinterpret_cast<const ElfW(Sym)*>(address);
            if (entry->d_tag == DT_STRTAB) tables.names = reinterpret_cast<const char*>(address);
            if (entry->d_tag == DT_JMPREL) tables.bound = reinterpret_cast<const ElfW(Rela)*>(address);
            if (entry->d_tag == DT_PLTRELSZ) tables.bound_size = entry->d_un.d_val;
            if (entry->d_tag == DT_GNU_HASH) tables.hash = reinterpret_cast<const std::uint32_t*>(address);
        }
    }
    return tables;
}

} // namespace

std::uintptr_t find_dynamic_symbol(std::uintptr_t bias, const ElfW(Phdr) * headers, unsigned count, const char* name) noexcept {
    const Tables tables = find_tables(bias, headers, count);
    if (tables.symbols == nullptr || tables.names == nullptr || tables.hash == nullptr) return 0;
    const GnuHash table(tables.hash);
    std::uint32_t hash = 5381;
    for (const char* p = name; *p != 0; ++p) hash = hash * 33 + static_cast<unsigned char>(*p);
    std::uint32_t index = table.buckets == 0 ? 0 : table.bucket[hash % table.buckets];
    if (index < table.first) return 0;
    for (;; ++index) {
        const std::uint32_t found = table.chain(index);
        const ElfW(Sym)& symbol = tables.symbols[index];
        if ((found | 1) == (hash | 1) && symbol.st_shndx != SHN_UNDEF && std::strcmp(tables.names + symbol.st_name, name) == 0) return bias + symbol.st_value;
        if ((found & 1) != 0) return 0;
    }
}

const char* find_bound_name(std::uintptr_t bias, const ElfW(Phdr) * headers, unsigned count, std::uint32_t index) noexcept {
    const Tables tables = find_tables(bias, headers, count);
    if (tables.symbols == nullptr || tables.names == nullptr || tables.bound == nullptr || index >= tables.bound_size / sizeof *tables.bound) return nullptr;
    return tables.names + tables.symbols[ELF64_R_SYM(tables.bound[index].r_info)].st_name;
}

bool find_dynamic_function(std::uintptr_t bias, const ElfW(Phdr) * headers, unsigned count, std::uintptr_t address, DynamicFunction& function) noexcept {
    const Tables tables = find_tables(bias, headers, count);
    if (tables.symbols == nullptr || tables.hash == nullptr) return false;
    // The hash table holds all defined symbols. The last of them ends the chain of the highest bucket.
    const GnuHash table(tables.hash);
    std::uint32_t last = 0;
    for (std::uint32_t i = 0; i < table.buckets; ++i)
        if (table.bucket[i] > last) last = table.bucket[i];
    if (last < table.first) return false;
    while ((table.chain(last) & 1) == 0) ++last;
    for (std::uint32_t i = table.first; i <= last; ++i) {
        const ElfW(Sym)& symbol = tables.symbols[i];
        if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF) continue;
        const std::uintptr_t start = bias + symbol.st_value;
        if (address < start || address - start >= symbol.st_size) continue;
        function = {start, start + symbol.st_size};
        return true;
    }
    return false;
}

} // namespace libprofile
