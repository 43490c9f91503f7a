/* Collective calls on an inter-communicator: rank 0 on one side, all others on the other; roots in both groups. */
#include "each.h"

static MPI_Comm inter;
static int remote, local; /* sizes of the groups */
static int self;          /* rank in the own group */
static count_t counts[64];
static place_t places[64];

static void make(void) {
    MPI_Comm half;
    CALL(Comm_split, (MPI_COMM_WORLD, rank == 0, rank, &half));
    CALL(Intercomm_create, (half, 0, MPI_COMM_WORLD, rank == 0 ? 1 : 0, 5, &inter));
    CALL(Comm_free, (&half));
    CALL(Comm_remote_size, (inter, &remote));
    CALL(Comm_size, (inter, &local));
    CALL(Comm_rank, (inter, &self));
}

/* The sum over i < n of 4 (i + 1). */
static int growing(int n) {
    return 2 * n * (n + 1);
}

/* Collectives with a root, which is process `chosen` of the group of rank 0, or of the others. */
static void rooted(int first_group_leads, int chosen) {
    const int leading_group = (rank == 0) == first_group_leads;
    const int leads = leading_group && self == chosen;
    const int root = leads ? MPI_ROOT : leading_group ? MPI_PROC_NULL : chosen;
    const char* up = leads ? AS_DESTINATION : AS_SOURCE;
    const char* down = leads ? AS_SOURCE : AS_DESTINATION;
    const int takes_part = leads || !leading_group;
    /* a process of the root's group that is not the root: visits only */
#define ROOTED(Name, name, role, out_bytes, in_bytes, ...)                                                   \
    EACH_FORM(SIZED, Name, name, takes_part ? collective(role, out_bytes, in_bytes) : (void)0, __VA_ARGS__)
    memset(in, 0, sizeof in);
    ROOTED(Bcast, bcast, down, leads ? 28 : 0, leads ? 0 : 28, leads ? out : in, 7, MPI_INT, root, inter);
    ROOTED(Reduce, reduce, up, leads ? 0 : 28, leads ? 28 : 0, out, in, 7, MPI_INT, MPI_SUM, root, inter);
    observe(in, 28);
    ROOTED(Gather, gather, up, leads ? 0 : 28, leads ? 28 * remote : 0, out, 7, MPI_INT, in, 7, MPI_INT, root,
           inter);
    ROOTED(Gatherv, gatherv, up, leads ? 0 : 4 * (self + 1), leads ? growing(remote) : 0, out, self + 1,
           MPI_INT, in, counts, places, MPI_INT, root, inter);
    observe(in, 64 * remote);
    ROOTED(Scatter, scatter, down, leads ? 28 * remote : 0, leads ? 0 : 28, out, 7, MPI_INT, in, 7, MPI_INT,
           root, inter);
    ROOTED(Scatterv, scatterv, down, leads ? growing(remote) : 0, leads ? 0 : 4 * (self + 1), out, counts,
           places, MPI_INT, in, self + 1, MPI_INT, root, inter);
    observe(in, 28);
}

static void exchanges(void) {
    MPI_Datatype types[64];
    place_t bytes[64];
    count_t shares[64];
    for (int i = 0; i < 64; ++i) {
        types[i] = MPI_INT;
        bytes[i] = 64 * i;
    }
    EACH(Allreduce, allreduce, EXCHANGE, 28, 28, out, in, 7, MPI_INT, MPI_SUM, inter);
    EACH(Allgather, allgather, EXCHANGE, 28, 28 * remote, out, 7, MPI_INT, in, 7, MPI_INT, inter);
    EACH(Allgatherv, allgatherv, EXCHANGE, 4 * (self + 1), growing(remote), out, self + 1, MPI_INT, in,
         counts, places, MPI_INT, inter);
    EACH(Alltoall, alltoall, EXCHANGE, 28 * remote, 28 * remote, out, 7, MPI_INT, in, 7, MPI_INT, inter);
    /* to process i of the remote group: as many as that has places for process `self` */
    for (int i = 0; i < remote; ++i)
        counts[i] = i + self + 1;
    int sum = 0;
    for (int i = 0; i < remote; ++i)
        sum += 4 * (i + self + 1);
    EACH(Alltoallv, alltoallv, EXCHANGE, sum, sum, out, counts, places, MPI_INT, in, counts, places, MPI_INT,
         inter);
    EACH(Alltoallw, alltoallw, EXCHANGE, sum, sum, out, counts, bytes, types, in, counts, bytes, types,
         inter);
    observe(in, 64 * remote);
    /* the result is scattered over the local group; both groups contribute vectors of the same length */
    const int each = 6 / local;
    for (int i = 0; i < local; ++i)
        shares[i] = each;
    EACH(Reduce_scatter, reduce_scatter, EXCHANGE, 24, 4 * each, out, in, shares, MPI_INT, MPI_SUM, inter);
    EACH(Reduce_scatter_block, reduce_scatter_block, EXCHANGE, 24, 4 * each, out, in, each, MPI_INT, MPI_SUM,
         inter);
    observe(in, 4 * each);
    CALL(Barrier, (inter));
    barrier_passed();
    CALL(Ibarrier, (inter, &each_request));
    barrier_passed();
    CALL(Wait, (&each_request, MPI_STATUS_IGNORE));
}

int main(int argc, char** argv) {
    begin(&argc, &argv);
    make();
    for (int i = 0; i < 64; ++i) {
        counts[i] = i + 1;
        places[i] = 16 * i;
    }
    rooted(1, 0);
    for (int chosen = 0; chosen < ranks - 1; ++chosen)
        rooted(0, chosen);
    exchanges();
    CALL(Comm_free, (&inter));
    return end("inter");
}
