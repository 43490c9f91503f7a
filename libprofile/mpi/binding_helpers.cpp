#include "libprofile/mpi/binding_helpers.hpp"

#include <atomic>
#include <cstdint>
#include <cstring>
#include <dlfcn.h>
#include <initializer_list>
#include <strings.h>

namespace libprofile {

namespace {

/// What binding layers call to serve another function: questions before a conversion, datatypes for array sections with gaps,
/// the error handler to run. Other functions they call in the name of the application (mpi_type_struct_ may call
/// MPI_Type_create_struct), and those must count.
struct Helper {
    const char* name;
    const char* method; // the function's name in the C++ bindings
};
constexpr Helper helpers[] = {
    {"MPI_Comm_size", "Get_size"},
    {"MPI_Comm_rank", "Get_rank"},
    {"MPI_Comm_remote_size", "Get_remote_size"},
    {"MPI_Comm_test_inter", "Is_inter"},
    {"MPI_Comm_get_errhandler", "Get_errhandler"},
    {"MPI_Errhandler_free", "Free"},
    {"MPI_Cartdim_get", "Get_dim"},
    {"MPI_Topo_test", "Get_topology"},
    {"MPI_Graphdims_get", "Get_dims"},
    {"MPI_Dist_graph_neighbors_count", "Get_dist_neighbors_count"},
    {"MPI_Type_size", "Get_size"},
    {"MPI_Type_contiguous", "Create_contiguous"},
    {"MPI_Type_create_hvector", "Create_hvector"},
    {"MPI_Type_commit", "Commit"},
    {"MPI_Type_free", "Free"},
    {"MPI_Group_size", "Get_size"},
    {"MPI_Initialized", "Is_initialized"},
};

const Helper* find_helper(const char* name) {
    for (const Helper& helper : helpers)
        if (std::strcmp(helper.name, name) == 0) return &helper;
    return nullptr;
}

/// The part of an entry point's name after its prefix, nullptr if it is no entry point of a Fortran binding.
const char* after_prefix(const char* symbol) {
    for (const char* prefix : {"mpi_", "pmpi_", "mpix_", "ompi_", "ompix_", "mpir_", "pmpir_"}) {
        const std::size_t length = std::strlen(prefix);
        if (strncasecmp(symbol, prefix, length) == 0) return symbol + length;
    }
    return nullptr;
}

/// mpi_comm_size_, pmpir_comm_size_f08_, ompi_comm_size_f: the entry points of function MPI_Comm_size.
bool is_of_function(const char* name_after_prefix, const char* function_name) {
    const char* core = function_name + 4; // after "MPI_"
    const std::size_t length = std::strlen(core);
    return strncasecmp(name_after_prefix, core, length) == 0 && (name_after_prefix[length] == '\0' || name_after_prefix[length] == '_');
}

bool is_one_of(const char* path, std::initializer_list<const char*> libraries) {
    const char* slash = std::strrchr(path, '/');
    const char* module = slash == nullptr ? path : slash + 1;
    for (const char* library : libraries)
        if (std::strncmp(module, library, std::strlen(library)) == 0) return true;
    return false;
}

/// A layer calls a helper in the application's name only from the helper's own entry point. From a function that the layer
/// hides, it never does: MPICH's mpi_f08 has its calls with buffers in such functions.
bool fortran_layer_calls_for_itself(const Helper& helper, const char* symbol) {
    if (symbol == nullptr) return true;
    const char* name = after_prefix(symbol);
    return name != nullptr && !is_of_function(name, helper.name);
}

/// Functions of namespace MPI, in the bindings' library or, since they are inline, in the application.
bool cxx_layer_calls_for_itself(const Helper& helper, const char* symbol, const char* path) {
    const bool in_library = is_one_of(path, {"libmpi_cxx", "libmpichcxx", "libmpicxx"});
    if (symbol == nullptr) return in_library; // what runs attribute functions and error handlers
    const bool in_namespace = std::strncmp(symbol, "_ZN3MPI", 7) == 0 || std::strncmp(symbol, "_ZNK3MPI", 8) == 0;
    return (in_library || in_namespace) && std::strstr(symbol, helper.method) == nullptr;
}

bool ask(const Helper& helper, const void* return_address) {
    Dl_info caller{};
    const auto* call = static_cast<const char*>(return_address) - 1;
    if (dladdr(call, &caller) == 0 || caller.dli_fname == nullptr) return false;
    if (is_one_of(caller.dli_fname, {"libmpi_mpifh", "libmpi_usempi", "libmpichfort", "libmpifort", "libmpi_ilp64"}))
        return fortran_layer_calls_for_itself(helper, caller.dli_sname);
    return cxx_layer_calls_for_itself(helper, caller.dli_sname, caller.dli_fname);
}

/// Answers by call site: bit 0 of an entry is the answer, the rest the return address, which is unique per called function.
std::atomic<std::uintptr_t> answers[256];

} // namespace

bool is_binding_helper_call(const char* function_name, const void* return_address) noexcept {
    const std::uintptr_t key = reinterpret_cast<std::uintptr_t>(return_address) << 1;
    std::atomic<std::uintptr_t>& answer = answers[(key >> 2) % 256];
    const std::uintptr_t known = answer.load(std::memory_order_relaxed);
    if ((known & ~std::uintptr_t{1}) == key) return (known & 1) != 0;
    const Helper* helper = find_helper(function_name);
    const bool result = helper != nullptr && ask(*helper, return_address);
    answer.store(key | (result ? 1 : 0), std::memory_order_relaxed);
    return result;
}

} // namespace libprofile
