/* clocks ITERATIONS FOLDER [KILLED]: marked iterations, all ranks at the same time. Each is a line in FOLDER/log.<rank>: what CLOCK_MONOTONIC showed
 * before and after it began.. Rank KILLED kills itself after the last one, the others wait for it. */
#include <mpi.h>

#include <libprofile.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static long long now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

int main(int argc, char** argv) {
    const int iterations = argc > 1 ? atoi(argv[1]) : 0, killed = argc > 3 ? atoi(argv[3]) : -1;
    int rank = 0, got = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    char name[256];
    snprintf(name, sizeof name, "%s/log.%d", argc > 2 ? argv[2] : ".", rank);
    FILE* log = fopen(name, "w");
    if (log == NULL) MPI_Abort(MPI_COMM_WORLD, 99);
    for (int i = 0; i < iterations; ++i) {
        usleep(i % 10 == 9 ? 20000 : 500);
        MPI_Barrier(MPI_COMM_WORLD);
        const long long before = now();
        profile_iteration_begin("step");
        fprintf(log, "%lld %lld\n", before, now());
        fflush(log);
        MPI_Sendrecv(&i, 1, MPI_INT, rank, 1, &got, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        usleep(1000);
        profile_iteration_end("step");
    }
    if (rank == killed) raise(SIGKILL);
    MPI_Barrier(MPI_COMM_WORLD);
    printf("rank %d: %d\n", rank, got);
    MPI_Finalize();
    return 0;
}
