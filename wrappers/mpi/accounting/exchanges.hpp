// Collective calls in which every rank sends and receives. Contract: see accounting/all.hpp.
#pragma once

#include "wrappers/mpi/accounting/bytes.hpp"

namespace libprofile::LIBPROFILE_MPI_NAMESPACE {
namespace {

inline void exchanged(auto& event, std::uint64_t out, std::uint64_t in) {
    event.add(Metric::CollExchanges, 1);
    event.add(Metric::CollBytesOut, out);
    event.add(Metric::CollBytesIn, in);
}

/// Allreduce and Scan: one buffer in, one out, of the same size.
template <class Count> void exchange(auto& event, Count count, MPI_Datatype datatype) {
    const std::uint64_t size = bytes(count, datatype);
    exchanged(event, size, size);
}

/// The receive buffer of rank 0 is left alone.
template <class Count> void exscan(auto& event, Count count, MPI_Datatype datatype, MPI_Comm comm) {
    const std::uint64_t size = bytes(count, datatype);
    exchanged(event, size, own_rank(comm) == 0 ? 0 : size);
}

template <class Count> void reduce_scatter(auto& event, const Count* recvcounts, MPI_Datatype datatype, MPI_Comm comm) {
    exchanged(event, bytes(recvcounts, local_size(comm), datatype), bytes(recvcounts[own_rank(comm)], datatype));
}

template <class Count> void reduce_scatter_block(auto& event, Count recvcount, MPI_Datatype datatype, MPI_Comm comm) {
    const std::uint64_t block = bytes(recvcount, datatype);
    exchanged(event, block * static_cast<std::uint64_t>(local_size(comm)), block);
}

template <class Count>
void allgather(auto& event, const void* sendbuf, Count sendcount, MPI_Datatype sendtype, Count recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
    const std::uint64_t block = bytes(recvcount, recvtype);
    const std::uint64_t out = sendbuf == MPI_IN_PLACE ? block : bytes(sendcount, sendtype);
    exchanged(event, out, block * static_cast<std::uint64_t>(peers(comm)));
}

template <class Count>
void allgatherv(auto& event, const void* sendbuf, Count sendcount, MPI_Datatype sendtype, const Count* recvcounts, MPI_Datatype recvtype, MPI_Comm comm) {
    const std::uint64_t out = sendbuf == MPI_IN_PLACE ? bytes(recvcounts[own_rank(comm)], recvtype) : bytes(sendcount, sendtype);
    exchanged(event, out, bytes(recvcounts, peers(comm), recvtype));
}

template <class Count>
void alltoall(auto& event, const void* sendbuf, Count sendcount, MPI_Datatype sendtype, Count recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
    const std::uint64_t ranks = static_cast<std::uint64_t>(peers(comm));
    const std::uint64_t in = bytes(recvcount, recvtype) * ranks;
    exchanged(event, sendbuf == MPI_IN_PLACE ? in : bytes(sendcount, sendtype) * ranks, in);
}

template <class Count> void alltoallv(auto& event, const void* sendbuf, const Count* sendcounts, MPI_Datatype sendtype, const Count* recvcounts,
                                      MPI_Datatype recvtype, MPI_Comm comm) {
    const int ranks = peers(comm);
    const std::uint64_t in = bytes(recvcounts, ranks, recvtype);
    exchanged(event, sendbuf == MPI_IN_PLACE ? in : bytes(sendcounts, ranks, sendtype), in);
}

template <class Count> void alltoallw(auto& event, const void* sendbuf, const Count* sendcounts, const MPI_Datatype* sendtypes, const Count* recvcounts,
                                      const MPI_Datatype* recvtypes, MPI_Comm comm) {
    const int ranks = peers(comm);
    const std::uint64_t in = bytes(recvcounts, recvtypes, ranks);
    exchanged(event, sendbuf == MPI_IN_PLACE ? in : bytes(sendcounts, sendtypes, ranks), in);
}

} // namespace
} // namespace libprofile::LIBPROFILE_MPI_NAMESPACE
