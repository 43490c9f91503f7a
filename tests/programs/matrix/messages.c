/* Blocking point-to-point calls: send modes, probes, matched probes, combined calls, MPI_PROC_NULL, no data, gaps. */
#include "program.h"

static void check_status(MPI_Status* status, int source, int bytes) {
    count_t found = -1;
    SIZED(Get_count, (status, MPI_BYTE, &found));
    CHECK(status->MPI_SOURCE == source && found == bytes);
}

static void send_modes(void) {
    static char space[4096];
    MPI_Request request;
    MPI_Status status;
    void* returned;
    count_t size;
    SIZED(Send, (out, 3, MPI_INT, right, 1, MPI_COMM_WORLD));
    sent(12);
    SIZED(Recv, (in, 64, MPI_INT, left, 1, MPI_COMM_WORLD, &status));
    received(12);
    check_status(&status, left, 12);
    observe(in, 12);

    SIZED(Buffer_attach, (space, sizeof space));
    SIZED(Bsend, (out, 5, MPI_DOUBLE, right, 2, MPI_COMM_WORLD));
    sent(40);
    SIZED(Recv, (in, 64, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
    received(40);
    check_status(&status, left, 40);
    SIZED(Buffer_detach, (&returned, &size));
    CHECK(returned == space && size == sizeof space);

    SIZED(Irecv, (in, 64, MPI_INT, left, 3, MPI_COMM_WORLD, &request));
    SIZED(Ssend, (out, 7, MPI_INT, right, 3, MPI_COMM_WORLD));
    sent(28);
    CALL(Wait, (&request, &status));
    received(28);
    check_status(&status, left, 28);

    SIZED(Irecv, (in, 64, MPI_INT, left, 4, MPI_COMM_WORLD, &request));
    CALL(Barrier, (MPI_COMM_WORLD));
    barrier_passed();
    SIZED(Rsend, (out, 9, MPI_INT, right, 4, MPI_COMM_WORLD));
    sent(36);
    CALL(Wait, (&request, MPI_STATUS_IGNORE));
    received(36);
    observe(in, 36);
}

#ifdef HAS_FUNCTIONS_OF_MPI_4_1
static void buffered(int tag) {
    SIZED(Bsend, (out, 6, MPI_INT, right, tag, MPI_COMM_WORLD));
    sent(24);
}

static void buffers(void) {
    static char space[4096];
    MPI_Request receives[4], request;
    void* returned;
    count_t size;
    for (int i = 0; i < 4; ++i) SIZED(Irecv, (in + 64 * i, 64, MPI_INT, left, 20 + i, MPI_COMM_WORLD, &receives[i]));
    SIZED(Buffer_attach, (space, sizeof space));
    buffered(20);
    CALL(Buffer_flush, ());
    buffered(21);
    CALL(Buffer_iflush, (&request));
    CALL(Wait, (&request, MPI_STATUS_IGNORE));
    SIZED(Buffer_detach, (&returned, &size));
    SIZED(Comm_attach_buffer, (MPI_COMM_WORLD, space, sizeof space));
    buffered(22);
    CALL(Comm_flush_buffer, (MPI_COMM_WORLD));
    buffered(23);
    CALL(Comm_iflush_buffer, (MPI_COMM_WORLD, &request));
    CALL(Wait, (&request, MPI_STATUS_IGNORE));
    SIZED(Comm_detach_buffer, (MPI_COMM_WORLD, &returned, &size));
    CHECK(returned == space && size == sizeof space);
    CALL(Waitall, (4, receives, MPI_STATUSES_IGNORE));
    received(24), received(24), received(24), received(24);
}
#endif

static void combined(void) {
    MPI_Status status;
    SIZED(Sendrecv, (out, 10, MPI_INT, right, 5, in, 64, MPI_INT, left, 5, MPI_COMM_WORLD, &status));
    sent(40), received(40);
    check_status(&status, left, 40);
    memcpy(in, out, 24);
    SIZED(Sendrecv_replace, (in, 6, MPI_INT, right, 6, left, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    sent(24), received(24);
    observe(in, 40);
}

static void probes(void) {
    MPI_Status status;
    MPI_Message message;
    int flag;
    SIZED(Send, (out, 11, MPI_INT, right, 7, MPI_COMM_WORLD));
    sent(44);
    CALL(Probe, (left, 7, MPI_COMM_WORLD, &status));
    check_status(&status, left, 44);
    do
        CALL(Iprobe, (MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    while (!flag);
    SIZED(Recv, (in, 64, MPI_INT, left, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    received(44);

    SIZED(Send, (out, 12, MPI_INT, right, 8, MPI_COMM_WORLD));
    sent(48);
    CALL(Mprobe, (left, 8, MPI_COMM_WORLD, &message, &status));
    SIZED(Mrecv, (in, 64, MPI_INT, &message, &status));
    received(48);
    check_status(&status, left, 48);
    SIZED(Send, (out, 13, MPI_INT, right, 9, MPI_COMM_WORLD));
    sent(52);
    do
        CALL(Improbe, (left, 9, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE));
    while (!flag);
    SIZED(Mrecv, (in, 64, MPI_INT, &message, MPI_STATUS_IGNORE));
    received(52);
    observe(in, 52);
}

static void nothing_and_nobody(void) {
    MPI_Status status;
    MPI_Message message;
    SIZED(Send, (out, 0, MPI_INT, right, 10, MPI_COMM_WORLD));
    sent(0);
    SIZED(Recv, (in, 64, MPI_INT, left, 10, MPI_COMM_WORLD, &status));
    received(0);
    check_status(&status, left, 0);
    SIZED(Sendrecv, (NULL, 0, MPI_INT, right, 11, NULL, 0, MPI_INT, left, 11, MPI_COMM_WORLD, &status));
    sent(0), received(0);

    SIZED(Send, (out, 9, MPI_INT, MPI_PROC_NULL, 12, MPI_COMM_WORLD));
    SIZED(Ssend, (out, 9, MPI_INT, MPI_PROC_NULL, 12, MPI_COMM_WORLD));
    SIZED(Rsend, (out, 9, MPI_INT, MPI_PROC_NULL, 12, MPI_COMM_WORLD));
    SIZED(Recv, (in, 9, MPI_INT, MPI_PROC_NULL, 12, MPI_COMM_WORLD, &status));
    check_status(&status, MPI_PROC_NULL, 0);
    CALL(Mprobe, (MPI_PROC_NULL, 12, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE));
    SIZED(Mrecv, (in, 9, MPI_INT, &message, &status));
    check_status(&status, MPI_PROC_NULL, 0);
    /* a shift at the edge of a grid: one side only */
    const int next = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL,
              before = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    SIZED(Sendrecv,
          (out, 4, MPI_INT, next, 13, in, 4, MPI_INT, before, 13, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    if (next != MPI_PROC_NULL)
        sent(16);
    if (before != MPI_PROC_NULL)
        received(16);
    observe(in, 52);
}

static void gaps(void) {
    MPI_Datatype gapped, wide;
    MPI_Status status;
    SIZED(Type_vector, (3, 1, 2, MPI_INT, &gapped)); /* 12 bytes of data over 20 */
    CALL(Type_commit, (&gapped));
    SIZED(Type_create_resized, (MPI_SHORT, 0, 64, &wide)); /* 2 bytes of data over 64 */
    CALL(Type_commit, (&wide));
    SIZED(Send, (out, 2, gapped, right, 14, MPI_COMM_WORLD));
    sent(24);
    SIZED(Recv, (in, 64, gapped, left, 14, MPI_COMM_WORLD, &status));
    received(24);
    check_status(&status, left, 24);
    /* not a whole number of the receiver's elements */
    SIZED(Sendrecv, (out, 5, MPI_INT, right, 15, in, 2, gapped, left, 15, MPI_COMM_WORLD, &status));
    sent(20), received(20);
    SIZED(Sendrecv_replace, (in, 5, wide, right, 16, left, 16, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    sent(10), received(10);
    observe(in, 512);
    CALL(Type_free, (&gapped));
    CALL(Type_free, (&wide));
}

/* The library's profiling names are the application's calls, too. */
static void profiling_names(void) {
    logged("MPI_Send", PMPI_Send(out, 17, MPI_INT, right, 17, MPI_COMM_WORLD), __LINE__);
    sent(68);
    logged("MPI_Recv", PMPI_Recv(in, 64, MPI_INT, left, 17, MPI_COMM_WORLD, MPI_STATUS_IGNORE), __LINE__);
    received(68);
}

/* Failed calls move nothing. */
static void failures(void) {
    CALL(Comm_set_errhandler, (MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    CALL_FAILS(Send, (out, 3, MPI_INT, ranks + 5, 18, MPI_COMM_WORLD));
    CALL_FAILS(Send, (out, -3, MPI_INT, right, 18, MPI_COMM_WORLD));
    SIZED(Send, (out, 8, MPI_INT, right, 19, MPI_COMM_WORLD));
    sent(32);
    CALL_FAILS(Recv, (in, 7, MPI_INT, left, 19, MPI_COMM_WORLD, MPI_STATUS_IGNORE)); /* truncated */
    CALL(Comm_set_errhandler, (MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
}

int main(int argc, char** argv) {
    begin(&argc, &argv);
    send_modes();
    combined();
#ifdef HAS_FUNCTIONS_OF_MPI_4_1
    buffers();
#endif
    probes();
    nothing_and_nobody();
    gaps();
    profiling_names();
    failures();
    return end("messages");
}
