#include "wrappers/mpi/dispatch.hpp"

#include "libprofile/base/function_records.hpp"
#include "libprofile/base/process.hpp"
#include "libprofile/base/real_calls.hpp"
#include "libprofile/mpi/mpi_modules.hpp"
#include "libprofile/mpi/other_tools.hpp"
#include "libprofile/mpi/weak_references.hpp"
#include "libprofile/session/session.hpp"
#include "wrappers/mpi/flavour.hpp"

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <link.h>
#include <string_view>

namespace libprofile {

namespace {

constinit thread_local bool resolving = false; // this thread is in libprofile_mpi_resolve
std::atomic<void*> mpi_library{nullptr};       // handle of dlopen
std::atomic<bool> complained{false};

// Answers without an MPI library. The arguments they do not name are the caller's to clean up.
int answer_no(int* flag) {
    *flag = 0;
    return 0;
}
int answer_error() { return 1; }

void* answer_without_mpi(unsigned id) {
    const std::string_view name = mpi_functions[id].name;
    if (name == "MPI_Initialized" || name == "MPI_Finalized") return reinterpret_cast<void*>(answer_no);
    return reinterpret_cast<void*>(answer_error);
}

/// The program starts MPI and there is none: without us it would not have started, so we must say so.
void complain_without_mpi(unsigned id) {
    const std::string_view name = mpi_functions[id].name;
    if ((name == "MPI_Init" || name == "MPI_Init_thread" || name == "MPI_Session_init") && !complained.exchange(true))
        session.mpi_unusable("the program starts MPI, but no MPI library is loaded; link it with one (the gold linker with "
                             "--as-needed drops it after -lprofile: use another linker)");
}

/// "PMPI_X" of a function.
struct ProfilingName {
    char text[64] = "P";
    explicit ProfilingName(unsigned id) { std::strncpy(text + 1, mpi_functions[id].name, sizeof text - 2); }
};

/// The definition of `name` that a call from `caller` would have reached without us: the loader searches the global scope,
/// then what the caller's module was opened with. What comes before us in the global scope has had its turn.
void* next_definition(const char* name, const void* caller) {
    void* next = dlsym(RTLD_NEXT, name);
    const link_map* module = module_of(caller);
    const bool is_program = module != nullptr && module->l_prev == nullptr; // has no scope but the global one
    if (next != nullptr || module == nullptr || is_program) return next;
    void* scope = dlopen(module->l_name, RTLD_LAZY | RTLD_NOLOAD);
    if (scope == nullptr) return nullptr;
    next = dlsym(scope, name);
    real_calls().dlclose(scope);
    const link_map* own = module_of(reinterpret_cast<const void*>(&libprofile_mpi_resolve));
    if (next == nullptr || module_of(next) == own) // the module may be linked with us
        return nullptr;
    // A function that looked us up as the next one after itself would be called for ever.
    Dl_info inside;
    return dladdr(caller, &inside) != 0 && inside.dli_saddr == next ? nullptr : next;
}

/// Where a call leads while no MPI library is loaded: to a serial stub of MPI, which seldom has the profiling names.
void* definition_without_mpi(unsigned slot, const void* caller) {
    const char* name = mpi_functions[slot / 2].name;
    const bool is_profiling_name = slot % 2 == 1;
    void* next = next_definition(is_profiling_name ? ProfilingName(slot / 2).text : name, caller);
    if (next != nullptr || !is_profiling_name) return next;
    next = next_definition(name, caller);
    const bool is_own = next != nullptr && module_of(next) == module_of(caller); // of a tool
    return is_own ? nullptr : next;
}

/// The MPI library's own function. Some have no profiling name there: MPI_File_close of MPICH 5.0.2's standard ABI, and what the standard removed.
void* function_of(void* library, unsigned id) {
    void* function = dlsym(library, ProfilingName(id).text);
    if (function == nullptr) function = dlsym(library, mpi_functions[id].name);
    const link_map* own = module_of(reinterpret_cast<const void*>(&libprofile_mpi_resolve));
    return function != nullptr && module_of(function) == own ? nullptr : function; // the library may be linked with us
}

/// The tool's function where a tool interposes profiling names.
void* real_function(unsigned id) {
    void* tools = other_tools::next_function(ProfilingName(id).text);
    return tools != nullptr ? tools : function_of(mpi_library.load(std::memory_order_relaxed), id);
}

/// Data of the MPI library. A copy relocation may have moved it into the program, so the global scope is
/// asked first; a library that a plugin loaded for itself is not in there.
void* find_data(const char* name) {
    void* data = dlsym(RTLD_DEFAULT, name);
    return data != nullptr ? data : dlsym(mpi_library.load(std::memory_order_relaxed), name);
}

bool library_has(const char* symbol) { return dlsym(mpi_library.load(std::memory_order_relaxed), symbol) != nullptr; }

/// The file of the MPI library, or nullptr.
const char* library_file() {
    const link_map* module = module_of(dlsym(mpi_library.load(std::memory_order_relaxed), "PMPI_Init"));
    return module != nullptr ? module->l_name : nullptr;
}

/// A library with the ABI of the MPI standard, whose name the standard gives, too; Debian's file of that name is a link to libmpi_abi_mpich or
/// libmpi_abi_openmpi. It may have the symbols by which its usual library is known, but its handles are others.
bool is_abi_library() {
    const char* file = library_file();
    const char* slash = file != nullptr ? std::strrchr(file, '/') : nullptr;
    return slash != nullptr && std::string_view(slash + 1).starts_with("libmpi_abi");
}

/// MPICH 4.2 and 4.3 have drafts of it, with other values. They do not tell a version.
bool has_standard_abi() {
    int major = -1, minor = -1;
    using Question = int (*)(int*, int*);
    const auto ask = reinterpret_cast<Question>(dlsym(mpi_library.load(std::memory_order_relaxed), "PMPI_Abi_get_version"));
    return ask != nullptr && ask(&major, &minor) == 0 && major == 1;
}

/// What is said of a library that no bodies fit: its file and the first line of what it calls itself, as any ABI lets it be asked before MPI_Init.
const char* unknown_library() {
    static char text[640];
    static char version[16384]; // longer than any MPI_MAX_LIBRARY_VERSION_STRING
    int length = 0;
    void* library = mpi_library.load(std::memory_order_relaxed);
    using Question = int (*)(char*, int*);
    if (const auto ask = reinterpret_cast<Question>(dlsym(library, "PMPI_Get_library_version")); ask != nullptr) ask(version, &length);
    version[std::strcspn(version, "\r\n")] = 0;
    const char* file = library_file();
    std::snprintf(text, sizeof text,
                  "the program's MPI library has none of the ABIs of Open MPI, MPICH and the standard, so MPI is not measured: run the program with one of "
                  "those; found: %.200s%s%.100s",
                  file != nullptr ? file : "no file", *version != 0 ? ", " : "", version);
    return text;
}

/// The bodies that fit the library's ABI; nullptr and a reason when there are none.
const MpiFlavour* fitting_flavour(const char*& reason) {
    if (is_abi_library()) {
        if (has_standard_abi()) return &abi::flavour;
        reason = unknown_library();
        return nullptr;
    }
    if (library_has("ompi_mpi_comm_world")) {
#ifdef LIBPROFILE_WITH_OPENMPI
        return &openmpi::flavour;
#else
        reason = "the program uses Open MPI, for which this libprofile was not built, so MPI is not "
                 "measured: rebuild libprofile with Open MPI's mpi.h (mpicc.openmpi) installed";
        return nullptr;
#endif
    }
    if (library_has("MPIR_Dup_fn")) { // part of the ABI that MPICH, Intel MPI, MVAPICH2 and Cray MPI share
#ifdef LIBPROFILE_WITH_MPICH
        return &mpich::flavour;
#else
        reason = "the program uses MPICH or a library with its ABI, for which this libprofile was not built, so "
                 "MPI is not measured: rebuild libprofile with MPICH's mpi.h (mpicc.mpich) installed";
        return nullptr;
#endif
    }
    reason = unknown_library();
    return nullptr;
}

/// Lets both names of a function lead to `target`. With a tool after us in the loader's order the application's MPI_X goes to
/// the tool's, as it would without us: the tool calls PMPI_X, and that one leads to `target`. So both orders are the same.
void set_slots(unsigned id, void* target) {
    void* tools = other_tools::next_function(mpi_functions[id].name);
    // A tool that interposes PMPI_X, too, hands on to what comes after it, not to us: we come first and call it.
    if (tools != nullptr && module_of(tools) == module_of(other_tools::next_function(ProfilingName(id).text))) tools = nullptr;
    std::atomic_ref(libprofile_mpi_slots[std::size_t{2} * id]).store(tools != nullptr ? tools : target, std::memory_order_release);
    std::atomic_ref(libprofile_mpi_slots[std::size_t{2} * id + 1]).store(target, std::memory_order_release);
}

void fill_slots_without_bodies() {
    for (unsigned id = 0; id < mpi_function_count; ++id) {
        void* real = real_function(id);
        set_slots(id, real != nullptr ? real : answer_without_mpi(id));
    }
}

void fill_slots(const MpiFlavour& flavour) {
    unsigned next = 0; // flavour.ids ascends
    for (unsigned id = 0; id < mpi_function_count; ++id) {
        const bool has_body = next < flavour.count && flavour.ids[next] == id;
        void* real = has_body ? flavour.real[next] : real_function(id); // newer than the mpi.h at build time
        if (real == nullptr)
            set_slots(id, answer_without_mpi(id));
        else
            set_slots(id, has_body ? flavour.bodies[next] : real);
        if (has_body) ++next;
    }
}

/// Whether its slot has but an answer.
bool is_missing(const char* name) {
    const bool is_profiling_name = *name == 'P';
    for (unsigned id = 0; id < mpi_function_count; ++id)
        if (std::strcmp(mpi_functions[id].name, name + is_profiling_name) == 0)
            return std::atomic_ref(libprofile_mpi_slots[2 * id + is_profiling_name]).load(std::memory_order_relaxed) == answer_without_mpi(id);
    return false;
}

/// Fills the slots for the library in `mpi_library`.
void use_library() {
    const char* reason = nullptr;
    const MpiFlavour* flavour = fitting_flavour(reason);
    if (flavour != nullptr) {
        for (unsigned i = 0; i < flavour->count; ++i) std::atomic_ref(flavour->real[i]).store(real_function(flavour->ids[i]), std::memory_order_relaxed);
        if (!flavour->bind(find_data)) {
            flavour = nullptr;
            reason = "the program's MPI library is older than MPI 3.0, so MPI is not measured: "
                     "use a newer one";
        }
    }
    if (flavour == nullptr) {
        fill_slots_without_bodies();
        clear_weak_references(is_missing);
        if (!complained.exchange(true)) session.mpi_unusable(reason);
        return;
    }
    session.mpi_found(flavour->services); // before any slot leads to a body on another thread
    fill_slots(*flavour);
    clear_weak_references(is_missing);
    const char* tool = other_tools::bypassing_tool();
    if (tool != nullptr && !complained.exchange(true)) session.tool_bypasses_us(tool);
    session.start();                                                       // last: what came before is no time of the program's
    if (process.state() == SessionState::Off) fill_slots_without_bodies(); // LIBPROFILE_DISABLE: nothing of us is between the program and MPI
}

} // namespace

} // namespace libprofile

// Several threads may be in here at once; each does all of the work, and all store the same. One that waited for another
// would wait for ever if it were inside a constructor that dlopen runs: it holds the loader's lock, which the other needs.
void* libprofile_mpi_resolve(unsigned slot, const void* return_address) noexcept {
    using namespace libprofile;
    const unsigned id = slot / 2;
    if (resolving) { // an MPI call from within what follows: past the measurement
        void* library = mpi_library.load(std::memory_order_relaxed);
        void* real = library != nullptr ? function_of(library, id) : nullptr;
        return real != nullptr ? real : answer_without_mpi(id);
    }
    resolving = true;
    void* library = find_mpi_library();
    void* target = nullptr;
    if (library != nullptr) {
        mpi_library.store(library, std::memory_order_relaxed);
        use_library();
        target = std::atomic_ref(libprofile_mpi_slots[slot]).load(std::memory_order_acquire);
    } else {
        // The slots stay as they are: a library may still be loaded later, and each module may have its own stub.
        target = definition_without_mpi(slot, return_address);
        if (target == nullptr) {
            complain_without_mpi(id);
            target = answer_without_mpi(id);
        }
    }
    resolving = false;
    return target;
}
