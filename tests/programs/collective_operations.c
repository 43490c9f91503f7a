/* Collective operations of several communicators: collective_operations ITERATIONS. Each rank writes operations.RANK.json: for each operation in its order
   the function, the ranks of the communicator, and how many its ranks had before. */
#include <libprofile.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { MOST_RANKS = 16, MOST_GROUPS = 64 };

static int rank, size;
static FILE *file;
static const char *comma = "";
static struct { char ranks[64]; int operations; } groups[MOST_GROUPS];

static void note(const char *function, MPI_Comm comm) {
    int members, own[MOST_RANKS], world[MOST_RANKS];
    MPI_Group group, all;
    char ranks[64] = "";
    MPI_Comm_group(comm, &group);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_size(group, &members);
    for (int i = 0; i < members; ++i) own[i] = i;
    MPI_Group_translate_ranks(group, members, own, all, world);
    for (int i = 0; i < members; ++i) sprintf(ranks + strlen(ranks), i == 0 ? "%d" : " %d", world[i]);
    MPI_Group_free(&group);
    MPI_Group_free(&all);
    int g = 0;
    while (groups[g].ranks[0] != '\0' && strcmp(groups[g].ranks, ranks) != 0) ++g;
    strcpy(groups[g].ranks, ranks);
    fprintf(file, "%s[\"%s\", \"%s\", %d]", comma, function, ranks, ++groups[g].operations);
    comma = ",\n ";
}

/* The same operations in each iteration, but for rooted ones. */
static void operations(MPI_Comm comm, int step) {
    int members, value = 1, sum, all[MOST_RANKS];
    MPI_Request request;
    MPI_Comm_size(comm, &members);
    MPI_Barrier(comm);
    note("MPI_Barrier", comm);
    MPI_Bcast(&value, 1, MPI_INT, step % members, comm);
    note("MPI_Bcast", comm);
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm);
    note("MPI_Allreduce", comm);
    MPI_Iallgather(&value, 1, MPI_INT, all, 1, MPI_INT, comm, &request);
    note("MPI_Iallgather", comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Ibarrier(comm, &request);
    note("MPI_Ibarrier", comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv) {
    int iterations = 0;
    char name[64];
    MPI_Init(&argc, &argv);
    if (argc > 1) sscanf(argv[1], "%d", &iterations);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    snprintf(name, sizeof name, "operations.%d.json", rank);
    file = fopen(name, "w");
    fprintf(file, "[");
    MPI_Comm half, backwards, copy, both;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &backwards);
    MPI_Comm_dup(half, &copy);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 7, &both); /* its operations are in no log */
    for (int i = 0; i < iterations; ++i) {
        profile_iteration_begin("step");
        operations(MPI_COMM_WORLD, i);
        operations(half, i);
        if (rank % 2 == 0) operations(half, i);
        operations(backwards, i);
        operations(copy, i);
        operations(MPI_COMM_SELF, 0);
        MPI_Barrier(both);
        profile_iteration_end("step");
    }
    fprintf(file, "]\n");
    fclose(file);
    MPI_Comm_free(&both);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&backwards);
    MPI_Comm_free(&half);
    MPI_Finalize();
    return 0;
}
