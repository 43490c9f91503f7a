#include "wrappers/mpi/binding_helpers.hpp"

#include <atomic>
#include <cstdint>
#include <cstring>
#include <dlfcn.h>
#include <strings.h>

namespace libprofile {

namespace {

/// What binding layers call to serve another function: questions before a conversion, datatypes for array sections with gaps.
/// Other functions they call in the name of the application (mpi_type_struct_ may call MPI_Type_create_struct), and those
/// must count.
constexpr const char* helpers[] = {
    "MPI_Comm_size",   "MPI_Comm_rank",   "MPI_Comm_remote_size",    "MPI_Comm_test_inter",
    "MPI_Cartdim_get", "MPI_Topo_test",   "MPI_Graphdims_get",       "MPI_Dist_graph_neighbors_count",
    "MPI_Type_size",   "MPI_Initialized", "MPI_Group_size",          "MPI_Type_contiguous",
    "MPI_Type_commit", "MPI_Type_free",   "MPI_Type_create_hvector",
};

bool can_be_helper(const char* name) {
    for (const char* helper : helpers)
        if (std::strcmp(helper, name) == 0)
            return true;
    return false;
}

/// The part of an entry point's name after its prefix, nullptr if it is no entry point of a Fortran binding.
const char* after_prefix(const char* symbol) {
    for (const char* prefix : {"mpi_", "pmpi_", "mpix_", "ompi_", "ompix_", "mpir_", "pmpir_"}) {
        const std::size_t length = std::strlen(prefix);
        if (strncasecmp(symbol, prefix, length) == 0)
            return symbol + length;
    }
    return nullptr;
}

/// mpi_comm_size_, pmpir_comm_size_f08_, ompi_comm_size_f: the entry points of function MPI_Comm_size.
bool is_of_function(const char* name_after_prefix, const char* function_name) {
    const char* core = function_name + 4; // after "MPI_"
    const std::size_t length = std::strlen(core);
    return strncasecmp(name_after_prefix, core, length) == 0 &&
           (name_after_prefix[length] == '\0' || name_after_prefix[length] == '_');
}

bool is_fortran_layer(const char* path) {
    const char* slash = std::strrchr(path, '/');
    const char* module = slash == nullptr ? path : slash + 1;
    for (const char* layer : {"libmpi_mpifh", "libmpi_usempi", "libmpichfort", "libmpifort"})
        if (std::strncmp(module, layer, std::strlen(layer)) == 0)
            return true;
    return false;
}

/// A layer calls a function of the above list in the application's name only from that function's own entry point.
/// From a function that the layer hides, it never does: MPICH's mpi_f08 has its calls with buffers in such functions.
bool ask(const char* function_name, const void* return_address) {
    Dl_info caller{};
    const auto* call = static_cast<const char*>(return_address) - 1;
    if (dladdr(call, &caller) == 0 || caller.dli_fname == nullptr || !is_fortran_layer(caller.dli_fname))
        return false;
    if (caller.dli_sname == nullptr)
        return true;
    const char* name = after_prefix(caller.dli_sname);
    return name != nullptr && !is_of_function(name, function_name);
}

/// Answers by call site: bit 0 of an entry is the answer, the rest the return address, which is unique per called function.
std::atomic<std::uintptr_t> answers[256];

} // namespace

bool is_binding_helper_call(const char* function_name, const void* return_address) noexcept {
    const std::uintptr_t key = reinterpret_cast<std::uintptr_t>(return_address) << 1;
    std::atomic<std::uintptr_t>& answer = answers[(key >> 2) % 256];
    const std::uintptr_t known = answer.load(std::memory_order_relaxed);
    if ((known & ~std::uintptr_t{1}) == key)
        return (known & 1) != 0;
    const bool result = can_be_helper(function_name) && ask(function_name, return_address);
    answer.store(key | (result ? 1 : 0), std::memory_order_relaxed);
    return result;
}

} // namespace libprofile
