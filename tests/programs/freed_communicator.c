/* Another thread frees a communicator while a receive in it waits, which then completes as usual: freed_communicator KNOWN. KNOWN is 1 if messages were
   exchanged in it before. 2 ranks. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static MPI_Comm comm;
static int sum;
static volatile int is_receiving;

static void *receive(void *unused) {
    int value = 0;
    (void)unused;
    is_receiving = 1;
    MPI_Recv(&value, 1, MPI_INT, 1, 1, comm, MPI_STATUS_IGNORE);
    sum += value;
    return NULL;
}

int main(int argc, char **argv) {
    const int is_known = argc > 1 && atoi(argv[1]) != 0;
    int level, rank;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 5; ++i) {
        int out = i, in;
        MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &comm);
        if (is_known) MPI_Sendrecv(&out, 1, MPI_INT, !rank, 2, &in, 1, MPI_INT, !rank, 2, comm, MPI_STATUS_IGNORE);
        if (rank == 0) {
            pthread_t thread;
            MPI_Comm freed = comm;
            is_receiving = 0;
            pthread_create(&thread, NULL, receive, NULL);
            while (!is_receiving) usleep(1000);
            usleep(50000); /* until it waits */
            MPI_Comm_free(&freed);
            pthread_join(thread, NULL);
        } else {
            usleep(150000);
            MPI_Send(&out, 1, MPI_INT, 0, 1, comm);
            MPI_Comm_free(&comm);
        }
    }
    if (rank == 0) printf("%d\n", sum);
    MPI_Finalize();
    return 0;
}
