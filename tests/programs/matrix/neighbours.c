/* Neighbourhood collectives on Cartesian, general and distributed graphs. Each process tells how many neighbours it has. */
#include "each.h"

static MPI_Comm comm;
static int sources, destinations;

static void exchanges(void) {
    count_t send_counts[8], receive_counts[8];
    place_t send_places[8], receive_places[8];
    MPI_Aint send_bytes[8], receive_bytes[8];
    MPI_Datatype types[8];
    memset(in, 0, sizeof in);
    for (int i = 0; i < 8; ++i) {
        send_counts[i] = receive_counts[i] = 3;
        send_places[i] = receive_places[i] = 8 * i;
        send_bytes[i] = receive_bytes[i] = 32 * i;
        types[i] = MPI_INT;
    }
    EACH(Neighbor_allgather, neighbor_allgather, EXCHANGE, 28, 28 * sources, out, 7, MPI_INT, in, 7, MPI_INT,
         comm);
    observe(in, 28 * sources);
    EACH(Neighbor_allgatherv, neighbor_allgatherv, EXCHANGE, 12, 12 * sources, out, 3, MPI_INT, in,
         receive_counts, receive_places, MPI_INT, comm);
    EACH(Neighbor_alltoall, neighbor_alltoall, EXCHANGE, 28 * destinations, 28 * sources, out, 7, MPI_INT, in,
         7, MPI_INT, comm);
    observe(in, 28 * sources);
    EACH(Neighbor_alltoallv, neighbor_alltoallv, EXCHANGE, 12 * destinations, 12 * sources, out, send_counts,
         send_places, MPI_INT, in, receive_counts, receive_places, MPI_INT, comm);
    EACH(Neighbor_alltoallw, neighbor_alltoallw, EXCHANGE, 12 * destinations, 12 * sources, out, send_counts,
         send_bytes, types, in, receive_counts, receive_bytes, types, comm);
    observe(in, 32 * sources);
}

int main(int argc, char** argv) {
    begin(&argc, &argv);
    /* A ring, and a column without neighbours: those beyond the edge have places in the buffers, too. */
    const int sizes[2] = {ranks, 1}, periods[2] = {1, 0};
    CALL(Cart_create, (MPI_COMM_WORLD, 2, sizes, periods, 0, &comm));
    sources = destinations = 4;
    exchanges();
    CALL(Comm_free, (&comm));

    /* A star around rank 0. */
    int ends[64], edges[128];
    for (int i = 0; i < ranks; ++i) {
        ends[i] = ranks - 1 + i;
        edges[i] = i < ranks - 1 ? i + 1 : 0;
        edges[ranks + i] = 0;
    }
    CALL(Graph_create, (MPI_COMM_WORLD, ranks, ends, edges, 0, &comm));
    sources = destinations = rank == 0 ? ranks - 1 : 1;
    exchanges();
    CALL(Comm_free, (&comm));

    /* Everybody sends to rank 0, rank 0 to nobody. */
    int from[64];
    const int to = 0;
    for (int i = 0; i < ranks; ++i)
        from[i] = i + 1;
    sources = rank == 0 ? ranks - 1 : 0;
    destinations = rank == 0 ? 0 : 1;
    CALL(Dist_graph_create_adjacent, (MPI_COMM_WORLD, sources, from, MPI_UNWEIGHTED, destinations, &to,
                                      MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm));
    exchanges();
    CALL(Comm_free, (&comm));

    /* Twice to the right. */
    const int targets[2] = {right, right}, degree = 2;
    CALL(Dist_graph_create,
         (MPI_COMM_WORLD, 1, &rank, &degree, targets, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm));
    sources = destinations = 2;
    exchanges();
    CALL(Comm_free, (&comm));
    return end("neighbours");
}
