/* Functions of the application that MPI calls: attribute copy and delete functions, user operations, error handlers,
 * generalised requests, data representations. Most of them make MPI calls, which also count. */
#include "program.h"

static int copied, deleted, handled, queried;

static void ask(void) {
    int size;
    CALL(Comm_size, (MPI_COMM_WORLD, &size));
}

#define IN_CALLBACK(...)                                                                                     \
    do {                                                                                                     \
        log_callback_begin();                                                                                \
        __VA_ARGS__;                                                                                         \
        log_callback_end();                                                                                  \
    } while (0)

static int copy_value(void* in_value, void* out_value, int* flag) {
    *(void**)out_value = in_value;
    *flag = 1;
    ++copied;
    IN_CALLBACK(ask());
    return MPI_SUCCESS;
}

static int delete_value(void) {
    ++deleted;
    IN_CALLBACK(ask());
    return MPI_SUCCESS;
}

static int comm_copy(MPI_Comm comm, int key, void* extra, void* in_value, void* out_value, int* flag) {
    (void)comm, (void)key, (void)extra;
    return copy_value(in_value, out_value, flag);
}
static int type_copy(MPI_Datatype type, int key, void* extra, void* in_value, void* out_value, int* flag) {
    (void)type, (void)key, (void)extra;
    return copy_value(in_value, out_value, flag);
}
static int win_copy(MPI_Win win, int key, void* extra, void* in_value, void* out_value, int* flag) {
    (void)win, (void)key, (void)extra;
    return copy_value(in_value, out_value, flag);
}
static int comm_delete(MPI_Comm comm, int key, void* value, void* extra) {
    (void)comm, (void)key, (void)value, (void)extra;
    return delete_value();
}
static int type_delete(MPI_Datatype type, int key, void* value, void* extra) {
    (void)type, (void)key, (void)value, (void)extra;
    return delete_value();
}
static int win_delete(MPI_Win win, int key, void* value, void* extra) {
    (void)win, (void)key, (void)value, (void)extra;
    return delete_value();
}

static void attributes(void) {
    int key, flag, *value, number = 5;
    MPI_Comm copy;
    CALL(Comm_create_keyval, (comm_copy, comm_delete, &key, NULL));
    CALL(Comm_set_attr, (MPI_COMM_WORLD, key, &number));
    CALL(Comm_get_attr, (MPI_COMM_WORLD, key, &value, &flag));
    CHECK(flag && *value == 5);
    CALL(Comm_dup, (MPI_COMM_WORLD, &copy));
    CALL(Comm_set_attr, (copy, key, &number)); /* deletes the old value */
    CALL(Comm_free, (&copy));
    CALL(Comm_delete_attr, (MPI_COMM_WORLD, key));
    CALL(Comm_free_keyval, (&key));
    CHECK(copied == 1 && deleted == 3);

    MPI_Datatype type, dup;
    CALL(Type_create_keyval, (type_copy, type_delete, &key, NULL));
    CALL(Type_contiguous, (2, MPI_INT, &type));
    CALL(Type_set_attr, (type, key, &number));
    CALL(Type_get_attr, (type, key, &value, &flag));
    CALL(Type_dup, (type, &dup));
    CALL(Type_delete_attr, (dup, key));
    CALL(Type_free, (&dup));
    CALL(Type_free, (&type));
    CALL(Type_free_keyval, (&key));

    MPI_Win win;
    CALL(Win_create_keyval, (win_copy, win_delete, &key, NULL));
    CALL(Win_create, (in, 64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    CALL(Win_set_attr, (win, key, &number));
    CALL(Win_get_attr, (win, key, &value, &flag));
    CALL(Win_delete_attr, (win, key));
    CALL(Win_set_attr, (win, key, &number));
    CALL(Win_free, (&win));
    CALL(Win_free_keyval, (&key));
    CHECK(copied == 2 && deleted == 7);

    /* of MPI_COMM_SELF: deleted in MPI_Finalize, but libprofile writes the profile when that is called */
    CALL(Comm_create_keyval, (MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL));
    CALL(Comm_set_attr, (MPI_COMM_SELF, key, &number));
}

static void own_sum(void* from, void* to, int* count, MPI_Datatype* type) {
    int size = 0;
    IN_CALLBACK(CALL(Type_size, (*type, &size)));
    for (int i = 0; i < *count; ++i)
        ((int*)to)[i] += ((int*)from)[i];
}

#if MPI_VERSION >= 4
static void own_large_sum(void* from, void* to, MPI_Count* count, MPI_Datatype* type) {
    int small = (int)*count;
    own_sum(from, to, &small, type);
}
#endif

static void operations(void) {
    MPI_Op op;
    int flag;
    CALL(Op_create, (own_sum, 1, &op));
    CALL(Op_commutative, (op, &flag));
    CHECK(flag);
    CALL(Allreduce, (out, in, 3, MPI_INT, op, MPI_COMM_WORLD));
    collective(EXCHANGE, 12, 12);
    CALL(Reduce_local, (out, in, 3, MPI_INT, op));
    MPI_Request request;
    CALL(Iallreduce, (out, in + 8, 3, MPI_INT, op, MPI_COMM_WORLD, &request));
    collective(EXCHANGE, 12, 12);
    CALL(Wait, (&request, MPI_STATUS_IGNORE)); /* which calls the operation */
    observe(in, 64);
    CALL(Op_free, (&op));
#if MPI_VERSION >= 4
    CALL(Op_create_c, (own_large_sum, 1, &op));
    CALL(Reduce_local, (out, in, 3, MPI_INT, op));
    CALL(Op_free, (&op));
#endif
}

static void comm_error(MPI_Comm* comm, int* code, ...) {
    (void)comm, (void)code;
    ++handled;
    IN_CALLBACK(ask());
}
static void win_error(MPI_Win* win, int* code, ...) {
    (void)win, (void)code;
    ++handled;
    IN_CALLBACK(ask());
}
static void file_error(MPI_File* file, int* code, ...) {
    (void)file, (void)code;
    ++handled;
    IN_CALLBACK(ask());
}

static void errors(void) {
    MPI_Errhandler handler, found;
    MPI_Win win;
    MPI_File file;
    char text[MPI_MAX_ERROR_STRING];
    int class, code, length;
    CALL(Comm_create_errhandler, (comm_error, &handler));
    CALL(Comm_set_errhandler, (MPI_COMM_WORLD, handler));
    CALL(Comm_get_errhandler, (MPI_COMM_WORLD, &found));
    CALL(Errhandler_free, (&found));
    CALL_FAILS(Send, (out, 1, MPI_INT, ranks + 7, 1, MPI_COMM_WORLD));
    CALL(Comm_call_errhandler, (MPI_COMM_WORLD, MPI_ERR_OTHER));
    CHECK(handled == 2);
    CALL(Comm_set_errhandler, (MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
    CALL(Errhandler_free, (&handler));

    CALL(Win_create_errhandler, (win_error, &handler));
    CALL(Win_create, (in, 64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    CALL(Win_set_errhandler, (win, handler));
    CALL(Win_get_errhandler, (win, &found));
    CALL(Errhandler_free, (&found));
    CALL(Win_call_errhandler, (win, MPI_ERR_OTHER));
    CALL(Win_free, (&win));
    CALL(Errhandler_free, (&handler));

    CALL(File_create_errhandler, (file_error, &handler));
    CALL(File_open, (MPI_COMM_SELF, "/dev/null", MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    CALL(File_set_errhandler, (file, handler));
    CALL(File_get_errhandler, (file, &found));
    CALL(Errhandler_free, (&found));
    CALL(File_call_errhandler, (file, MPI_ERR_OTHER));
    CALL(File_close, (&file));
    CALL(Errhandler_free, (&handler));
    CHECK(handled == 4);

    CALL(Add_error_class, (&class));
    CALL(Add_error_code, (class, &code));
    CALL(Add_error_string, (code, "of our own"));
    CALL(Error_class, (code, &length));
    CHECK(length == class);
    CALL(Error_string, (code, text, &length));
    observe(text, length);
}

static int query(void* extra, MPI_Status* status) {
    (void)extra;
    ++queried;
    IN_CALLBACK(CALL(Status_set_elements, (status, MPI_INT, 3)); CALL(Status_set_cancelled, (status, 0)));
    status->MPI_SOURCE = 0;
    status->MPI_TAG = 0;
    return MPI_SUCCESS;
}
static int release(void* extra) {
    (void)extra;
    IN_CALLBACK(ask());
    return MPI_SUCCESS;
}
static int cancel(void* extra, int complete) {
    (void)extra, (void)complete;
    IN_CALLBACK(ask());
    return MPI_SUCCESS;
}

/* Not a message, whatever its status says. */
static void generalised_requests(void) {
    MPI_Request requests[2];
    int flag, index;
    for (int way = 0; way < 4; ++way) {
        CALL(Grequest_start, (query, release, cancel, NULL, &requests[0]));
        CALL(Irecv, (in, 3, MPI_INT, left, 70, MPI_COMM_WORLD, &requests[1]));
        CALL(Send, (out, 3, MPI_INT, right, 70, MPI_COMM_WORLD));
        sent(12);
        CALL(Test, (&requests[0], &flag, MPI_STATUS_IGNORE));
        CHECK(!flag);
        if (way == 3)
            CALL(Cancel, (&requests[0]));
        CALL(Grequest_complete, (requests[0]));
        switch (way) {
        case 0:
            CALL(Waitall, (2, requests, MPI_STATUSES_IGNORE));
            received(12);
            break;
        case 1:
            CALL(Wait, (&requests[1], MPI_STATUS_IGNORE));
            received(12);
            CALL(Waitany, (2, requests, &index, MPI_STATUS_IGNORE));
            CHECK(index == 0);
            break;
        default:
            CALL(Wait, (&requests[1], MPI_STATUS_IGNORE));
            received(12);
            CALL(Wait, (&requests[0], MPI_STATUS_IGNORE));
        }
    }
    CHECK(queried >= 4);
}

/* A wait for many requests inside a wait for many requests: both need more room than a wrapper has on its stack. */
static int query_with_traffic(void* extra, MPI_Status* status) {
    enum { MANY = 40 };
    MPI_Request requests[2 * MANY];
    log_callback_begin();
    for (int i = 0; i < MANY; ++i) {
        CALL(Irecv, (in + i, 1, MPI_INT, rank, 80 + i, MPI_COMM_WORLD, &requests[i]));
        CALL(Isend, (out, 1, MPI_INT, rank, 80 + i, MPI_COMM_WORLD, &requests[MANY + i]));
        sent(4);
    }
    CALL(Waitall, (2 * MANY, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < MANY; ++i)
        received(4);
    log_callback_end();
    return query(extra, status);
}

static void waits_in_a_wait(void) {
    enum { MANY = 40 };
    MPI_Request requests[MANY];
    for (int i = 1; i < MANY; ++i)
        CALL(Irecv, (in + i, 1, MPI_INT, rank, 200 + i, MPI_COMM_WORLD, &requests[i]));
    for (int i = 1; i < MANY; ++i) {
        CALL(Send, (out, 1, MPI_INT, rank, 200 + i, MPI_COMM_WORLD));
        sent(4);
    }
    CALL(Grequest_start, (query_with_traffic, release, cancel, NULL, &requests[0]));
    CALL(Grequest_complete, (requests[0]));
    CALL(Waitall, (MANY, requests, MPI_STATUSES_IGNORE));
    for (int i = 1; i < MANY; ++i)
        received(4);
}

static int extent_of(MPI_Datatype type, MPI_Aint* extent, void* extra) {
    (void)type, (void)extra;
    *extent = 4;
    return MPI_SUCCESS;
}

static void representations(void) {
#ifdef OPEN_MPI /* ompio has no representations but its own */
    CALL_FAILS(Register_datarep, ("matrix", MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, extent_of, NULL));
#else
    CALL(Register_datarep, ("matrix", MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, extent_of, NULL));
#if MPI_VERSION >= 4
    CALL(Register_datarep_c,
         ("large matrix", MPI_CONVERSION_FN_NULL_C, MPI_CONVERSION_FN_NULL_C, extent_of, NULL));
#endif
#endif
}

int main(int argc, char** argv) {
    begin(&argc, &argv);
    attributes();
    operations();
    errors();
    generalised_requests();
    waits_in_a_wait();
    representations();
    return end("callbacks");
}
