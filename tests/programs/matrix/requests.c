/* Nonblocking point-to-point calls, and every way to complete a request. */
#include "program.h"

enum { MANY = 40 }; /* more requests than a wrapper would keep on its stack */

/* MANY receives of i + 1 bytes, then MANY sends. */
static void post(MPI_Request* requests, int tag) {
    for (int i = 0; i < MANY; ++i)
        SIZED(Irecv, ((char*)in + 100 * i, 100, MPI_BYTE, left, tag + i, MPI_COMM_WORLD, &requests[i]));
    for (int i = 0; i < MANY; ++i) {
        SIZED(Isend, (out + i, i + 1, MPI_BYTE, right, tag + i, MPI_COMM_WORLD, &requests[MANY + i]));
        sent(i + 1);
    }
}

static void arrived(int index) {
    if (index < MANY)
        received(index + 1);
}

static void complete_in_every_way(void) {
    MPI_Request requests[2 * MANY];
    MPI_Status statuses[2 * MANY];
    int indices[2 * MANY], index, flag, count;
    post(requests, 100);
    CALL(Waitall, (2 * MANY, requests, statuses));
    for (int i = 0; i < MANY; ++i) {
        received(i + 1);
        CHECK(statuses[i].MPI_SOURCE == left && statuses[i].MPI_TAG == 100 + i);
    }
    post(requests, 200);
    CALL(Waitall, (2 * MANY, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < MANY; ++i)
        received(i + 1);
    post(requests, 300);
    for (int i = 0; i < 2 * MANY; ++i) {
        CALL(Waitany, (2 * MANY, requests, &index, i % 2 ? MPI_STATUS_IGNORE : &statuses[0]));
        arrived(index);
    }
    CALL(Waitany, (2 * MANY, requests, &index, MPI_STATUS_IGNORE));
    CHECK(index == MPI_UNDEFINED);
    for (int ignore = 0; ignore < 2; ++ignore) {
        post(requests, 400 + 100 * ignore);
        for (int done = 0; done < 2 * MANY; done += count) {
            CALL(Waitsome, (2 * MANY, requests, &count, indices, ignore ? MPI_STATUSES_IGNORE : statuses));
            for (int i = 0; i < count; ++i)
                arrived(indices[i]);
        }
        CALL(Waitsome, (2 * MANY, requests, &count, indices, MPI_STATUSES_IGNORE));
        CHECK(count == MPI_UNDEFINED);
    }
    post(requests, 600);
    do
        CALL(Testall, (2 * MANY, requests, &flag, MPI_STATUSES_IGNORE));
    while (!flag);
    for (int i = 0; i < MANY; ++i)
        received(i + 1);
    post(requests, 700);
    for (int done = 0; done < 2 * MANY; done += flag) {
        CALL(Testany, (2 * MANY, requests, &index, &flag, MPI_STATUS_IGNORE));
        if (flag)
            arrived(index);
    }
    CALL(Testany, (2 * MANY, requests, &index, &flag, &statuses[0]));
    CHECK(flag && index == MPI_UNDEFINED);
    post(requests, 800);
    for (int done = 0; done < 2 * MANY; done += count) {
        CALL(Testsome, (2 * MANY, requests, &count, indices, statuses));
        for (int i = 0; i < count; ++i)
            arrived(indices[i]);
    }
    post(requests, 900);
    for (int i = 0; i < 2 * MANY; ++i) {
        if (i % 2 == 0) {
            CALL(Wait, (&requests[i], i % 4 ? &statuses[0] : MPI_STATUS_IGNORE));
        } else {
            do
                CALL(Test, (&requests[i], &flag, i % 4 == 1 ? &statuses[0] : MPI_STATUS_IGNORE));
            while (!flag);
        }
        arrived(i);
    }
    CALL(Wait, (&requests[0], &statuses[0])); /* MPI_REQUEST_NULL */
    CALL(Test, (&requests[0], &flag, &statuses[0]));
    CALL(Waitall, (0, requests, MPI_STATUSES_IGNORE));
    observe(in, 100 * MANY);
}

static void send_modes(void) {
    static char space[4096];
    MPI_Request requests[8];
    void* returned;
    count_t size;
    for (int i = 0; i < 4; ++i)
        SIZED(Irecv, (in + 16 * i, 16, MPI_INT, left, 1000 + i, MPI_COMM_WORLD, &requests[i]));
    CALL(Barrier, (MPI_COMM_WORLD));
    barrier_passed();
    SIZED(Buffer_attach, (space, sizeof space));
    SIZED(Isend, (out, 1, MPI_INT, right, 1000, MPI_COMM_WORLD, &requests[4]));
    sent(4);
    SIZED(Ibsend, (out, 2, MPI_INT, right, 1001, MPI_COMM_WORLD, &requests[5]));
    sent(8);
    SIZED(Issend, (out, 3, MPI_INT, right, 1002, MPI_COMM_WORLD, &requests[6]));
    sent(12);
    SIZED(Irsend, (out, 4, MPI_INT, right, 1003, MPI_COMM_WORLD, &requests[7]));
    sent(16);
    CALL(Waitall, (8, requests, MPI_STATUSES_IGNORE));
    for (int i = 1; i <= 4; ++i)
        received(4 * i);
    SIZED(Buffer_detach, (&returned, &size));
    observe(in, 256);
}

static void special(void) {
    MPI_Request request, other, both[2];
    MPI_Message message;
    MPI_Status status;
    int flag;
    /* matched */
    SIZED(Isend, (out, 21, MPI_INT, right, 1100, MPI_COMM_WORLD, &other));
    sent(84);
    CALL(Mprobe, (left, 1100, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE));
    SIZED(Imrecv, (in, 64, MPI_INT, &message, &request));
    CALL(Wait, (&request, MPI_STATUS_IGNORE));
    received(84);
    CALL(Wait, (&other, MPI_STATUS_IGNORE));
    CALL(Mprobe, (MPI_PROC_NULL, 1100, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE));
    SIZED(Imrecv, (in, 64, MPI_INT, &message, &request));
    CALL(Wait, (&request, MPI_STATUS_IGNORE));
    /* looked at before it is completed */
    SIZED(Irecv, (in, 64, MPI_INT, left, 1101, MPI_COMM_WORLD, &request));
    SIZED(Send, (out, 22, MPI_INT, right, 1101, MPI_COMM_WORLD));
    sent(88);
    do
        CALL(Request_get_status, (request, &flag, &status));
    while (!flag);
    CALL(Request_get_status, (request, &flag, MPI_STATUS_IGNORE));
#ifdef HAS_FUNCTIONS_OF_MPI_4_1
    int index;
    CALL(Request_get_status_all, (1, &request, &flag, MPI_STATUSES_IGNORE));
    CHECK(flag);
    CALL(Request_get_status_any, (1, &request, &index, &flag, MPI_STATUS_IGNORE));
    CHECK(flag && index == 0);
    CALL(Request_get_status_some, (1, &request, &flag, &index, MPI_STATUSES_IGNORE));
    CHECK(flag == 1 && index == 0);
#endif
    CALL(Wait, (&request, MPI_STATUS_IGNORE));
    received(88);
    /* cancelled */
    SIZED(Irecv, (in, 64, MPI_INT, left, 1102, MPI_COMM_WORLD, &request));
    CALL(Cancel, (&request));
    CALL(Wait, (&request, &status));
    CALL(Test_cancelled, (&status, &flag));
    CHECK(flag);
    /* freed: the send has counted, the receive never will; the next message with this tag comes after it */
    SIZED(Irecv, (in, 64, MPI_INT, left, 1103, MPI_COMM_WORLD, &request));
    CALL(Request_free, (&request));
    SIZED(Isend, (out, 23, MPI_INT, right, 1103, MPI_COMM_WORLD, &request));
    sent(92);
    CALL(Request_free, (&request));
    SIZED(Sendrecv, (out, 3, MPI_INT, right, 1103, in + 64, 64, MPI_INT, left, 1103, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE));
    sent(12), received(12);
    /* to and from nobody */
    SIZED(Isend, (out, 9, MPI_INT, MPI_PROC_NULL, 1104, MPI_COMM_WORLD, &both[0]));
    SIZED(Irecv, (in, 9, MPI_INT, MPI_PROC_NULL, 1104, MPI_COMM_WORLD, &both[1]));
    CALL(Waitall, (2, both, MPI_STATUSES_IGNORE));
    /* nothing */
    SIZED(Irecv, (in, 9, MPI_INT, left, 1105, MPI_COMM_WORLD, &both[0]));
    SIZED(Isend, (NULL, 0, MPI_INT, right, 1105, MPI_COMM_WORLD, &both[1]));
    sent(0);
    CALL(Waitall, (2, both, MPI_STATUSES_IGNORE));
    received(0);
    /* to itself */
    SIZED(Irecv, (in, 9, MPI_INT, rank, 1106, MPI_COMM_WORLD, &both[0]));
    SIZED(Isend, (out, 2, MPI_INT, rank, 1106, MPI_COMM_WORLD, &both[1]));
    sent(8);
    CALL(Waitall, (2, both, MPI_STATUSES_IGNORE));
    received(8);
}

/* Failed completions: the truncated receive is not counted, those that arrived whole in the same call neither. */
static void failures(void) {
    MPI_Request requests[3];
    MPI_Status statuses[3];
    CALL(Comm_set_errhandler, (MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    SIZED(Irecv, (in, 1, MPI_INT, left, 1200, MPI_COMM_WORLD, &requests[0]));
    SIZED(Send, (out, 2, MPI_INT, right, 1200, MPI_COMM_WORLD));
    sent(8);
    CALL_FAILS(Wait, (&requests[0], &statuses[0]));
    SIZED(Irecv, (in, 1, MPI_INT, left, 1201, MPI_COMM_WORLD, &requests[0]));
    SIZED(Irecv, (in + 4, 2, MPI_INT, left, 1202, MPI_COMM_WORLD, &requests[1]));
    SIZED(Isend, (out, 2, MPI_INT, right, 1201, MPI_COMM_WORLD, &requests[2]));
    sent(8);
    SIZED(Send, (out, 2, MPI_INT, right, 1202, MPI_COMM_WORLD));
    sent(8);
    CALL_FAILS(Waitall, (3, requests, statuses));
    CALL(Comm_set_errhandler, (MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
}

#ifdef HAS_FUNCTIONS_OF_MPI_4
/* MPICH 4.0.2 and 4.2.1 never write the status of these requests, so how much the last two receive cannot be known there. */
static void combined(void) {
    MPI_Request requests[2];
    int copy[6];
    memcpy(copy, out, sizeof copy);
    SIZED(Isendrecv,
          (out, 6, MPI_INT, right, 1300, in, 64, MPI_INT, MPI_PROC_NULL, 1300, MPI_COMM_WORLD, &requests[0]));
    sent(24);
    SIZED(Isendrecv_replace,
          (copy, 6, MPI_INT, right, 1300, MPI_PROC_NULL, 1300, MPI_COMM_WORLD, &requests[1]));
    sent(24);
    for (int i = 0; i < 2; ++i) {
        SIZED(Recv, (in, 64, MPI_INT, left, 1300, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        received(24);
    }
    CALL(Waitall, (2, requests, MPI_STATUSES_IGNORE));
    observe(in, 24);
    SIZED(Isendrecv, (out, 6, MPI_INT, right, 1301, in, 64, MPI_INT, left, 1301, MPI_COMM_WORLD, &requests[0]));
    sent(24);
    SIZED(Isendrecv_replace, (copy, 6, MPI_INT, right, 1302, left, 1302, MPI_COMM_WORLD, &requests[1]));
    sent(24);
    CALL(Waitall, (2, requests, MPI_STATUSES_IGNORE));
#ifdef OPEN_MPI
    received(24), received(24);
#else
    log_metric("p2p_receive_communications", 2);
#endif
    observe(in, 24), observe(copy, 24);
}
#endif

int main(int argc, char** argv) {
    begin(&argc, &argv);
    complete_in_every_way();
    send_modes();
    special();
#ifdef HAS_FUNCTIONS_OF_MPI_4
    combined();
#endif
    failures();
    return end("requests");
}
