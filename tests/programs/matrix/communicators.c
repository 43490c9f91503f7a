/* Communicators, groups and similar objects: no call moves data of the application. */
#include "program.h"

static void groups(void) {
    MPI_Group world, evens, others, made[6];
    const int first[1] = {0};
    int ranges[1][3] = {{0, ranks - 1, 2}}, mine, size, result, translated;
    CALL(Comm_group, (MPI_COMM_WORLD, &world));
    CALL(Group_incl, (world, 1, first, &evens));
    CALL(Group_excl, (world, 1, first, &others));
    CALL(Group_union, (evens, others, &made[0]));
    CALL(Group_intersection, (world, evens, &made[1]));
    CALL(Group_difference, (world, evens, &made[2]));
    CALL(Group_range_incl, (world, 1, ranges, &made[3]));
    CALL(Group_range_excl, (world, 1, ranges, &made[4]));
    CALL(Group_compare, (world, made[0], &result));
    observe_number(result);
    CALL(Group_rank, (others, &mine));
    CALL(Group_size, (others, &size));
    CALL(Group_translate_ranks, (world, 1, &rank, others, &translated));
    CHECK(translated == mine && size == ranks - 1);
    MPI_Comm of_others;
    CALL(Comm_create, (MPI_COMM_WORLD, others, &of_others));
    CHECK((of_others == MPI_COMM_NULL) == (rank == 0));
    if (rank != 0) {
        CALL(Comm_free, (&of_others));
        CALL(Comm_create_group, (MPI_COMM_WORLD, others, 3, &of_others));
        CALL(Comm_free, (&of_others));
    }
    for (int i = 0; i < 5; ++i)
        CALL(Group_free, (&made[i]));
    CALL(Group_free, (&others));
    CALL(Group_free, (&evens));
    CALL(Group_free, (&world));
}

static void intra(void) {
    MPI_Comm copy, informed, part, node;
    MPI_Info info;
    MPI_Request request;
    char name[MPI_MAX_OBJECT_NAME];
    int result, length, flag;
    CALL(Comm_dup, (MPI_COMM_WORLD, &copy));
    CALL(Comm_compare, (MPI_COMM_WORLD, copy, &result));
    CHECK(result == MPI_CONGRUENT);
    CALL(Comm_set_name, (copy, "a copy"));
    CALL(Comm_get_name, (copy, name, &length));
    observe(name, length);
    CALL(Info_create, (&info));
    CALL(Comm_set_info, (copy, info));
    CALL(Comm_dup_with_info, (copy, info, &informed));
    CALL(Info_free, (&info));
    CALL(Comm_get_info, (informed, &info));
    CALL(Comm_free, (&informed));
    CALL(Comm_idup, (copy, &part, &request));
    CALL(Wait, (&request, MPI_STATUS_IGNORE));
    CALL(Comm_disconnect, (&part));
#ifdef HAS_FUNCTIONS_OF_MPI_4
    CALL(Comm_idup_with_info, (copy, info, &part, &request));
    CALL(Wait, (&request, MPI_STATUS_IGNORE));
    CALL(Comm_free, (&part));
#endif
    CALL(Info_free, (&info));
    CALL(Comm_split, (copy, rank % 2, -rank, &part));
    CALL(Comm_rank, (part, &result));
    CALL(Comm_size, (part, &length));
    observe_number(result + 10 * length);
    CALL(Comm_split_type, (copy, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node));
    CALL(Comm_test_inter, (node, &flag));
    CHECK(!flag);
    CALL(Comm_free, (&node));
    CALL(Comm_free, (&part));
    CALL(Comm_free, (&copy));
    MPI_Comm parent;
    CALL(Comm_get_parent, (&parent));
    CHECK(parent == MPI_COMM_NULL);
}

static void inter(void) {
    MPI_Comm half, joined, both;
    MPI_Group others;
    int size, flag;
    CALL(Comm_split, (MPI_COMM_WORLD, rank == 0, rank, &half));
    CALL(Intercomm_create, (half, 0, MPI_COMM_WORLD, rank == 0 ? 1 : 0, 5, &joined));
    CALL(Comm_test_inter, (joined, &flag));
    CALL(Comm_remote_size, (joined, &size));
    CHECK(flag && size == (rank == 0 ? ranks - 1 : 1));
    CALL(Comm_remote_group, (joined, &others));
    CALL(Group_free, (&others));
    CALL(Intercomm_merge, (joined, rank == 0, &both));
    CALL(Comm_rank, (both, &size));
    observe_number(size);
    CALL(Comm_free, (&both));
    CALL(Comm_free, (&joined));
    CALL(Comm_free, (&half));
}

static void topologies(void) {
    MPI_Comm cart, row, graph;
    int sizes[2] = {0, 1}, periods[2] = {1, 0}, place[2], numbers[64], count, mine, from, to, other, weighted;
    const int keep[2] = {1, 0};
    CALL(Dims_create, (ranks, 2, sizes));
    sizes[0] = ranks, sizes[1] = 1;
    CALL(Cart_create, (MPI_COMM_WORLD, 2, sizes, periods, 1, &cart));
    CALL(Topo_test, (cart, &count));
    CHECK(count == MPI_CART);
    CALL(Cartdim_get, (cart, &count));
    CALL(Cart_get, (cart, count, sizes, periods, place));
    CALL(Cart_rank, (cart, place, &mine));
    CALL(Cart_coords, (cart, mine, count, place));
    CALL(Cart_shift, (cart, 0, 1, &from, &to));
    observe_number(from + 10 * to + 100 * place[0]);
    CALL(Cart_sub, (cart, keep, &row));
    CALL(Cart_map, (MPI_COMM_WORLD, 2, sizes, periods, &mine));
    CALL(Comm_free, (&row));
    CALL(Comm_free, (&cart));

    int ends[64], edges[64];
    for (int i = 0; i < ranks; ++i) {
        ends[i] = i + 1;
        edges[i] = (i + 1) % ranks;
    }
    CALL(Graph_create, (MPI_COMM_WORLD, ranks, ends, edges, 0, &graph));
    CALL(Graphdims_get, (graph, &count, &other));
    CHECK(count == ranks && other == ranks);
    CALL(Graph_get, (graph, 64, 64, ends, edges));
    CALL(Graph_neighbors_count, (graph, rank, &count));
    CALL(Graph_neighbors, (graph, rank, count, numbers));
    CHECK(count == 1 && numbers[0] == right);
    CALL(Graph_map, (MPI_COMM_WORLD, ranks, ends, edges, &mine));
    CALL(Comm_free, (&graph));

    const int degree = 1;
    CALL(Dist_graph_create, (MPI_COMM_WORLD, 1, &rank, &degree, &right, &right, MPI_INFO_NULL, 0, &graph));
    CALL(Dist_graph_neighbors_count, (graph, &count, &other, &weighted));
    CALL(Dist_graph_neighbors, (graph, count, ends, numbers, other, edges, numbers + 32));
    CHECK(ends[0] == left && edges[0] == right && weighted);
    CALL(Comm_free, (&graph));
    CALL(Dist_graph_create_adjacent,
         (MPI_COMM_WORLD, 1, &left, &left, 1, &right, &right, MPI_INFO_NULL, 0, &graph));
    CALL(Comm_free, (&graph));
}

int main(int argc, char** argv) {
    begin(&argc, &argv);
    groups();
    intra();
    inter();
    topologies();
    return end("communicators");
}
