#include "libprofile/mpi/weak_references.hpp"

#include "libprofile/base/arch/processor.hpp"
#include "libprofile/base/loaded_objects.hpp"
#include "libprofile/mpi/mpi_modules.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

namespace libprofile {

namespace {

using Question = bool (*)(const char* name);
std::atomic<Question> question{nullptr}; // is_missing
std::atomic<std::uint32_t> seen_arrivals{0};

/// What the loader needed of a module to bind it.
class Bindings {
  public:
    explicit Bindings(const dl_phdr_info& info) : base_(info.dlpi_addr) {
        const ElfW(Dyn)* entry = nullptr;
        for (unsigned i = 0; i < info.dlpi_phnum; ++i) {
            const ElfW(Phdr)& header = info.dlpi_phdr[i];
            if (header.p_type == PT_DYNAMIC) entry = reinterpret_cast<const ElfW(Dyn)*>(base_ + header.p_vaddr);
            if (header.p_type == PT_GNU_RELRO) read_only_ = base_ + header.p_vaddr, read_only_end_ = read_only_ + header.p_memsz;
        }
        for (; entry != nullptr && entry->d_tag != DT_NULL; ++entry) {
            if (entry->d_tag == DT_SYMTAB) symbols_ = reinterpret_cast<const ElfW(Sym)*>(absolute(entry->d_un.d_ptr));
            if (entry->d_tag == DT_STRTAB) names_ = reinterpret_cast<const char*>(absolute(entry->d_un.d_ptr));
            if (entry->d_tag == DT_RELA) relocations_ = reinterpret_cast<const ElfW(Rela)*>(absolute(entry->d_un.d_ptr));
            if (entry->d_tag == DT_RELACOUNT) relative_ = entry->d_un.d_val;
            if (entry->d_tag == DT_RELASZ) count_ = entry->d_un.d_val / sizeof(ElfW(Rela));
        }
    }

    /// Calls visit(place, name) for each weak reference to a function of MPI.
    template <class Visit> void for_each_weak(Visit visit) const {
        if (symbols_ == nullptr || names_ == nullptr || relocations_ == nullptr) return;
        for (std::size_t i = relative_; i < count_; ++i) {
            const ElfW(Rela)& relocation = relocations_[i];
            if (!is_address_relocation(ELF64_R_TYPE(relocation.r_info)) || relocation.r_addend != 0) continue;
            const ElfW(Sym)& symbol = symbols_[ELF64_R_SYM(relocation.r_info)];
            if (ELF64_ST_BIND(symbol.st_info) != STB_WEAK || symbol.st_shndx != SHN_UNDEF) continue;
            const char* name = names_ + symbol.st_name;
            if (std::strncmp(name, "MPI_", 4) != 0 && std::strncmp(name, "PMPI_", 5) != 0) continue;
            visit(reinterpret_cast<void**>(base_ + relocation.r_offset), name);
        }
    }
    /// After the loader had written there.
    bool is_read_only(const void* place) const {
        const auto address = reinterpret_cast<std::uintptr_t>(place);
        return read_only_ <= address && address < read_only_end_;
    }

  private:
    /// The loader makes addresses of the dynamic section absolute where it can write there.
    std::uintptr_t absolute(std::uintptr_t address) const { return address < base_ ? base_ + address : address; }

    std::uintptr_t base_, read_only_ = 0, read_only_end_ = 0;
    const ElfW(Sym) * symbols_ = nullptr;
    const char* names_ = nullptr;
    const ElfW(Rela) * relocations_ = nullptr;
    std::size_t count_ = 0, relative_ = 0; // those without a symbol come first
};

void clear(void** place, bool is_read_only) {
    const auto page = static_cast<std::uintptr_t>(getpagesize());
    void* const start = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(place) & ~(page - 1));
    if (is_read_only && mprotect(start, page, PROT_READ | PROT_WRITE) != 0) return;
    __atomic_store_n(place, nullptr, __ATOMIC_RELAXED);
    if (is_read_only) mprotect(start, page, PROT_READ);
}

} // namespace

void clear_weak_references(bool (*is_missing)(const char* name)) noexcept {
    question.store(is_missing, std::memory_order_relaxed);
    const auto visit = [](dl_phdr_info* info, std::size_t, void* data) {
        const link_map* own = module_of(reinterpret_cast<const void*>(&clear_weak_references));
        const Bindings bindings(*info);
        bindings.for_each_weak([&](void** place, const char* name) {
            if (*place != nullptr && module_of(*place) == own && (*static_cast<Question*>(data))(name)) clear(place, bindings.is_read_only(place));
        });
        return 0;
    };
    visit_loaded_objects(visit, &is_missing);
}

void clear_new_weak_references(std::uint32_t arrivals) noexcept {
    const Question is_missing = question.load(std::memory_order_relaxed);
    if (is_missing != nullptr && seen_arrivals.exchange(arrivals, std::memory_order_relaxed) != arrivals) clear_weak_references(is_missing);
}

} // namespace libprofile
