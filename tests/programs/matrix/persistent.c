/* Persistent sends and receives, started alone and together, started again; partitioned ones. */
#include "program.h"

#include <stdlib.h>

enum { MANY = 40 }; /* more requests than a wrapper would keep on its stack */

static void send_modes(void) {
    static char space[4096];
    MPI_Request requests[8];
    void* returned;
    count_t size;
    SIZED(Buffer_attach, (space, sizeof space));
    for (int i = 0; i < 4; ++i)
        SIZED(Recv_init, (in + 16 * i, 16, MPI_INT, left, 10 + i, MPI_COMM_WORLD, &requests[i]));
    SIZED(Send_init, (out, 1, MPI_INT, right, 10, MPI_COMM_WORLD, &requests[4]));
    SIZED(Bsend_init, (out, 2, MPI_INT, right, 11, MPI_COMM_WORLD, &requests[5]));
    SIZED(Ssend_init, (out, 3, MPI_INT, right, 12, MPI_COMM_WORLD, &requests[6]));
    SIZED(Rsend_init, (out, 4, MPI_INT, right, 13, MPI_COMM_WORLD, &requests[7]));
    for (int round = 0; round < 3; ++round) {
        CALL(Startall, (4, requests));
        CALL(Barrier, (MPI_COMM_WORLD));
        barrier_passed();
        if (round == 0) {
            CALL(Startall, (4, requests + 4));
            for (int i = 1; i <= 4; ++i)
                sent(4 * i);
        } else {
            for (int i = 1; i <= 4; ++i) {
                CALL(Start, (&requests[3 + i]));
                sent(4 * i);
            }
        }
        CALL(Waitall, (8, requests, MPI_STATUSES_IGNORE));
        for (int i = 1; i <= 4; ++i)
            received(4 * i);
        observe(in, 256);
    }
    CALL(Waitall, (8, requests, MPI_STATUSES_IGNORE)); /* none is active */
    for (int i = 0; i < 8; ++i)
        CALL(Request_free, (&requests[i]));
    SIZED(Buffer_detach, (&returned, &size));
}

static void nothing_and_nobody(void) {
    MPI_Request requests[4];
    SIZED(Recv_init, (in, 4, MPI_INT, left, 20, MPI_COMM_WORLD, &requests[0]));
    SIZED(Send_init, (out, 0, MPI_INT, right, 20, MPI_COMM_WORLD, &requests[1]));
    SIZED(Recv_init, (in, 4, MPI_INT, MPI_PROC_NULL, 21, MPI_COMM_WORLD, &requests[2]));
    SIZED(Send_init, (out, 4, MPI_INT, MPI_PROC_NULL, 21, MPI_COMM_WORLD, &requests[3]));
    for (int round = 0; round < 2; ++round) {
        CALL(Startall, (4, requests));
        sent(0);
        CALL(Waitall, (4, requests, MPI_STATUSES_IGNORE));
        received(0);
    }
    for (int i = 0; i < 4; ++i)
        CALL(Request_free, (&requests[i]));
}

static void complete_in_every_way(void) {
    MPI_Request requests[2 * MANY];
    MPI_Datatype gapped;
    int indices[2 * MANY], index, flag, count;
    SIZED(Type_vector, (2, 1, 2, MPI_SHORT, &gapped)); /* 4 bytes of data over 6 */
    CALL(Type_commit, (&gapped));
    for (int i = 0; i < MANY; ++i) {
        SIZED(Recv_init, (in + 100 * i, 100, MPI_INT, left, 100 + i, MPI_COMM_WORLD, &requests[i]));
        SIZED(Send_init, (out, i + 1, gapped, right, 100 + i, MPI_COMM_WORLD, &requests[MANY + i]));
    }
    for (int way = 0; way < 5; ++way) {
        CALL(Startall, (2 * MANY, requests));
        for (int i = 0; i < MANY; ++i)
            sent(4 * (i + 1));
        int done = 0;
        while (done < 2 * MANY) {
            count = 0;
            switch (way) {
            case 0:
                CALL(Waitany, (2 * MANY, requests, &indices[0], MPI_STATUS_IGNORE));
                count = 1;
                break;
            case 1:
                CALL(Testany, (2 * MANY, requests, &indices[0], &flag, MPI_STATUS_IGNORE));
                count = flag;
                break;
            case 2:
                CALL(Waitsome, (2 * MANY, requests, &count, indices, MPI_STATUSES_IGNORE));
                break;
            case 3:
                CALL(Testsome, (2 * MANY, requests, &count, indices, MPI_STATUSES_IGNORE));
                break;
            default:
                CALL(Testall, (2 * MANY, requests, &flag, MPI_STATUSES_IGNORE));
                for (; flag && count < 2 * MANY; ++count)
                    indices[count] = count;
            }
            for (int i = 0; i < count; ++i)
                if (indices[i] < MANY)
                    received(4 * (indices[i] + 1));
            done += count;
        }
        CALL(Waitany, (2 * MANY, requests, &index, MPI_STATUS_IGNORE));
        CHECK(index == MPI_UNDEFINED);
        observe(in, 400 * MANY);
    }
    for (int i = 0; i < 2 * MANY; ++i)
        CALL(Request_free, (&requests[i]));
    CALL(Type_free, (&gapped));
}

/* A request is marked for deallocation while it is active; its datatype and communicator are freed before it is started. */
static void freed_early(void) {
    MPI_Request receive, send;
    MPI_Datatype pair;
    MPI_Comm copy;
    SIZED(Type_contiguous, (2, MPI_INT, &pair));
    CALL(Type_commit, (&pair));
    CALL(Comm_dup, (MPI_COMM_WORLD, &copy));
    SIZED(Send_init, (out, 3, pair, right, 30, copy, &send));
    SIZED(Recv_init, (in, 3, pair, left, 30, copy, &receive));
    CALL(Type_free, (&pair));
    CALL(Start, (&receive));
    CALL(Start, (&send));
    sent(24);
    CALL(Request_free, (&send));
    CALL(Wait, (&receive, MPI_STATUS_IGNORE));
    received(24);
    CALL(Request_free, (&receive));
    CALL(Comm_free, (&copy));
    observe(in, 24);
}

static void cancelled(void) {
    MPI_Request request;
    MPI_Status status;
    int flag;
    SIZED(Recv_init, (in, 3, MPI_INT, left, 31, MPI_COMM_WORLD, &request));
    for (int round = 0; round < 2; ++round) {
        CALL(Start, (&request));
        CALL(Cancel, (&request));
        CALL(Wait, (&request, &status));
        CALL(Test_cancelled, (&status, &flag));
        CHECK(flag);
    }
    CALL(Request_free, (&request));
}

#ifdef HAS_FUNCTIONS_OF_MPI_4
static void partitioned(void) {
    MPI_Request requests[2];
    int list[2] = {4, 5};
    int flag;
    CALL(Precv_init, (in, 3, 8, MPI_INT, left, 40, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]));
    CALL(Psend_init, (out, 6, 4, MPI_INT, right, 40, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]));
    for (int round = 0; round < 2; ++round) {
        if (round == 0) {
            CALL(Startall, (2, requests));
            sent(96);
        } else {
            CALL(Start, (&requests[0]));
            CALL(Start, (&requests[1]));
            sent(96);
        }
        CALL(Pready, (0, requests[1]));
        CALL(Pready_range, (1, 3, requests[1]));
        CALL(Pready_list, (2, list, requests[1]));
        do
            CALL(Parrived, (requests[0], 0, &flag));
        while (!flag);
        CALL(Waitall, (2, requests, MPI_STATUSES_IGNORE));
        received(96);
        observe(in, 96);
    }
    CALL(Request_free, (&requests[0]));
    CALL(Request_free, (&requests[1]));
}
#endif

/* Open MPI starts a buffered send whose last message is still on its way under another handle. */
static void started_again_too_early(void) {
    enum { BYTES = 1 << 20, STARTS = 4 };
    char* message = calloc(1, BYTES);
    const int size = STARTS * (BYTES + MPI_BSEND_OVERHEAD);
    void* space = malloc((size_t)size);
    void* returned;
    count_t returned_size;
    MPI_Request request;
    SIZED(Buffer_attach, (space, size));
    SIZED(Bsend_init, (message, BYTES, MPI_CHAR, right, 50, MPI_COMM_WORLD, &request));
    for (int i = 0; i < STARTS; ++i) {
        CALL(Start, (&request));
        sent(BYTES);
        CALL(Wait, (&request, MPI_STATUS_IGNORE));
    }
    CALL(Barrier, (MPI_COMM_WORLD));
    barrier_passed();
    for (int i = 0; i < STARTS; ++i) {
        SIZED(Recv, (message, BYTES, MPI_CHAR, left, 50, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        received(BYTES);
    }
    CALL(Request_free, (&request));
    SIZED(Buffer_detach, (&returned, &returned_size));
    free(space);
    free(message);
}

int main(int argc, char** argv) {
    begin(&argc, &argv);
    send_modes();
    nothing_and_nobody();
    complete_in_every_way();
    freed_early();
    cancelled();
    started_again_too_early();
#ifdef HAS_FUNCTIONS_OF_MPI_4
    partitioned();
#endif
    return end("persistent");
}
