// Neighbourhood collectives: exchanges with the neighbours of the topology. Contract: see accounting/all.hpp.
#pragma once

#include "wrappers/mpi/accounting/exchanges.hpp"

namespace libprofile::LIBPROFILE_MPI_NAMESPACE {
namespace {

/// How many blocks the calling rank receives and sends.
struct Neighbours {
    int sources = 0;
    int destinations = 0;
};

/// Neighbours beyond the edge of a Cartesian grid are included: they have a part of the buffers.
inline Neighbours neighbours(MPI_Comm comm) {
    Neighbours found;
    int topology = MPI_UNDEFINED;
    real.Topo_test(comm, &topology);
    if (topology == MPI_CART) {
        int dimensions = 0;
        real.Cartdim_get(comm, &dimensions);
        found.sources = found.destinations = 2 * dimensions;
    } else if (topology == MPI_GRAPH) {
        real.Graph_neighbors_count(comm, own_rank(comm), &found.sources);
        found.destinations = found.sources;
    } else if (topology == MPI_DIST_GRAPH) {
        int weighted = 0;
        real.Dist_graph_neighbors_count(comm, &found.sources, &found.destinations, &weighted);
    }
    return found;
}

template <class Count> void neighbor_allgather(auto& event, Count sendcount, MPI_Datatype sendtype, Count recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
    const std::uint64_t sources = static_cast<std::uint64_t>(neighbours(comm).sources);
    exchanged(event, bytes(sendcount, sendtype), sources == 0 ? 0 : bytes(recvcount, recvtype) * sources);
}

template <class Count>
void neighbor_allgatherv(auto& event, Count sendcount, MPI_Datatype sendtype, const Count* recvcounts, MPI_Datatype recvtype, MPI_Comm comm) {
    exchanged(event, bytes(sendcount, sendtype), bytes(recvcounts, neighbours(comm).sources, recvtype));
}

template <class Count> void neighbor_alltoall(auto& event, Count sendcount, MPI_Datatype sendtype, Count recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
    const Neighbours found = neighbours(comm);
    exchanged(event, bytes(sendcount, sendtype) * static_cast<std::uint64_t>(found.destinations),
              bytes(recvcount, recvtype) * static_cast<std::uint64_t>(found.sources));
}

template <class Count>
void neighbor_alltoallv(auto& event, const Count* sendcounts, MPI_Datatype sendtype, const Count* recvcounts, MPI_Datatype recvtype, MPI_Comm comm) {
    const Neighbours found = neighbours(comm);
    exchanged(event, bytes(sendcounts, found.destinations, sendtype), bytes(recvcounts, found.sources, recvtype));
}

template <class Count> void neighbor_alltoallw(auto& event, const Count* sendcounts, const MPI_Datatype* sendtypes, const Count* recvcounts,
                                               const MPI_Datatype* recvtypes, MPI_Comm comm) {
    const Neighbours found = neighbours(comm);
    exchanged(event, bytes(sendcounts, sendtypes, found.destinations), bytes(recvcounts, recvtypes, found.sources));
}

} // namespace
} // namespace libprofile::LIBPROFILE_MPI_NAMESPACE
