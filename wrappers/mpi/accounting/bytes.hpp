// Sizes of MPI buffers and groups. Contract: see accounting/all.hpp.
#pragma once

#include "libprofile/base/hashing.hpp"
#include "wrappers/mpi/mpi_h.hpp"

#include "libprofile/mpi/mpi_modules.hpp"

#include <atomic>

namespace libprofile::LIBPROFILE_MPI_NAMESPACE {
namespace {

/// A predefined datatype, as far as the handle itself tells. MPI_Type_get_envelope would tell for all of them, but it fails,
/// and with it the job, for datatypes with large counts.
inline bool is_predefined(MPI_Datatype datatype) {
#ifdef OPEN_MPI
    return module_of(datatype) != nullptr; // data of the library or, by copy relocation, of the program; others are on the heap
#elif defined LIBPROFILE_STANDARD_ABI
    return (std::uint64_t)datatype < 0x400; // handles of 10 bits, which the standard reserves
#else
    return (static_cast<unsigned>(datatype) >> 30) == 1; // the kind "built in" of MPICH's handles
#endif
}

/// Sizes of predefined datatypes seen so far, by handle: size + 1 in the upper 16 bits. They are never freed, so that an
/// entry stays true; handles of others can be given out again.
inline std::atomic<std::uint64_t> predefined_sizes[64];

inline std::uint64_t ask_type_size(MPI_Datatype datatype, std::uint64_t handle, std::atomic<std::uint64_t>& known) {
    MPI_Count size = 0;
    if (datatype == MPI_DATATYPE_NULL || real.Type_size_x(datatype, &size) != MPI_SUCCESS || size < 0) return 0;
    if (size < 0xffff && is_predefined(datatype)) known.store(handle | static_cast<std::uint64_t>(size + 1) << 48, std::memory_order_relaxed);
    return static_cast<std::uint64_t>(size);
}

inline std::uint64_t type_size(MPI_Datatype datatype) {
    constexpr std::uint64_t handle_bits = (std::uint64_t{1} << 48) - 1;
    const std::uint64_t handle = (std::uint64_t)datatype & handle_bits; // a pointer or an int
    std::atomic<std::uint64_t>& known = predefined_sizes[short_hash(handle, 6)];
    const std::uint64_t entry = known.load(std::memory_order_relaxed);
    if ((entry & handle_bits) == handle && entry != 0) return (entry >> 48) - 1;
    return ask_type_size(datatype, handle, known);
}

/// Bytes of `count` elements; Count is int or MPI_Count.
template <class Count> std::uint64_t bytes(Count count, MPI_Datatype datatype) {
    return count > 0 ? static_cast<std::uint64_t>(count) * type_size(datatype) : 0;
}

/// Bytes of `ranks` blocks of counts[i] elements each.
template <class Count> std::uint64_t bytes(const Count* counts, int ranks, MPI_Datatype datatype) {
    std::uint64_t elements = 0;
    for (int rank = 0; rank < ranks; ++rank)
        if (counts[rank] > 0) elements += static_cast<std::uint64_t>(counts[rank]);
    return elements == 0 ? 0 : elements * type_size(datatype);
}

/// Bytes of `ranks` blocks, each with its own datatype.
template <class Count> std::uint64_t bytes(const Count* counts, const MPI_Datatype* datatypes, int ranks) {
    std::uint64_t sum = 0;
    for (int rank = 0; rank < ranks; ++rank) sum += bytes(counts[rank], datatypes[rank]);
    return sum;
}

inline bool is_inter(MPI_Comm comm) {
    int flag = 0;
    return real.Comm_test_inter(comm, &flag) == MPI_SUCCESS && flag;
}

inline int own_rank(MPI_Comm comm) {
    int rank = 0;
    return real.Comm_rank(comm, &rank) == MPI_SUCCESS ? rank : 0;
}

inline int local_size(MPI_Comm comm) {
    int size = 0;
    return real.Comm_size(comm, &size) == MPI_SUCCESS ? size : 0;
}

/// Ranks that this one exchanges data with in a collective call: the remote group of an inter-communicator.
inline int peers(MPI_Comm comm) {
    if (!is_inter(comm)) return local_size(comm);
    int size = 0;
    return real.Comm_remote_size(comm, &size) == MPI_SUCCESS ? size : 0;
}

} // namespace
} // namespace libprofile::LIBPROFILE_MPI_NAMESPACE
