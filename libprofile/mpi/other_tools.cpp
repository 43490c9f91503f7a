#include "libprofile/mpi/other_tools.hpp"

#include "libprofile/mpi/mpi_modules.hpp"
#include "libprofile/mpi/tool_modules.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <dlfcn.h>
#include <link.h>

namespace libprofile::other_tools {

namespace {

std::atomic<const char*> bypassing{nullptr};

/// Undefined symbols of a module, as its dynamic section describes them. Those of any GNU hash table come first.
class Imports {
  public:
    explicit Imports(const link_map& module) {
        for (const ElfW(Dyn)* entry = module.l_ld; entry->d_tag != DT_NULL; ++entry) {
            const auto address = reinterpret_cast<const void*>(entry->d_un.d_ptr); // made absolute by the loader
            if (entry->d_tag == DT_SYMTAB)
                symbols_ = static_cast<const ElfW(Sym)*>(address);
            else if (entry->d_tag == DT_STRTAB)
                names_ = static_cast<const char*>(address);
            else if (entry->d_tag == DT_GNU_HASH || (entry->d_tag == DT_HASH && count_ == 0))
                count_ = static_cast<const std::uint32_t*>(address)[1]; // first hashed symbol; or all symbols
        }
    }
    bool has(const char* name) const {
        for (std::size_t i = 1; symbols_ != nullptr && names_ != nullptr && i < count_; ++i)
            if (symbols_[i].st_shndx == SHN_UNDEF && std::strcmp(names_ + symbols_[i].st_name, name) == 0) return true;
        return false;
    }
    /// Any function of MPI's profiling interface: an MPI library has its own, only its users lack them.
    bool has_profiling_interface() const {
        for (std::size_t i = 1; symbols_ != nullptr && names_ != nullptr && i < count_; ++i)
            if (symbols_[i].st_shndx == SHN_UNDEF && std::strncmp(names_ + symbols_[i].st_name, "PMPI_", 5) == 0) return true;
        return false;
    }

  private:
    const ElfW(Sym) * symbols_ = nullptr;
    const char* names_ = nullptr;
    std::size_t count_ = 0;
};

/// The tool's MPI_X calls PMPI_X, or we call its PMPI_X.
bool hands_on_to_us(const link_map& module, const Imports& imports, const char* name) {
    char profiling_name[64] = "P";
    std::strncpy(profiling_name + 1, name, sizeof profiling_name - 2);
    if (imports.has(profiling_name)) return true;
    const void* next = dlsym(RTLD_NEXT, profiling_name);
    return next != nullptr && module_of(next) == &module;
}

} // namespace

void* next_function(const char* name) {
    void* function = dlsym(RTLD_NEXT, name);
    const link_map* module = function != nullptr ? module_of(function) : nullptr;
    if (module == nullptr || is_main_mpi_library(module)) return nullptr;
    const Imports imports(*module);
    // Names alone do not tell: mpiP is libmpiP.so.
    if (is_mpi_library_address(function) && !imports.has_profiling_interface()) return nullptr;
    if (!remember(module)) return nullptr;
    if (name[0] == 'M' && !hands_on_to_us(*module, imports, name)) bypassing.store(module->l_name, std::memory_order_relaxed);
    return function;
}

const char* bypassing_tool() { return bypassing.load(std::memory_order_relaxed); }

} // namespace libprofile::other_tools
