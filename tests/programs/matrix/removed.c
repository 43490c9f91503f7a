/* Names of MPI 1 that MPI 3 removed or deprecates. Libraries still export them, and old programs call them. */
#define OMPI_OMIT_MPI1_COMPAT_DECLS 1
#include "program.h"

int MPI_Address(void* location, MPI_Aint* address);
int MPI_Errhandler_create(MPI_Comm_errhandler_function* function, MPI_Errhandler* errhandler);
int MPI_Errhandler_get(MPI_Comm comm, MPI_Errhandler* errhandler);
int MPI_Errhandler_set(MPI_Comm comm, MPI_Errhandler errhandler);
int MPI_Type_extent(MPI_Datatype datatype, MPI_Aint* extent);
int MPI_Type_hindexed(int count, int* lengths, MPI_Aint* places, MPI_Datatype type, MPI_Datatype* made);
int MPI_Type_hvector(int count, int length, MPI_Aint stride, MPI_Datatype type, MPI_Datatype* made);
int MPI_Type_lb(MPI_Datatype datatype, MPI_Aint* displacement);
int MPI_Type_struct(int count, int* lengths, MPI_Aint* places, MPI_Datatype* types, MPI_Datatype* made);
int MPI_Type_ub(MPI_Datatype datatype, MPI_Aint* displacement);

static int handled, deleted;

static void types(void) {
    MPI_Aint address, extent, places[2] = {0, 16};
    MPI_Datatype type, kinds[2] = {MPI_INT, MPI_DOUBLE};
    int lengths[2] = {1, 2};
    CALL(Address, (in, &address));
    CHECK(address == (MPI_Aint)in);
    CALL(Type_hvector, (3, 1, 8, MPI_INT, &type));
    CALL(Type_extent, (type, &extent));
    CHECK(extent == 20);
    CALL(Type_lb, (type, &extent));
    CALL(Type_ub, (type, &extent));
    CHECK(extent == 20);
    CALL(Type_free, (&type));
    CALL(Type_hindexed, (2, lengths, places, MPI_INT, &type));
    CALL(Type_free, (&type));
    CALL(Type_struct, (2, lengths, places, kinds, &type));
    CALL(Type_commit, (&type));
    CALL(Sendrecv, (out, 2, type, right, 1, in, 2, type, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    sent(40), received(40);
    observe(in, 80);
    CALL(Type_free, (&type));
}

static int delete_value(MPI_Comm comm, int key, void* value, void* extra) {
    (void)comm, (void)key, (void)value, (void)extra;
    int size;
    log_callback_begin();
    CALL(Comm_size, (MPI_COMM_WORLD, &size));
    log_callback_end();
    ++deleted;
    return MPI_SUCCESS;
}

static void attributes(void) {
    int key, flag, number = 5, *value;
    CALL(Keyval_create, (MPI_NULL_COPY_FN, delete_value, &key, NULL));
    CALL(Attr_put, (MPI_COMM_WORLD, key, &number));
    CALL(Attr_get, (MPI_COMM_WORLD, key, &value, &flag));
    CHECK(flag && *value == 5);
    CALL(Attr_delete, (MPI_COMM_WORLD, key));
    CALL(Keyval_free, (&key));
    CHECK(deleted == 1);
    CALL(Attr_get, (MPI_COMM_WORLD, MPI_TAG_UB, &value, &flag));
}

static void handle(MPI_Comm* comm, int* code, ...) {
    (void)comm, (void)code;
    ++handled;
}

static void errors(void) {
    MPI_Errhandler handler, found;
    CALL(Errhandler_create, (handle, &handler));
    CALL(Errhandler_set, (MPI_COMM_WORLD, handler));
    CALL(Errhandler_get, (MPI_COMM_WORLD, &found));
    CALL_FAILS(Send, (out, 1, MPI_INT, ranks + 7, 1, MPI_COMM_WORLD));
    CHECK(handled == 1);
    CALL(Errhandler_free, (&found));
    CALL(Errhandler_set, (MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
    CALL(Errhandler_free, (&handler));
}

int main(int argc, char** argv) {
    begin(&argc, &argv);
    types();
    attributes();
    errors();
    return end("removed");
}
