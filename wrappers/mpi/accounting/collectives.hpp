// Collective calls with a root, and the barrier. Contract: see accounting/all.hpp.
#pragma once

#include "wrappers/mpi/accounting/bytes.hpp"

namespace libprofile::LIBPROFILE_MPI_NAMESPACE {
namespace {

inline void barrier(auto& event) { event.add(Metric::CollSyncs, 1); }

inline void as_source(auto& event, std::uint64_t out) {
    event.add(Metric::CollAsSource, 1);
    event.add(Metric::CollBytesOut, out);
}

inline void as_destination(auto& event, std::uint64_t in) {
    event.add(Metric::CollAsDestination, 1);
    event.add(Metric::CollBytesIn, in);
}

/// What the calling rank is in a collective call with a root.
enum class Role {
    Root,      // of an intra-communicator: has a part of its own, too
    InterRoot, // of an inter-communicator: talks to the remote group only
    Other,     //
    None       // in the root's group of an inter-communicator: takes no part
};

inline Role role(int root, MPI_Comm comm) {
    if (root == MPI_ROOT) return Role::InterRoot;
    if (root == MPI_PROC_NULL) return Role::None;
    // In an inter-communicator `root` counts in the remote group and may equal the own rank.
    return own_rank(comm) == root && !is_inter(comm) ? Role::Root : Role::Other;
}

template <class Count> void bcast(auto& event, Count count, MPI_Datatype datatype, int root, MPI_Comm comm) {
    switch (role(root, comm)) {
    case Role::Root:
    case Role::InterRoot: return as_source(event, bytes(count, datatype));
    case Role::Other: return as_destination(event, bytes(count, datatype));
    case Role::None: return;
    }
}

/// The root of a scatter: `out` is what it sends, its own part included.
template <class Count> void scatter_root(auto& event, Role own, std::uint64_t out, const void* recvbuf, Count recvcount, MPI_Datatype recvtype) {
    as_source(event, out);
    if (own == Role::Root && recvbuf != MPI_IN_PLACE) event.add(Metric::CollBytesIn, bytes(recvcount, recvtype));
}

template <class Count>
void scatter(auto& event, Count sendcount, MPI_Datatype sendtype, const void* recvbuf, Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
    const Role own = role(root, comm);
    if (own == Role::None) return;
    if (own == Role::Other) return as_destination(event, bytes(recvcount, recvtype));
    const std::uint64_t out = bytes(sendcount, sendtype) * static_cast<std::uint64_t>(peers(comm));
    scatter_root(event, own, out, recvbuf, recvcount, recvtype);
}

template <class Count> void scatterv(auto& event, const Count* sendcounts, MPI_Datatype sendtype, const void* recvbuf, Count recvcount, MPI_Datatype recvtype,
                                     int root, MPI_Comm comm) {
    const Role own = role(root, comm);
    if (own == Role::None) return;
    if (own == Role::Other) return as_destination(event, bytes(recvcount, recvtype));
    scatter_root(event, own, bytes(sendcounts, peers(comm), sendtype), recvbuf, recvcount, recvtype);
}

/// The root of a gather: `in` is what it receives, its own part included.
template <class Count> void gather_root(auto& event, Role own, std::uint64_t in, const void* sendbuf, Count sendcount, MPI_Datatype sendtype) {
    as_destination(event, in);
    if (own == Role::Root && sendbuf != MPI_IN_PLACE) event.add(Metric::CollBytesOut, bytes(sendcount, sendtype));
}

template <class Count>
void gather(auto& event, const void* sendbuf, Count sendcount, MPI_Datatype sendtype, Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
    const Role own = role(root, comm);
    if (own == Role::None) return;
    if (own == Role::Other) return as_source(event, bytes(sendcount, sendtype));
    const std::uint64_t in = bytes(recvcount, recvtype) * static_cast<std::uint64_t>(peers(comm));
    gather_root(event, own, in, sendbuf, sendcount, sendtype);
}

template <class Count> void gatherv(auto& event, const void* sendbuf, Count sendcount, MPI_Datatype sendtype, const Count* recvcounts, MPI_Datatype recvtype,
                                    int root, MPI_Comm comm) {
    const Role own = role(root, comm);
    if (own == Role::None) return;
    if (own == Role::Other) return as_source(event, bytes(sendcount, sendtype));
    gather_root(event, own, bytes(recvcounts, peers(comm), recvtype), sendbuf, sendcount, sendtype);
}

/// Every rank contributes its buffer, the root's is in recvbuf with MPI_IN_PLACE.
template <class Count> void reduce(auto& event, Count count, MPI_Datatype datatype, int root, MPI_Comm comm) {
    const Role own = role(root, comm);
    if (own == Role::None) return;
    const std::uint64_t size = bytes(count, datatype);
    if (own == Role::Other) return as_source(event, size);
    as_destination(event, size);
    if (own == Role::Root) event.add(Metric::CollBytesOut, size);
}

} // namespace
} // namespace libprofile::LIBPROFILE_MPI_NAMESPACE
