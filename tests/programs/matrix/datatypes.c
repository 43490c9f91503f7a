/* Datatypes, packing, status functions. Messages of each kind of datatype count its size, not its extent. */
#include "program.h"

static MPI_Datatype made[32];
static int made_count;

/* Sends one element of a new datatype to the right. */
static void use(MPI_Datatype type, int size) {
    MPI_Count found;
    count_t plain;
    CALL(Type_commit, (&type));
    SIZED(Type_size, (type, &plain));
    CALL(Type_size_x, (type, &found));
    CHECK(found == size && plain == size);
    SIZED(Sendrecv, (out, 1, type, right, made_count, in, 1, type, left, made_count, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE));
    sent(size), received(size);
    observe(in, 256);
    made[made_count++] = type;
}

static void constructors(void) {
    const count_t lengths[2] = {1, 2}, sizes[2] = {4, 6}, parts[2] = {2, 3}, starts[2] = {1, 2};
#ifdef LARGE_COUNTS
    const MPI_Count bytes[2] = {0, 16}, stride = 16, extent = 40, start = 0;
    const MPI_Count element_places[2] = {0, 3};
#else
    const MPI_Aint bytes[2] = {0, 16}, stride = 16, extent = 40, start = 0;
    const int element_places[2] = {0, 3};
#endif
    const MPI_Datatype types[2] = {MPI_INT, MPI_DOUBLE};
    MPI_Datatype type;
    SIZED(Type_contiguous, (3, MPI_INT, &type));
    use(type, 12);
    SIZED(Type_vector, (3, 1, 2, MPI_INT, &type));
    use(type, 12);
    SIZED(Type_create_hvector, (3, 2, stride, MPI_INT, &type));
    use(type, 24);
    SIZED(Type_indexed, (2, lengths, element_places, MPI_INT, &type));
    use(type, 12);
    SIZED(Type_create_hindexed, (2, lengths, bytes, MPI_INT, &type));
    use(type, 12);
    SIZED(Type_create_indexed_block, (2, 2, element_places, MPI_INT, &type));
    use(type, 16);
    SIZED(Type_create_hindexed_block, (2, 2, bytes, MPI_INT, &type));
    use(type, 16);
    SIZED(Type_create_struct, (2, lengths, bytes, types, &type));
    use(type, 20);
    SIZED(Type_create_subarray, (2, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &type));
    use(type, 24);
    const int distributions[1] = {MPI_DISTRIBUTE_BLOCK}, arguments[1] = {MPI_DISTRIBUTE_DFLT_DARG},
              grid[1] = {2};
    const count_t twelve[1] = {12};
    SIZED(Type_create_darray,
          (2, rank % 2, 1, twelve, distributions, arguments, grid, MPI_ORDER_C, MPI_INT, &type));
    use(type, 24);
    SIZED(Type_create_resized, (MPI_INT, start, extent, &type));
    use(type, 4);
    CALL(Type_dup, (made[0], &type));
    use(type, 12);
    CALL(Type_match_size, (MPI_TYPECLASS_REAL, 8, &type));
    CALL(Type_size, (type, &(int){0}));
    CALL(Type_create_f90_real, (6, MPI_UNDEFINED, &type));
    CALL(Type_create_f90_integer, (6, &type));
    CALL(Type_create_f90_complex, (6, MPI_UNDEFINED, &type));
}

static void questions(void) {
    MPI_Count low, wide;
#ifdef LARGE_COUNTS
    MPI_Count lower, extent;
    MPI_Count integers, addresses, counts, types;
    MPI_Aint address_list[4];
    MPI_Count count_list[8];
#else
    MPI_Aint lower, extent, address_list[4];
    int integers, addresses, types;
#endif
    int combiner, integer_list[8], length;
    MPI_Datatype type_list[4];
    MPI_Aint address;
    char name[MPI_MAX_OBJECT_NAME];
    SIZED(Type_get_extent, (made[1], &lower, &extent));
    CHECK(lower == 0 && extent == 20);
    SIZED(Type_get_true_extent, (made[10], &lower, &extent));
    CHECK(extent == 4);
    CALL(Type_get_extent_x, (made[1], &low, &wide));
    CALL(Type_get_true_extent_x, (made[1], &low, &wide));
    CHECK(wide == 20);
#ifdef LARGE_COUNTS
    SIZED(Type_get_envelope, (made[1], &integers, &addresses, &counts, &types, &combiner));
    SIZED(Type_get_contents,
          (made[1], integers, addresses, counts, types, integer_list, address_list, count_list, type_list));
#else
    SIZED(Type_get_envelope, (made[1], &integers, &addresses, &types, &combiner));
    SIZED(Type_get_contents, (made[1], integers, addresses, types, integer_list, address_list, type_list));
#endif
    CHECK(combiner == MPI_COMBINER_VECTOR);
    CALL(Type_set_name, (made[1], "gaps"));
    CALL(Type_get_name, (made[1], name, &length));
    observe(name, length);
    CALL(Get_address, (in, &address));
    CHECK(address == (MPI_Aint)in);
}

static void packing(void) {
    char box[256];
    count_t size, place = 0;
#ifdef LARGE_COUNTS
    MPI_Count bytes = 0, external_place = 0;
#else
    MPI_Aint bytes = 0, external_place = 0;
#endif
    memset(box, 0, sizeof box);
    SIZED(Pack_size, (2, made[1], MPI_COMM_WORLD, &size));
    CHECK(size >= 24);
    SIZED(Pack, (out, 2, made[1], box, sizeof box, &place, MPI_COMM_WORLD));
    const int packed = (int)place;
    SIZED(Send, (box, packed, MPI_PACKED, right, 50, MPI_COMM_WORLD));
    sent(packed);
    SIZED(Recv, (box, sizeof box, MPI_PACKED, left, 50, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    received(packed);
    CHECK(packed == 24);
    place = 0;
    SIZED(Unpack, (box, packed, &place, in, 2, made[1], MPI_COMM_WORLD));
    SIZED(Pack_external_size, ("external32", 3, MPI_INT, &bytes));
    CHECK(bytes == 12);
    SIZED(Pack_external, ("external32", out, 3, MPI_INT, box, sizeof box, &external_place));
    external_place = 0;
    SIZED(Unpack_external, ("external32", box, 12, &external_place, in, 3, MPI_INT));
    observe(in, 64);
    observe(box, 12);
}

static void statuses(void) {
    MPI_Status status;
    MPI_Count many;
    count_t number;
    int flag;
    SIZED(Sendrecv, (out, 5, MPI_INT, right, 60, in, 8, made[1], left, 60, MPI_COMM_WORLD, &status));
    sent(20), received(20);
    SIZED(Get_count, (&status, MPI_INT, &number));
    CHECK(number == 5);
    SIZED(Get_elements, (&status, made[1], &number));
    CHECK(number == 5);
    CALL(Get_elements_x, (&status, made[1], &many));
    CHECK(many == 5);
    CALL(Status_set_elements, (&status, MPI_INT, 7));
    CALL(Status_set_elements_x, (&status, MPI_INT, 8));
    SIZED(Get_count, (&status, MPI_INT, &number));
    CHECK(number == 8);
    CALL(Status_set_cancelled, (&status, 1));
    CALL(Test_cancelled, (&status, &flag));
    CHECK(flag);
}

int main(int argc, char** argv) {
    begin(&argc, &argv);
    constructors();
    questions();
    packing();
    statuses();
    for (int i = 0; i < made_count; ++i)
        CALL(Type_free, (&made[i]));
    return end("datatypes");
}
