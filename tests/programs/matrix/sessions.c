/* MPI sessions, next to MPI_Init: their communicators and messages. */
#include "program.h"

static int handled;

static void handle(MPI_Session* session, int* code, ...) {
    (void)session, (void)code;
    ++handled;
}

int main(int argc, char** argv) {
    begin(&argc, &argv);
    MPI_Session session;
    MPI_Errhandler handler, found;
    MPI_Group group, side;
    MPI_Comm comm, inter;
    MPI_Info info;
    char name[MPI_MAX_PSET_NAME_LEN];
    int count, length = sizeof name;
    CALL(Session_create_errhandler, (handle, &handler));
    CALL(Session_init, (MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    CALL(Session_set_errhandler, (session, handler));
    CALL(Session_get_errhandler, (session, &found));
    CALL(Session_call_errhandler, (session, MPI_ERR_OTHER));
    CHECK(handled == 1);
    CALL(Session_get_num_psets, (session, MPI_INFO_NULL, &count));
    CALL(Session_get_nth_pset, (session, MPI_INFO_NULL, 0, &length, name));
    CALL(Session_get_pset_info, (session, name, &info));
    CALL(Info_free, (&info));
    CALL(Session_get_info, (session, &info));
    CALL(Info_free, (&info));
#ifdef HAS_FUNCTIONS_OF_MPI_4_1
    static char space[4096];
    MPI_Request request;
    void* returned;
    CALL(Session_attach_buffer, (session, space, sizeof space));
    CALL(Session_flush_buffer, (session));
    CALL(Session_iflush_buffer, (session, &request));
    CALL(Wait, (&request, MPI_STATUS_IGNORE));
    CALL(Session_detach_buffer, (session, &returned, &count));
    MPI_Count many;
    CALL(Session_attach_buffer_c, (session, space, sizeof space));
    CALL(Session_detach_buffer_c, (session, &returned, &many));
    CHECK(many == count);
#endif
    CALL(Group_from_session_pset, (session, "mpi://WORLD", &group));
    CALL(Comm_create_from_group, (group, "matrix", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    CALL(Sendrecv, (out, 7, MPI_INT, right, 1, in, 7, MPI_INT, left, 1, comm, MPI_STATUS_IGNORE));
    sent(28), received(28);
    CALL(Allreduce, (out, in, 3, MPI_INT, MPI_SUM, comm));
    collective(EXCHANGE, 12, 12);
    observe(in, 28);
    CALL(Comm_free, (&comm));
    /* rank 0 on one side, the others on the other */
    const int first[1] = {0};
    MPI_Group others;
    CALL(Group_incl, (group, 1, first, &side));
    CALL(Group_excl, (group, 1, first, &others));
    CALL(Intercomm_create_from_groups, (rank == 0 ? side : others, 0, rank == 0 ? others : side, 0,
                                        "matrix inter", MPI_INFO_NULL, MPI_ERRORS_RETURN, &inter));
    CALL(Barrier, (inter));
    barrier_passed();
    CALL(Comm_free, (&inter));
    CALL(Group_free, (&side));
    CALL(Group_free, (&others));
    CALL(Group_free, (&group));
    CALL(Session_finalize, (&session));
    return end("sessions");
}
