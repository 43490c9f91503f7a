/* Iterations of known kinds. Usage: kinds ROUNDS
 * Ranks 0 and 1 go through A A B A in every round, all others through A A A A. In B the two do the same as in A and also exchange a large
 * message. Rank 2 leaves out the last round; rank 3 has an extra phase. */
#include <libprofile.h>
#include <mpi.h>
#include <stdlib.h>
#include <time.h>

/* Five milliseconds of processor time. Time that a virtual machine adds without having run, or a switch of programs, is then a few percent,
 * and ranks that do the same stay within the 15 % of one kind. */
static void compute(void) {
    struct timespec t, now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    while ((now.tv_sec - t.tv_sec) * 1000000000L + now.tv_nsec - t.tv_nsec < 5000000);
}

static void exchange(int other, int bytes) {
    static char out[100000], in[100000];
    MPI_Sendrecv(out, bytes, MPI_CHAR, other, 1, in, bytes, MPI_CHAR, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void large(int rank) { exchange(rank ^ 1, 100000); }

int main(int argc, char** argv) {
    int rank;
    const int rounds = argc > 1 ? atoi(argv[1]) : 5;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 4 * rounds; ++i) {
        if (rank == 2 && i >= 4 * (rounds - 1)) break;
        profile_iteration_begin("step");
        compute();
        exchange(rank, 1000);
        if (rank < 2 && i % 4 == 2) large(rank);
        profile_iteration_end("step");
    }
    if (rank == 3) {
        profile_iteration_begin("alone");
        profile_iteration_end("alone");
    }
    MPI_Finalize();
    return 0;
}
