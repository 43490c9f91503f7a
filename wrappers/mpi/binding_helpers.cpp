#include "wrappers/mpi/binding_helpers.hpp"

#include <atomic>
#include <cstdint>
#include <cstring>
#include <dlfcn.h>
#include <strings.h>

namespace libprofile {

namespace {

/// Functions that only ask, as binding layers do before a conversion; others they call in the name of the application
/// (mpi_type_struct_ calls MPI_Type_create_struct), and those must count.
constexpr const char* questions[] = {"MPI_Comm_size",   "MPI_Comm_rank",   "MPI_Comm_remote_size", "MPI_Comm_test_inter",
                                     "MPI_Cartdim_get", "MPI_Topo_test",   "MPI_Graphdims_get",    "MPI_Type_size",
                                     "MPI_Initialized", "MPI_Group_size"};

bool is_question(const char* name) {
    for (const char* question : questions)
        if (std::strcmp(question, name) == 0) return true;
    return false;
}

/// mpi_comm_size_, pmpi_comm_size_f08_, ompi_comm_size_f, MPIR_Comm_size_cdesc: the entry points of function MPI_Comm_size.
bool is_entry_point_of(const char* symbol, const char* function_name) {
    const char* core = function_name + 4; // after "MPI_"
    const std::size_t length = std::strlen(core);
    for (const char* p = symbol; *p != 0; ++p)
        if (strncasecmp(p, core, length) == 0) return true;
    return false;
}

/// An entry point of a Fortran binding at all; in C++ bindings and helper libraries nothing is concluded from names.
bool is_fortran_entry_point(const char* symbol) {
    for (const char* prefix : {"mpi_", "pmpi_", "mpix_", "ompi_", "mpir_", "pmpir_"})
        if (strncasecmp(symbol, prefix, std::strlen(prefix)) == 0) return true;
    return false;
}

bool ask(const char* function_name, const void* return_address) {
    Dl_info caller{};
    const auto* call = static_cast<const char*>(return_address) - 1;
    if (dladdr(call, &caller) == 0 || caller.dli_sname == nullptr || caller.dli_fname == nullptr) return false;
    const char* slash = std::strrchr(caller.dli_fname, '/');
    const char* module = slash == nullptr ? caller.dli_fname : slash + 1;
    bool fortran_layer = false;
    for (const char* layer : {"libmpi_mpifh", "libmpi_usempi", "libmpichfort", "libmpifort"})
        fortran_layer = fortran_layer || std::strncmp(module, layer, std::strlen(layer)) == 0;
    return fortran_layer && is_fortran_entry_point(caller.dli_sname) && !is_entry_point_of(caller.dli_sname, function_name);
}

/// Answers by call site: bit 0 of an entry is the answer, the rest the return address, which is unique per called function.
std::atomic<std::uintptr_t> answers[256];

} // namespace

bool is_binding_helper_call(const char* function_name, const void* return_address) noexcept {
    const std::uintptr_t key = reinterpret_cast<std::uintptr_t>(return_address) << 1;
    std::atomic<std::uintptr_t>& answer = answers[(key >> 2) % 256];
    const std::uintptr_t known = answer.load(std::memory_order_relaxed);
    if ((known & ~std::uintptr_t{1}) == key) return (known & 1) != 0;
    const bool result = is_question(function_name) && ask(function_name, return_address);
    answer.store(key | (result ? 1 : 0), std::memory_order_relaxed);
    return result;
}

} // namespace libprofile
