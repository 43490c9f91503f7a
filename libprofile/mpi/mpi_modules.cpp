#include "libprofile/mpi/mpi_modules.hpp"

#include "libprofile/base/loaded_objects.hpp"
#include "libprofile/base/real_calls.hpp"
#include "libprofile/mpi/tool_modules.hpp"

#include <atomic>
#include <cstddef>
#include <cstring>
#include <dlfcn.h>
#include <link.h>
#include <string_view>

namespace libprofile {

namespace {

std::atomic<const link_map*> main_library; // the one that find_mpi_library chose
std::atomic<const link_map*> own_library;  // libprofile.so
std::atomic<unsigned long long> searched;  // loads at the last search in vain

std::string_view base_name(const char* path) {
    const char* slash = std::strrchr(path, '/');
    return slash == nullptr ? path : slash + 1;
}

template <std::size_t Count> bool starts_with_any(std::string_view name, const std::string_view (&prefixes)[Count]) {
    for (const std::string_view prefix : prefixes)
        if (name.starts_with(prefix)) return true;
    return false;
}

/// Language bindings: C, C++, Fortran or Java code of the application made a call that comes from here.
constexpr std::string_view bindings[] = {
    "libmpi_mpifh", "libmpi_usempi", "libmpi_cxx",  "libmpi++",  "libmpi_java", // Open MPI
    "libmpichfort", "libmpichcxx",   "libmpichf90", "libfmpich",                // MPICH as packaged by Debian, older MPICH
    "libmpifort",   "libmpicxx",     "libmpif77",   "libmpif90",                // MPICH and Intel MPI
    "libmpi_ilp64",                                                             // Intel MPI: Fortran with integers of 8 bytes
};

/// The MPI library and what it calls back through.
constexpr std::string_view companions[] = {
    "libmpi", "libpmpi", "mca_",   "libmca_", "libopen_mpi", "libopen-rte", "libopen-pal", "libprrte", "libpmix", "libromio", "liboshmem",
    "libucp", "libucs",  "libuct", "libucm",  "libucc",      "libfabric",   "libhcoll",    "libsharp", "libpsm",  "libpmi",   "libcoll",
};

constexpr std::size_t max_candidates = 512;

/// Modules that may be the MPI library. Their names stay where they are while they are loaded.
struct Candidates {
    const char* paths[max_candidates];
    std::size_t count = 0;
    bool any_name = false;
};

int collect(dl_phdr_info* info, std::size_t, void* data) {
    Candidates& candidates = *static_cast<Candidates*>(data);
    if (info->dlpi_name == nullptr || info->dlpi_name[0] == '\0') return 0; // the program itself
    if (!candidates.any_name && !base_name(info->dlpi_name).starts_with("libmpi")) return 0;
    if (candidates.count < max_candidates) candidates.paths[candidates.count++] = info->dlpi_name;
    return 0;
}

/// The library that defines PMPI_Init: the module or one that it depends on (from a binding to its library).
/// @param wanted it must be this one, unless null
void* library_of(const char* path, const link_map* wanted) {
    void* const module = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
    if (module == nullptr) return nullptr;
    void* library = nullptr;
    const void* init = dlsym(module, "PMPI_Init");
    const link_map* owner = init != nullptr ? module_of(init) : nullptr;
    const bool is_wanted = wanted == nullptr || owner == wanted;
    if (owner != nullptr && is_wanted && owner != own_library.load(std::memory_order_acquire)) { // a plug-in may be linked with us
        library = dlopen(owner->l_name, RTLD_LAZY | RTLD_NOLOAD);
        main_library.store(owner, std::memory_order_release);
    }
    real_calls().dlclose(module);
    return library;
}

/// Number of modules loaded so far, also those unloaded since.
int count_loads(dl_phdr_info* info, std::size_t, void* data) {
    *static_cast<unsigned long long*>(data) = info->dlpi_adds;
    return 1;
}

} // namespace

const link_map* module_of(const void* address) {
    LoadedObject found;
    return find_loaded_object(reinterpret_cast<std::uintptr_t>(address), found) ? found.map : nullptr;
}

bool is_main_mpi_library(const link_map* module) { return module == main_library.load(std::memory_order_acquire); }

bool is_mpi_library_address(const void* address) {
    const link_map* module = module_of(address);
    if (module == nullptr || module->l_name == nullptr) return false;
    if (is_main_mpi_library(module)) return true;
    if (other_tools::is_known(module)) // mpiP is libmpiP.so
        return false;
    // A function of the MPI library that a wrapper body called has jumped on to another one (MPICH: from
    // MPI_Attr_put to PMPI_Comm_set_attr), which sees the body as its caller. No body calls an entry point.
    if (module == own_library.load(std::memory_order_acquire)) return true;
    const std::string_view name = base_name(module->l_name);
    return starts_with_any(name, companions) && !starts_with_any(name, bindings);
}

void* find_mpi_library() {
    own_library.store(module_of(reinterpret_cast<const void*>(&find_mpi_library)), std::memory_order_release);
    // A program with a serial stub of MPI comes here with each call.
    unsigned long long loads = 0;
    visit_loaded_objects(count_loads, &loads);
    if (loads == searched.load(std::memory_order_relaxed)) return nullptr;
    // The loader binds a program to the first in its order of search, which may come later in its list.
    const void* const next = dlsym(RTLD_NEXT, "PMPI_Init");
    const link_map* const first = next != nullptr ? module_of(next) : nullptr;
    // First the usual names, then any: some vendors' libraries are named otherwise.
    for (const bool any_name : {false, true}) {
        Candidates candidates;
        candidates.any_name = any_name;
        visit_loaded_objects(collect, &candidates); // libprofile.so interposes it
        for (const link_map* wanted = first;; wanted = nullptr) {
            for (std::size_t i = 0; i < candidates.count; ++i)
                if (void* library = library_of(candidates.paths[i], wanted)) return library;
            if (wanted == nullptr) break;
        }
    }
    searched.store(loads, std::memory_order_relaxed);
    return nullptr;
}

} // namespace libprofile
