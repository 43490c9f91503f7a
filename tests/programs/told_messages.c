/* told_messages STEPS [HOW]: messages around the ring of all ranks, in marked iterations, and a log of what each rank sends: a line "step partner bytes" in
   sent.RANK. HOW is what keeps libprofile from telling which receive belongs to which send:
   "swapped": receives of one kind are completed in another order than they were posted; "freed": one that is active is freed, which loses it;
   "off": the first messages of some ranks are not recorded. At least 2 ranks. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libprofile.h>

static FILE* list;
static int step;

static void note(int partner, int bytes) { fprintf(list, "%d %d %d\n", step, partner, bytes); }

int main(int argc, char** argv) {
    static char out[4096], in[3][4096];
    int rank, size;
    MPI_Request requests[3];
    MPI_Message message;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int steps = argc > 1 ? atoi(argv[1]) : 10, next = (rank + 1) % size, before = (rank + size - 1) % size;
    const char* how = argc > 2 ? argv[2] : "";
    char name[32];
    snprintf(name, sizeof name, "sent.%d", rank);
    list = fopen(name, "w");
    if (strcmp(how, "freed") == 0 && rank == 1) {
        MPI_Irecv(in[0], 8, MPI_BYTE, 0, 99, MPI_COMM_WORLD, &requests[0]);
        MPI_Request_free(&requests[0]);
    }
    if (strcmp(how, "off") == 0) {
        MPI_Pcontrol(0);
        MPI_Sendrecv(out, 4, MPI_BYTE, next, 1, in[0], 4, MPI_BYTE, before, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Pcontrol(1);
    }
    for (; step < steps; ++step) {
        profile_iteration_begin("step");
        for (int i = 0; i < 3; ++i) MPI_Irecv(in[i], sizeof in[i], MPI_BYTE, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &requests[i]);
        for (int i = 0; i < 3; ++i) {
            const int bytes = 100 * (i + 1) + step + rank;
            MPI_Send(out, bytes, MPI_BYTE, next, 1, MPI_COMM_WORLD);
            note(next, bytes);
        }
        for (int i = 0; i < 3; ++i) MPI_Wait(&requests[strcmp(how, "swapped") == 0 ? 2 - i : i], MPI_STATUS_IGNORE);
        MPI_Isend(out, 50 + rank, MPI_BYTE, rank, 2, MPI_COMM_WORLD, &requests[0]); /* to itself */
        note(rank, 50 + rank);
        MPI_Mprobe(MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
        MPI_Mrecv(in[0], sizeof in[0], MPI_BYTE, &message, MPI_STATUS_IGNORE);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        MPI_Sendrecv(out, 0, MPI_BYTE, next, 3, in[0], 1, MPI_BYTE, before, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        note(next, 0);
        MPI_Send(out, 9, MPI_BYTE, MPI_PROC_NULL, 4, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
        profile_iteration_end("step");
    }
    if (strcmp(how, "freed") == 0 && rank == 0) { /* what the freed receive waits for, after the last iteration */
        MPI_Send(out, 8, MPI_BYTE, 1, 99, MPI_COMM_WORLD);
        note(1, 8);
    }
    fclose(list);
    MPI_Finalize();
    return 0;
}
