/* One-sided calls: data, every kind of synchronisation, every kind of window. Each rank writes to its right neighbour's
 * memory and reads there. */
#include "program.h"

static MPI_Win win;
static int* memory; /* of the window, 256 ints */

/* Allowed in every epoch that reaches the right neighbour. */
static void data(int epoch) {
    MPI_Datatype gapped;
    SIZED(Type_vector, (3, 1, 2, MPI_INT, &gapped)); /* 12 bytes of data over 20 */
    CALL(Type_commit, (&gapped));
    SIZED(Put, (out, 7, MPI_INT, right, epoch, 7, MPI_INT, win));
    put(28);
    SIZED(Put, (out, 2, gapped, right, 8, 6, MPI_INT, win));
    put(24);
    SIZED(Put, (out, 0, MPI_INT, right, 0, 0, MPI_INT, win));
    SIZED(Put, (out, 7, MPI_INT, MPI_PROC_NULL, 0, 7, MPI_INT, win));
    SIZED(Get, (in, 5, MPI_INT, right, 100, 5, MPI_INT, win));
    got(20);
    SIZED(Get, (in + 8, 1, gapped, right, 100, 3, MPI_INT, win));
    got(12);
    SIZED(Get, (in, 0, MPI_INT, right, 0, 0, MPI_INT, win));
    SIZED(Get, (in, 5, MPI_INT, MPI_PROC_NULL, 0, 5, MPI_INT, win));
    SIZED(Accumulate, (out, 4, MPI_INT, right, 20, 4, MPI_INT, MPI_SUM, win));
    atomic(16, 0);
    SIZED(Accumulate, (out, 4, MPI_INT, MPI_PROC_NULL, 20, 4, MPI_INT, MPI_SUM, win));
    SIZED(Accumulate, (out, 0, MPI_INT, right, 20, 0, MPI_INT, MPI_SUM, win));
    SIZED(Get_accumulate, (out, 3, MPI_INT, in + 16, 3, MPI_INT, right, 30, 3, MPI_INT, MPI_SUM, win));
    atomic(12, 12);
    SIZED(Get_accumulate, (NULL, 0, MPI_INT, in + 24, 3, MPI_INT, right, 30, 3, MPI_INT, MPI_NO_OP, win));
    atomic(0, 12);
    SIZED(Get_accumulate,
          (out, 3, MPI_INT, in + 16, 3, MPI_INT, MPI_PROC_NULL, 30, 3, MPI_INT, MPI_SUM, win));
    CALL(Fetch_and_op, (out, in + 32, MPI_INT, right, 40, MPI_SUM, win));
    atomic(4, 4);
    CALL(Fetch_and_op, (NULL, in + 33, MPI_INT, right, 41, MPI_NO_OP, win));
    atomic(0, 4);
    CALL(Fetch_and_op, (out, in + 32, MPI_INT, MPI_PROC_NULL, 40, MPI_SUM, win));
    CALL(Compare_and_swap, (out, out + 1, in + 34, MPI_INT, right, 42, win));
    atomic(4, 4);
    CALL(Compare_and_swap, (out, out + 1, in + 34, MPI_INT, MPI_PROC_NULL, 42, win));
    CALL(Type_free, (&gapped));
}

/* With requests: in passive epochs only. */
static void data_with_requests(void) {
    MPI_Request requests[6];
    SIZED(Rput, (out, 7, MPI_INT, right, 50, 7, MPI_INT, win, &requests[0]));
    put(28);
    SIZED(Rget, (in + 40, 5, MPI_INT, right, 100, 5, MPI_INT, win, &requests[1]));
    got(20);
    SIZED(Raccumulate, (out, 4, MPI_INT, right, 60, 4, MPI_INT, MPI_SUM, win, &requests[2]));
    atomic(16, 0);
    SIZED(Rget_accumulate,
          (out, 3, MPI_INT, in + 48, 3, MPI_INT, right, 70, 3, MPI_INT, MPI_SUM, win, &requests[3]));
    atomic(12, 12);
    SIZED(Rget_accumulate,
          (NULL, 0, MPI_INT, in + 56, 3, MPI_INT, right, 70, 3, MPI_INT, MPI_NO_OP, win, &requests[4]));
    atomic(0, 12);
    SIZED(Rput, (out, 7, MPI_INT, MPI_PROC_NULL, 50, 7, MPI_INT, win, &requests[5]));
    CALL(Waitall, (6, requests, MPI_STATUSES_IGNORE));
}

static void fences(void) {
    CALL(Win_fence, (MPI_MODE_NOPRECEDE, win));
    data(0);
    CALL(Win_fence, (MPI_MODE_NOSUCCEED, win));
}

static void locks(void) {
    CALL(Win_lock, (MPI_LOCK_EXCLUSIVE, right, 0, win));
    data(1);
    CALL(Win_flush, (right, win));
    CALL(Win_flush_local, (right, win));
    data_with_requests();
    CALL(Win_unlock, (right, win));
    CALL(Barrier, (MPI_COMM_WORLD));
    barrier_passed();
    CALL(Win_lock_all, (0, win));
    data(2);
    CALL(Win_flush_all, (win));
    CALL(Win_flush_local_all, (win));
    CALL(Win_sync, (win));
    data_with_requests();
    CALL(Win_unlock_all, (win));
    CALL(Barrier, (MPI_COMM_WORLD));
    barrier_passed();
}

static void post_and_start(void) {
    MPI_Group all, origin, target;
    int flag;
    CALL(Comm_group, (MPI_COMM_WORLD, &all));
    CALL(Group_incl, (all, 1, &left, &origin));
    CALL(Group_incl, (all, 1, &right, &target));
    CALL(Win_post, (origin, 0, win));
    CALL(Win_start, (target, 0, win));
    data(3);
    CALL(Win_complete, (win));
    CALL(Win_wait, (win));
    CALL(Win_post, (origin, 0, win));
    CALL(Win_start, (target, 0, win));
    CALL(Win_complete, (win));
    do
        CALL(Win_test, (win, &flag));
    while (!flag);
    CALL(Group_free, (&all));
    CALL(Group_free, (&origin));
    CALL(Group_free, (&target));
}

static void fill(void) {
    for (int i = 0; i < 256; ++i)
        memory[i] = 7 * i + rank;
    CALL(Barrier, (MPI_COMM_WORLD));
    barrier_passed();
}

static void finish_window(void) {
    CALL(Barrier, (MPI_COMM_WORLD));
    barrier_passed();
    observe(memory, 1024);
    observe(in, 256);
    CALL(Win_free, (&win));
}

int main(int argc, char** argv) {
    static int space[256];
    begin(&argc, &argv);
    memory = space;
    SIZED(Win_create, (memory, 1024, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    fill();
    fences();
    locks();
    post_and_start();
    finish_window();

    SIZED(Win_allocate, (1024, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
    fill();
    fences();
    memory = memcpy(space, memory, 1024); /* Win_free frees the window's own */
    finish_window();

    int* next;
    MPI_Aint size;
    count_t unit;
    void* unit_of_any_type = &unit; /* MPI_Aint by the standard, as long as our MPI_Count */
    SIZED(Win_allocate_shared, (1024, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
    SIZED(Win_shared_query, (win, right, &size, unit_of_any_type, &next));
    CHECK(size == 1024 && unit == sizeof(int));
    CALL(Win_lock_all, (0, win));
    memory[0] = rank;
    CALL(Win_sync, (win));
    CALL(Barrier, (MPI_COMM_WORLD));
    barrier_passed();
    CALL(Win_sync, (win));
    CHECK(next[0] == right); /* not through MPI: nothing counts */
    CALL(Win_unlock_all, (win));
    CALL(Win_free, (&win));

    MPI_Aint address;
    memory = space;
    CALL(Win_create_dynamic, (MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    CALL(Win_attach, (win, memory, 1024));
    CALL(Get_address, (memory, &address));
    SIZED(Sendrecv_replace, (&address, 1, MPI_AINT, left, 1, right, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    sent(8), received(8);
    fill();
    CALL(Win_lock, (MPI_LOCK_SHARED, right, 0, win));
    SIZED(Put, (out, 9, MPI_INT, right, address, 9, MPI_INT, win));
    put(36);
    CALL(Win_unlock, (right, win));
    CALL(Barrier, (MPI_COMM_WORLD));
    barrier_passed();
    CALL(Win_detach, (win, memory));
    finish_window();
    return end("one_sided");
}
