/* Collective calls on intra-communicators: every role of every root, MPI_IN_PLACE, gaps in datatypes, no data. */
#include "each.h"

static count_t counts[64];
static place_t places[64];
static int total; /* of counts */
static MPI_Datatype gapped;

/* Process i has i + 1 elements. */
static void growing_counts(void) {
    total = 0;
    for (int i = 0; i < ranks; ++i) {
        counts[i] = i + 1;
        places[i] = total;
        total += i + 1;
    }
}

static void rooted(int root) {
    const int leads = rank == root;
    const char* up = leads ? AS_DESTINATION : AS_SOURCE;
    const char* down = leads ? AS_SOURCE : AS_DESTINATION;
    memcpy(in, out, 28);
    EACH(Bcast, bcast, down, leads ? 28 : 0, leads ? 0 : 28, in, 7, MPI_INT, root, MPI_COMM_WORLD);
    observe(in, 28);
    EACH(Bcast, bcast, down, leads ? 24 : 0, leads ? 0 : 24, in, 2, gapped, root, MPI_COMM_WORLD);
    EACH(Bcast, bcast, down, 0, 0, in, 0, MPI_INT, root, MPI_COMM_WORLD);
    EACH(Reduce, reduce, up, 28, leads ? 28 : 0, out, in, 7, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
    observe(in, 28);
    EACH(Reduce, reduce, up, 12, leads ? 12 : 0, leads ? MPI_IN_PLACE : out, in, 3, MPI_INT, MPI_MAX, root,
         MPI_COMM_WORLD);
    EACH(Gather, gather, up, 28, leads ? 28 * ranks : 0, out, 7, MPI_INT, in, 7, MPI_INT, root,
         MPI_COMM_WORLD);
    observe(in, 28 * ranks);
    EACH(Gather, gather, up, leads ? 0 : 28, leads ? 28 * ranks : 0, leads ? MPI_IN_PLACE : out, 7, MPI_INT,
         in, 7, MPI_INT, root, MPI_COMM_WORLD);
    EACH(Gather, gather, up, 24, leads ? 24 * ranks : 0, out, 2, gapped, in, 6, MPI_INT, root,
         MPI_COMM_WORLD);
    EACH(Gatherv, gatherv, up, 4 * (rank + 1), leads ? 4 * total : 0, out, rank + 1, MPI_INT, in, counts,
         places, MPI_INT, root, MPI_COMM_WORLD);
    observe(in, 4 * total);
    EACH(Gatherv, gatherv, up, leads ? 0 : 4 * (rank + 1), leads ? 4 * total : 0, leads ? MPI_IN_PLACE : out,
         rank + 1, MPI_INT, in, counts, places, MPI_INT, root, MPI_COMM_WORLD);
    EACH(Scatter, scatter, down, leads ? 28 * ranks : 0, 28, out, 7, MPI_INT, in, 7, MPI_INT, root,
         MPI_COMM_WORLD);
    observe(in, 28);
    EACH(Scatter, scatter, down, leads ? 28 * ranks : 0, leads ? 0 : 28, out, 7, MPI_INT,
         leads ? MPI_IN_PLACE : in, 7, MPI_INT, root, MPI_COMM_WORLD);
    EACH(Scatterv, scatterv, down, leads ? 4 * total : 0, 4 * (rank + 1), out, counts, places, MPI_INT, in,
         rank + 1, MPI_INT, root, MPI_COMM_WORLD);
    observe(in, 4 * (rank + 1));
    EACH(Scatterv, scatterv, down, leads ? 4 * total : 0, leads ? 0 : 4 * (rank + 1), out, counts, places,
         MPI_INT, leads ? MPI_IN_PLACE : in, rank + 1, MPI_INT, root, MPI_COMM_WORLD);
}

/* What is significant at the root only may be anything elsewhere. */
static void insignificant_arguments(int root) {
    const int leads = rank == root;
    SIZED(Gatherv, (out, 2, MPI_INT, leads ? in : NULL, leads ? counts : NULL, leads ? places : NULL,
                    leads ? MPI_INT : MPI_DATATYPE_NULL, root, MPI_COMM_WORLD));
    collective(leads ? AS_DESTINATION : AS_SOURCE, 8, leads ? 8 * ranks : 0);
    SIZED(Gather, (out, 3, MPI_INT, leads ? in : NULL, leads ? 3 : -1, leads ? MPI_INT : MPI_DATATYPE_NULL,
                   root, MPI_COMM_WORLD));
    collective(leads ? AS_DESTINATION : AS_SOURCE, 12, leads ? 12 * ranks : 0);
    SIZED(Scatter, (leads ? out : NULL, leads ? 3 : -1, leads ? MPI_INT : MPI_DATATYPE_NULL, in, 3, MPI_INT,
                    root, MPI_COMM_WORLD));
    collective(leads ? AS_SOURCE : AS_DESTINATION, leads ? 12 * ranks : 0, 12);
}

static void reductions(void) {
    EACH(Allreduce, allreduce, EXCHANGE, 28, 28, out, in, 7, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    observe(in, 28);
    memset(in, 0, 16);
    EACH(Allreduce, allreduce, EXCHANGE, 16, 16, MPI_IN_PLACE, in, 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    EACH(Allreduce, allreduce, EXCHANGE, 0, 0, out, in, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    EACH(Scan, scan, EXCHANGE, 28, 28, out, in, 7, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    EACH(Scan, scan, EXCHANGE, 28, 28, MPI_IN_PLACE, in, 7, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    EACH(Exscan, exscan, EXCHANGE, 28, rank == 0 ? 0 : 28, out, in, 7, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    observe(in, 28);
    EACH(Reduce_scatter_block, reduce_scatter_block, EXCHANGE, 28 * ranks, 28, out, in, 7, MPI_INT, MPI_SUM,
         MPI_COMM_WORLD);
    EACH(Reduce_scatter, reduce_scatter, EXCHANGE, 4 * total, 4 * (rank + 1), out, in, counts, MPI_INT,
         MPI_SUM, MPI_COMM_WORLD);
    observe(in, 4 * (rank + 1));
    EACH(Reduce_scatter, reduce_scatter, EXCHANGE, 4 * total, 4 * (rank + 1), MPI_IN_PLACE, in, counts,
         MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    EACH(Reduce_scatter_block, reduce_scatter_block, EXCHANGE, 8 * ranks, 8, MPI_IN_PLACE, in, 2, MPI_INT,
         MPI_MAX, MPI_COMM_WORLD);
    SIZED(Reduce_local, (out, in, 5, MPI_INT, MPI_SUM));
    observe(in, 64);
}

static void gathers(void) {
    EACH(Allgather, allgather, EXCHANGE, 28, 28 * ranks, out, 7, MPI_INT, in, 7, MPI_INT, MPI_COMM_WORLD);
    observe(in, 28 * ranks);
    EACH(Allgather, allgather, EXCHANGE, 28, 28 * ranks, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, 7, MPI_INT,
         MPI_COMM_WORLD);
    EACH(Allgatherv, allgatherv, EXCHANGE, 4 * (rank + 1), 4 * total, out, rank + 1, MPI_INT, in, counts,
         places, MPI_INT, MPI_COMM_WORLD);
    observe(in, 4 * total);
    EACH(Allgatherv, allgatherv, EXCHANGE, 4 * (rank + 1), 4 * total, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in,
         counts, places, MPI_INT, MPI_COMM_WORLD);
}

static void all_to_all(void) {
    count_t both[64];
    place_t spread[64], bytes[64];
    MPI_Datatype types[64];
    int sum = 0, wide = 0;
    EACH(Alltoall, alltoall, EXCHANGE, 28 * ranks, 28 * ranks, out, 7, MPI_INT, in, 7, MPI_INT,
         MPI_COMM_WORLD);
    observe(in, 28 * ranks);
    EACH(Alltoall, alltoall, EXCHANGE, 28 * ranks, 28 * ranks, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, 7,
         MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < ranks; ++i) {
        both[i] = i + rank; /* rank 0 has nothing for itself */
        spread[i] = 16 * i;
        bytes[i] = 64 * i;
        types[i] = (i + rank) % 2 ? gapped : MPI_INT;
        sum += 4 * (i + rank);
        wide += ((i + rank) % 2 ? 12 : 4) * (i + rank);
    }
    EACH(Alltoallv, alltoallv, EXCHANGE, sum, sum, out, both, spread, MPI_INT, in, both, spread, MPI_INT,
         MPI_COMM_WORLD);
    observe(in, 64 * ranks);
    EACH(Alltoallv, alltoallv, EXCHANGE, sum, sum, MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, in, both,
         spread, MPI_INT, MPI_COMM_WORLD);
    EACH(Alltoallw, alltoallw, EXCHANGE, wide, wide, out, both, bytes, types, in, both, bytes, types,
         MPI_COMM_WORLD);
    observe(in, 64 * ranks);
    EACH(Alltoallw, alltoallw, EXCHANGE, wide, wide, MPI_IN_PLACE, NULL, NULL, NULL, in, both, bytes, types,
         MPI_COMM_WORLD);
}

static void barriers(void) {
    CALL(Barrier, (MPI_COMM_WORLD));
    barrier_passed();
    CALL(Ibarrier, (MPI_COMM_WORLD, &each_request));
    barrier_passed();
    CALL(Wait, (&each_request, MPI_STATUS_IGNORE));
#ifdef HAS_FUNCTIONS_OF_MPI_4
    CALL(Barrier_init, (MPI_COMM_WORLD, MPI_INFO_NULL, &each_request));
    CALL(Start, (&each_request));
    barrier_passed();
    CALL(Wait, (&each_request, MPI_STATUS_IGNORE));
    CALL(Startall, (1, &each_request));
    barrier_passed();
    CALL(Wait, (&each_request, MPI_STATUS_IGNORE));
    CALL(Request_free, (&each_request));
#endif
}

int main(int argc, char** argv) {
    begin(&argc, &argv);
    SIZED(Type_vector, (3, 1, 2, MPI_INT, &gapped)); /* 12 bytes of data over 20 */
    CALL(Type_commit, (&gapped));
    growing_counts();
    for (int root = 0; root < ranks; ++root)
        rooted(root);
    for (int i = 0; i < ranks; ++i)
        counts[i] = 2;
    insignificant_arguments(ranks - 1);
    growing_counts();
    reductions();
    gathers();
    all_to_all();
    barriers();
    CALL(Type_free, (&gapped));
    return end("collectives");
}
