/* Messages with partners that the program knows: partners [CALLS]. Writes its own log to log.RANK.json: by MPI function, direction and rank of
   MPI_COMM_WORLD, messages and bytes; rank -1: no tool can know. Needs an even number of ranks. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SENT, RECEIVED, MOST_RANKS = 64, MOST_FUNCTIONS = 16 };

static int rank, size;
static const char *functions[MOST_FUNCTIONS];
static long long tally[MOST_FUNCTIONS][2][MOST_RANKS + 1][2];

static void note(const char *function, int direction, int partner, int bytes) {
    int f = 0;
    while (functions[f] != NULL && strcmp(functions[f], function) != 0) ++f;
    functions[f] = function;
    ++tally[f][direction][partner + 1][0];
    tally[f][direction][partner + 1][1] += bytes;
}

static void write_log(void) {
    char name[64];
    snprintf(name, sizeof name, "log.%d.json", rank);
    FILE *file = fopen(name, "w");
    const char *comma = "";
    fprintf(file, "[");
    for (int f = 0; f < MOST_FUNCTIONS; ++f)
        for (int d = SENT; d <= RECEIVED; ++d)
            for (int p = 0; p <= MOST_RANKS; ++p)
                if (tally[f][d][p][0] != 0) {
                    fprintf(file, "%s[\"%s\", \"%s\", %d, %lld, %lld]", comma, functions[f], d == SENT ? "sent" : "received", p - 1, tally[f][d][p][0],
                            tally[f][d][p][1]);
                    comma = ",\n ";
                }
    fprintf(file, "]\n");
    fclose(file);
}

/* Around the ring of a communicator of all ranks, in their order or the opposite one. */
static void ring(MPI_Comm comm, int is_reversed) {
    int own, in[3], out[3] = {0};
    MPI_Comm_rank(comm, &own);
    const int to = (own + 1) % size, from = (own + size - 1) % size;
    MPI_Sendrecv(out, 3, MPI_INT, to, 1, in, 3, MPI_INT, from, 1, comm, MPI_STATUS_IGNORE);
    note("MPI_Sendrecv", SENT, is_reversed ? size - 1 - to : to, 12);
    note("MPI_Sendrecv", RECEIVED, is_reversed ? size - 1 - from : from, 12);
    MPI_Request requests[2];
    MPI_Irecv(in, 2, MPI_INT, MPI_ANY_SOURCE, 2, comm, &requests[0]);
    MPI_Isend(out, 2, MPI_INT, to, 2, comm, &requests[1]);
    note("MPI_Isend", SENT, is_reversed ? size - 1 - to : to, 8);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    note("MPI_Waitall", RECEIVED, is_reversed ? size - 1 - from : from, 8);
}

/* Communicators that come and go: their handles are given out again, for other ranks. */
static void reused_handles(int calls) {
    for (int i = 0; i < calls; ++i) {
        MPI_Comm comm, copy;
        MPI_Comm_split(MPI_COMM_WORLD, 0, i % 2 == 0 ? rank : -rank, &comm);
        ring(comm, i % 2);
        MPI_Comm_dup(comm, &copy);
        MPI_Comm_free(&comm);
        ring(copy, i % 2);
        if (i % 3 == 0)
            MPI_Comm_disconnect(&copy);
        else
            MPI_Comm_free(&copy);
    }
}

/* Every rank sends to rank 0, the higher ones more often. */
static void any_source(void) {
    int value = 0;
    if (rank != 0)
        for (int i = 0; i < rank; ++i) {
            MPI_Ssend(&value, i % 2, MPI_INT, 0, 3, MPI_COMM_WORLD);
            note("MPI_Ssend", SENT, 0, i % 2 * 4);
        }
    else
        for (int other = 1; other < size; ++other)
            for (int i = 0; i < other; ++i) {
                MPI_Status status;
                int count;
                MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &status);
                MPI_Get_count(&status, MPI_INT, &count);
                note("MPI_Recv", RECEIVED, status.MPI_SOURCE, count * 4);
            }
}

static void persistent(MPI_Comm reversed, int calls) {
    int in[5], out[5] = {0}, own;
    MPI_Comm_rank(reversed, &own);
    const int to = (own + 1) % size, from = (own + size - 1) % size;
    MPI_Request requests[2];
    MPI_Recv_init(in, 5, MPI_INT, from, 4, reversed, &requests[0]);
    MPI_Send_init(out, 5, MPI_INT, to, 4, reversed, &requests[1]);
    for (int i = 0; i < calls; ++i) {
        MPI_Startall(2, requests);
        note("MPI_Startall", SENT, size - 1 - to, 20);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        note("MPI_Waitall", RECEIVED, size - 1 - from, 20);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

/* The lower half of the ranks with the upper one; in both, the ranks begin at 0. */
static void across(int calls) {
    MPI_Comm half, inter;
    const int is_high = rank >= size / 2, partner = rank % (size / 2), in_world = is_high ? partner : partner + size / 2;
    MPI_Comm_split(MPI_COMM_WORLD, is_high, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, is_high ? 0 : size / 2, 5, &inter);
    double value = 0;
    for (int i = 0; i < calls; ++i) {
        if (is_high) {
            MPI_Send(&value, 1, MPI_DOUBLE, partner, 6, inter);
            note("MPI_Send", SENT, in_world, 8);
        } else {
            MPI_Recv(&value, 1, MPI_DOUBLE, partner, 6, inter, MPI_STATUS_IGNORE);
            note("MPI_Recv", RECEIVED, in_world, 8);
        }
    }
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

/* The receive of a matched message does not tell its communicator: the probe has. Nothing is exchanged with MPI_PROC_NULL. */
static void matched_and_nobody(void) {
    int value = 0;
    MPI_Request request;
    MPI_Message message;
    MPI_Issend(&value, 1, MPI_INT, (rank + 1) % size, 7, MPI_COMM_WORLD, &request);
    note("MPI_Issend", SENT, (rank + 1) % size, 4);
    MPI_Mprobe((rank + size - 1) % size, 7, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(&value, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
    note("MPI_Mrecv", RECEIVED, (rank + size - 1) % size, 4);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 8, MPI_COMM_WORLD);
    MPI_Recv(&value, 1, MPI_INT, MPI_PROC_NULL, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&value, 1, MPI_INT, MPI_PROC_NULL, 8, &value, 1, MPI_INT, MPI_PROC_NULL, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv) {
    const int calls = argc > 1 ? atoi(argv[1]) : 20;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm reversed;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
    ring(MPI_COMM_WORLD, 0);
    ring(reversed, 1);
    reused_handles(calls);
    any_source();
    persistent(reversed, calls);
    across(calls);
    matched_and_nobody();
    MPI_Comm_free(&reversed);
    write_log();
    MPI_Finalize();
    return 0;
}
