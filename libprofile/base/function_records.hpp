// The functions at which call paths may end: one row per MPI function, then one per OpenMP construct, then an application's own reduction.
// Contract: constant, generated from wrappers/mpi/functions.table and format/openmp.def. Any thread, any context.
#pragma once

#include "format/metrics.hpp"

#include <cstdint>

namespace libprofile {

/// What wrappers/mpi/functions.table says of a function besides its category. `chance`: a construct of OpenMP of which it is random who comes.
enum class MpiTrait : std::uint8_t { none, poll, datatype, control, chance };
/// How often and when it is called follows from the program.
constexpr bool is_of_program(MpiTrait trait) { return trait == MpiTrait::none || trait == MpiTrait::datatype; }

/// The index of a row is the function's id. The rows of format/openmp.def begin at mpi_function_count.
struct MpiFunction {
    const char* name; // "MPI_Send"
    TimeCategory category;
    MpiTrait trait;
};
[[gnu::visibility("hidden")]] extern const MpiFunction mpi_functions[]; // else calls would look its address up
extern const unsigned mpi_function_count;
/// The id of what MPI calls in a reduction with an operation of MPI_Op_create.
extern const unsigned user_operation;

} // namespace libprofile
