/* traffic STEPS: MPI traffic of many kinds inside and outside marked iterations and phases, and a log of it
 * (tally.h). Exits with 3 if any message or status is wrong. At least 2 ranks; even and odd ones pair. */
#include <mpi.h>

#include <libprofile.h>

#include <stdlib.h>

#include "tally.h"

static int rank, ranks, partner, mistakes;
static char buffer[8192], other[8192];

static void check(int condition, int line) {
    if (!condition) {
        fprintf(stderr, "traffic: rank %d: mistake in line %d\n", rank, line);
        ++mistakes;
    }
}
#define CHECK(condition) check(condition, __LINE__)

static void check_status(const MPI_Status* status, int source, int bytes) {
    int count = -1;
    CALL(Get_count, (status, MPI_BYTE, &count));
    CHECK(status->MPI_SOURCE == source && count == bytes);
}

static void iteration_begin(const char* name) {
    profile_iteration_begin(name);
    tally_enter(name);
}
static void iteration_end(const char* name) {
    profile_iteration_end(name);
    tally_leave();
}
static void phase_begin(const char* name) {
    profile_phase_begin(name);
    tally_enter(name);
}
static void phase_end(const char* name) {
    profile_phase_end(name);
    tally_leave();
}

/* Blocking calls; bytes are those that arrive, not the size of the buffer. */
static void blocking(int size) {
    MPI_Status status;
    if (rank % 2 == 0) {
        CALL(Send, (buffer, size, MPI_BYTE, partner, 1, MPI_COMM_WORLD));
        sent(size);
        CALL(Recv, (other, 8192, MPI_BYTE, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &status));
        check_status(&status, partner, 2 * size);
        received(2 * size);
        CALL(Ssend, (buffer, 3, MPI_DOUBLE, partner, 2, MPI_COMM_WORLD));
        sent(24);
    } else {
        CALL(Recv, (other, 8192, MPI_BYTE, partner, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        received(size);
        CALL(Send, (buffer, 2 * size, MPI_BYTE, partner, 1, MPI_COMM_WORLD));
        sent(2 * size);
        CALL(Probe, (partner, 2, MPI_COMM_WORLD, &status));
        check_status(&status, partner, 24);
        CALL(Recv, (other, 1000, MPI_DOUBLE, partner, 2, MPI_COMM_WORLD, &status));
        received(24);
    }
    CALL(Sendrecv,
         (buffer, 10, MPI_INT, partner, 3, other, 1000, MPI_INT, partner, 3, MPI_COMM_WORLD, &status));
    check_status(&status, partner, 40);
    sent(40), received(40);
    CALL(Sendrecv_replace, (buffer, 5, MPI_INT, partner, 4, partner, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    sent(20), received(20);
}

/* Transfers of zero bytes synchronise; MPI_PROC_NULL moves nothing; both as blocking and nonblocking calls. */
static void empty_and_null(void) {
    MPI_Status status;
    MPI_Request requests[2];
    CALL(Sendrecv, (buffer, 0, MPI_INT, partner, 5, other, 8, MPI_INT, partner, 5, MPI_COMM_WORLD, &status));
    sent(0), received(0);
    CALL(Send, (buffer, 9, MPI_INT, MPI_PROC_NULL, 5, MPI_COMM_WORLD));
    CALL(Recv, (other, 9, MPI_INT, MPI_PROC_NULL, 5, MPI_COMM_WORLD, &status));
    check_status(&status, MPI_PROC_NULL, 0);
    CALL(Isend, (buffer, 9, MPI_INT, MPI_PROC_NULL, 6, MPI_COMM_WORLD, &requests[0]));
    CALL(Irecv, (other, 9, MPI_INT, MPI_PROC_NULL, 6, MPI_COMM_WORLD, &requests[1]));
    CALL(Waitall, (2, requests, MPI_STATUSES_IGNORE));
    CALL(Irecv, (other, 9, MPI_INT, partner, 7, MPI_COMM_WORLD, &requests[0]));
    CALL(Isend, (buffer, 0, MPI_INT, partner, 7, MPI_COMM_WORLD, &requests[1]));
    sent(0);
    CALL(Waitall, (2, requests, MPI_STATUSES_IGNORE));
    received(0);
}

enum { MANY = 40 }; /* more requests than a wrapper would keep on its stack */

/* Posts MANY receives (bytes i+1) and sends, receives first. */
static void post(MPI_Request* requests, int tag) {
    for (int i = 0; i < MANY; ++i)
        CALL(Irecv, (other + 100 * i, 100, MPI_BYTE, partner, tag + i, MPI_COMM_WORLD, &requests[i]));
    for (int i = 0; i < MANY; ++i) {
        CALL(Isend, (buffer, i + 1, MPI_BYTE, partner, tag + i, MPI_COMM_WORLD, &requests[MANY + i]));
        sent(i + 1);
    }
}

static void completion(void) {
    MPI_Request requests[2 * MANY];
    MPI_Status statuses[2 * MANY];
    int indices[2 * MANY], index, flag, done = 0;
    post(requests, 100);
    CALL(Waitall, (2 * MANY, requests, statuses));
    for (int i = 0; i < MANY; ++i) {
        check_status(&statuses[i], partner, i + 1);
        received(i + 1);
    }
    post(requests, 200);
    for (int i = 0; i < 2 * MANY; ++i) {
        CALL(Waitany, (2 * MANY, requests, &index, MPI_STATUS_IGNORE));
        if (index < MANY)
            received(index + 1);
    }
    CALL(Waitany, (2 * MANY, requests, &index, MPI_STATUS_IGNORE));
    CHECK(index == MPI_UNDEFINED);
    post(requests, 300);
    while (done < 2 * MANY) {
        int count;
        CALL(Waitsome, (2 * MANY, requests, &count, indices, statuses));
        for (int i = 0; i < count; ++i)
            if (indices[i] < MANY) {
                check_status(&statuses[i], partner, indices[i] + 1);
                received(indices[i] + 1);
            }
        done += count;
    }
    post(requests, 400);
    do
        CALL(Testall, (2 * MANY, requests, &flag, MPI_STATUSES_IGNORE));
    while (!flag);
    for (int i = 0; i < MANY; ++i)
        received(i + 1);
    post(requests, 500);
    for (done = 0; done < 2 * MANY;) {
        CALL(Testany, (2 * MANY, requests, &index, &flag, MPI_STATUS_IGNORE));
        done += flag;
        if (flag && index < MANY)
            received(index + 1);
    }
    post(requests, 600);
    for (done = 0; done < 2 * MANY;) {
        int count;
        CALL(Testsome, (2 * MANY, requests, &count, indices, MPI_STATUSES_IGNORE));
        for (int i = 0; i < count; ++i)
            if (indices[i] < MANY)
                received(indices[i] + 1);
        done += count;
    }
    post(requests, 700);
    for (int i = 0; i < 2 * MANY; ++i) {
        if (i % 2 == 0) {
            CALL(Wait, (&requests[i], &statuses[0]));
        } else {
            do
                CALL(Test, (&requests[i], &flag, MPI_STATUS_IGNORE));
            while (!flag);
        }
        if (i < MANY)
            received(i + 1);
    }
}

/* Persistent, matched and cancelled receives. */
static void special_receives(void) {
    MPI_Request request, send;
    MPI_Message message;
    MPI_Status status;
    int flag;
    CALL(Recv_init, (other, 64, MPI_BYTE, partner, 800, MPI_COMM_WORLD, &request));
    CALL(Wait, (&request, &status)); /* not active yet */
    for (int i = 1; i <= 3; ++i) {
        CALL(Start, (&request));
        CALL(Send, (buffer, i, MPI_BYTE, partner, 800, MPI_COMM_WORLD));
        sent(i);
        CALL(Wait, (&request, &status));
        check_status(&status, partner, i);
        received(i);
    }
    CALL(Request_free, (&request));

    CALL(Isend, (buffer, 33, MPI_BYTE, partner, 801, MPI_COMM_WORLD, &send));
    sent(33);
    CALL(Mprobe, (partner, 801, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE));
    CALL(Mrecv, (other, 64, MPI_BYTE, &message, &status));
    check_status(&status, partner, 33);
    received(33);
    CALL(Wait, (&send, MPI_STATUS_IGNORE));

    CALL(Isend, (buffer, 34, MPI_BYTE, partner, 802, MPI_COMM_WORLD, &send));
    sent(34);
    do
        CALL(Improbe, (partner, 802, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE));
    while (!flag);
    CALL(Imrecv, (other, 64, MPI_BYTE, &message, &request));
    CALL(Wait, (&request, MPI_STATUS_IGNORE));
    received(34);
    CALL(Wait, (&send, MPI_STATUS_IGNORE));

    CALL(Irecv, (other, 64, MPI_BYTE, partner, 803, MPI_COMM_WORLD, &request));
    CALL(Cancel, (&request));
    CALL(Wait, (&request, &status));
    CALL(Test_cancelled, (&status, &flag));
    CHECK(flag);
}

static void collectives(int root) {
    static int in[4096], out[4096], counts[64], places[64];
    const long long size = 4 * 7, all = size * ranks;
    const int leads = rank == root;
    int total = 0;
    for (int i = 0; i < ranks; ++i) {
        counts[i] = i + 1;
        places[i] = total;
        total += i + 1;
    }
    CALL(Barrier, (MPI_COMM_WORLD));
    tally_add("metrics", "collective_synchronizations", 1);
    CALL(Bcast, (in, 7, MPI_INT, root, MPI_COMM_WORLD));
    collective(leads ? AS_SOURCE : AS_DESTINATION, leads ? size : 0, leads ? 0 : size);
    CALL(Reduce, (in, out, 7, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD));
    collective(leads ? AS_DESTINATION : AS_SOURCE, size, leads ? size : 0);
    CALL(Allreduce, (in, out, 7, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    collective(EXCHANGE, size, size);
    out[0] = 1;
    CALL(Allreduce, (MPI_IN_PLACE, out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK(out[0] == ranks);
    collective(EXCHANGE, 4, 4);
    CALL(Gather, (in, 7, MPI_INT, out, 7, MPI_INT, root, MPI_COMM_WORLD));
    collective(leads ? AS_DESTINATION : AS_SOURCE, size, leads ? all : 0);
    CALL(Gather, (leads ? MPI_IN_PLACE : in, 7, MPI_INT, out, 7, MPI_INT, root, MPI_COMM_WORLD));
    collective(leads ? AS_DESTINATION : AS_SOURCE, leads ? 0 : size, leads ? all : 0);
    CALL(Gatherv, (in, rank + 1, MPI_INT, out, counts, places, MPI_INT, root, MPI_COMM_WORLD));
    collective(leads ? AS_DESTINATION : AS_SOURCE, 4 * (rank + 1), leads ? 4 * total : 0);
    CALL(Scatter, (in, 7, MPI_INT, out, 7, MPI_INT, root, MPI_COMM_WORLD));
    collective(leads ? AS_SOURCE : AS_DESTINATION, leads ? all : 0, size);
    CALL(Scatterv, (in, counts, places, MPI_INT, out, rank + 1, MPI_INT, root, MPI_COMM_WORLD));
    collective(leads ? AS_SOURCE : AS_DESTINATION, leads ? 4 * total : 0, 4 * (rank + 1));
    CALL(Allgather, (in, 7, MPI_INT, out, 7, MPI_INT, MPI_COMM_WORLD));
    collective(EXCHANGE, size, all);
    CALL(Allgather, (MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, 7, MPI_INT, MPI_COMM_WORLD));
    collective(EXCHANGE, size, all);
    CALL(Allgatherv, (in, rank + 1, MPI_INT, out, counts, places, MPI_INT, MPI_COMM_WORLD));
    collective(EXCHANGE, 4 * (rank + 1), 4 * total);
    CALL(Alltoall, (in, 7, MPI_INT, out, 7, MPI_INT, MPI_COMM_WORLD));
    collective(EXCHANGE, all, all);
    for (int i = 0; i < ranks; ++i) {
        counts[i] = i + rank;
        places[i] = 16 * i;
    }
    const long long both = 4 * ((long long)ranks * rank + (long long)ranks * (ranks - 1) / 2);
    CALL(Alltoallv, (in, counts, places, MPI_INT, out, counts, places, MPI_INT, MPI_COMM_WORLD));
    collective(EXCHANGE, both, both);
    CALL(Scan, (in, out, 7, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    collective(EXCHANGE, size, size);
    CALL(Exscan, (in, out, 7, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    collective(EXCHANGE, size, rank == 0 ? 0 : size);
    CALL(Reduce_scatter_block, (in, out, 7, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    collective(EXCHANGE, all, size);
    MPI_Request requests[2];
    CALL(Iallreduce, (in, out, 7, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[0]));
    collective(EXCHANGE, size, size);
    CALL(Ibarrier, (MPI_COMM_WORLD, &requests[1]));
    tally_add("metrics", "collective_synchronizations", 1);
    CALL(Waitall, (2, requests, MPI_STATUSES_IGNORE));
}

/* The application's own MPI calls from inside callbacks of MPI count like any others. */
static void own_sum(void* in, void* out, int* count, MPI_Datatype* type) {
    int size;
    CALL(Type_size, (*type, &size));
    for (int i = 0; i < *count; ++i)
        ((int*)out)[i] += ((int*)in)[i];
}

static int own_delete(MPI_Comm comm, int key, void* value, void* extra) {
    (void)key, (void)value, (void)extra;
    int size;
    CALL(Comm_size, (comm, &size));
    return MPI_SUCCESS;
}

static void callbacks(void) {
    MPI_Op op;
    MPI_Comm comm;
    int key, in[3] = {1, 2, 3}, out[3];
    CALL(Op_create, (own_sum, 1, &op));
    CALL(Allreduce, (in, out, 3, MPI_INT, op, MPI_COMM_WORLD));
    collective(EXCHANGE, 12, 12);
    CHECK(out[2] == 3 * ranks);
    CALL(Op_free, (&op));
    CALL(Comm_create_keyval, (MPI_COMM_NULL_COPY_FN, own_delete, &key, NULL));
    CALL(Comm_dup, (MPI_COMM_WORLD, &comm));
    CALL(Comm_set_attr, (comm, key, NULL));
    CALL(Comm_free, (&comm));
    CALL(Comm_free_keyval, (&key));
}

/* Gaps in a datatype are not data. PMPI names are the application's calls, too. */
static void datatypes(void) {
    MPI_Datatype type;
    MPI_Request request;
    CALL(Type_vector, (5, 1, 4, MPI_INT, &type));
    CALL(Type_commit, (&type));
    PCALL(Irecv, (other, 2, type, partner, 900, MPI_COMM_WORLD, &request));
    PCALL(Send, (buffer, 2, type, partner, 900, MPI_COMM_WORLD));
    sent(40);
    PCALL(Wait, (&request, MPI_STATUS_IGNORE));
    received(40);
    CALL(Type_free, (&type));
}

int main(int argc, char** argv) {
    CALL(Init, (&argc, &argv));
    CALL(Comm_rank, (MPI_COMM_WORLD, &rank));
    CALL(Comm_size, (MPI_COMM_WORLD, &ranks));
    partner = rank ^ 1;
    blocking(50);
    const int steps = argc > 1 ? atoi(argv[1]) : 10;
    for (int step = 0; step < steps; ++step) {
        iteration_begin("step");
        blocking(100 + step);
        phase_begin("exchange");
        empty_and_null();
        completion();
        phase_end("exchange");
        if (step % 3 == 0)
            special_receives();
        iteration_end("step");
        phase_begin("collectives");
        collectives(step % ranks);
        phase_end("collectives");
    }
    callbacks();
    datatypes();
    if (rank == 0)
        printf("traffic: %d steps\n", steps);
    CALL(Finalize, ());
    tally_write(rank);
    return mistakes ? 3 : 0;
}
