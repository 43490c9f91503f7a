// One-sided operations, counted at the origin where they are called. Contract: see accounting/all.hpp.
// Nothing is counted when the target is MPI_PROC_NULL or no bytes move.
#pragma once

#include "wrappers/mpi/accounting/bytes.hpp"

namespace libprofile::LIBPROFILE_MPI_NAMESPACE {
namespace {

inline void one_sided(MpiEvent& event, Metric operations, int target, std::uint64_t put, std::uint64_t got) {
    if (target == MPI_PROC_NULL || put + got == 0) return;
    event.add(operations, 1);
    event.add(Metric::RmaBytesPut, put);
    event.add(Metric::RmaBytesGot, got);
}

template <class Count> void put(MpiEvent& event, Count count, MPI_Datatype datatype, int target) {
    one_sided(event, Metric::RmaPuts, target, bytes(count, datatype), 0);
}

template <class Count> void get(MpiEvent& event, Count count, MPI_Datatype datatype, int target) {
    one_sided(event, Metric::RmaGets, target, 0, bytes(count, datatype));
}

template <class Count> void accumulate(MpiEvent& event, Count count, MPI_Datatype datatype, int target) {
    one_sided(event, Metric::RmaAtomics, target, bytes(count, datatype), 0);
}

/// With MPI_NO_OP nothing is sent, and MPI ignores the origin's arguments.
template <class Count>
void get_accumulate(MpiEvent& event, Count count, MPI_Datatype datatype, Count result_count, MPI_Datatype result_datatype, int target, MPI_Op op) {
    const std::uint64_t sent = op == MPI_NO_OP ? 0 : bytes(count, datatype);
    one_sided(event, Metric::RmaAtomics, target, sent, bytes(result_count, result_datatype));
}

inline void fetch_and_op(MpiEvent& event, MPI_Datatype datatype, int target, MPI_Op op) { get_accumulate(event, 1, datatype, 1, datatype, target, op); }

inline void compare_and_swap(MpiEvent& event, MPI_Datatype datatype, int target) {
    one_sided(event, Metric::RmaAtomics, target, type_size(datatype), type_size(datatype));
}

} // namespace
} // namespace libprofile::LIBPROFILE_MPI_NAMESPACE
