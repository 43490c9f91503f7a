/* A time loop with messages round a ring and a sum of all. Rank 0 ends with exit code 3, which the launcher must see. It is the last one, since launchers
 * kill the others then. */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

static double step(int rank, int ranks, int i) {
    double out = rank + i, in = 0, sum = 0;
    MPI_Request requests[2];
    MPI_Irecv(&in, 1, MPI_DOUBLE, (rank + ranks - 1) % ranks, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(&out, 1, MPI_DOUBLE, (rank + 1) % ranks, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Allreduce(&in, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int k = 0; k < 200000; ++k) sum += 1e-9 * k;
    return sum;
}

int main(int argc, char** argv) {
    int rank, ranks;
    double total = 0;
    MPI_Comm half;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    for (int i = 0; i < 2000; ++i) total += step(rank, ranks, i);
    MPI_Bcast(&total, 1, MPI_DOUBLE, 0, half);
    MPI_Comm_free(&half);
    if (rank == 0) printf("%.6f\n", total);
    MPI_Finalize();
    if (rank == 0) sleep(1);
    return rank == 0 ? 3 : 0;
}
