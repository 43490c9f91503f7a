/* files [blocking]: reads and writes of files: individual and collective, at explicit offsets, by shared pointers, split, nonblocking; short
 * reads at the end of the file. One file per job, matrix.data in the working folder. */
#include "program.h"

#include <stdio.h>
#include <stdlib.h>

static MPI_File file;
static MPI_Status status;
static MPI_Request request;
static int nonblocking_collectives; /* Open MPI's romio321 dies of them */

/* After a collective write, too: Open MPI reads and rewrites the gaps between the ranks' parts. */
static void together(void) {
    CALL(Barrier, (MPI_COMM_WORLD));
    barrier_passed();
}

static void check_bytes(int bytes) {
    count_t found = -1;
    SIZED(Get_count, (&status, MPI_BYTE, &found));
    CHECK(found == bytes);
    observe(in, bytes);
}

/* Offsets count ints: rank r has 100 of them from 100 r on. */
static void explicit_offsets(void) {
    const MPI_Offset own = 100 * rank;
    MPI_Datatype gapped;
    CALL(Type_vector,
         (3, 1, 2, MPI_INT, &gapped)); /* 12 bytes of data over 20; MPICH writes no Type_vector_c */
    CALL(Type_commit, (&gapped));
    SIZED(File_write_at, (file, own, out, 7, MPI_INT, &status));
    file_written(28);
    SIZED(File_write_at, (file, own + 10, out, 2, gapped, MPI_STATUS_IGNORE));
    file_written(24);
    SIZED(File_write_at, (file, own, out, 0, MPI_INT, &status));
    file_written(0);
    SIZED(File_write_at_all, (file, own + 20, out, 9, MPI_INT, &status));
    file_collective_written(36);
    together();
    SIZED(File_iwrite_at, (file, own + 40, out, 11, MPI_INT, &request));
    file_written(44);
    CALL(Wait, (&request, &status));
    if (nonblocking_collectives) {
        SIZED(File_iwrite_at_all, (file, own + 60, out, 40, MPI_INT, &request));
        file_collective_written(160);
        CALL(Wait, (&request, MPI_STATUS_IGNORE));
        together();
    }
    together();
    SIZED(File_read_at, (file, own, in, 7, MPI_INT, &status));
    file_read(28);
    check_bytes(28);
    SIZED(File_read_at, (file, own + 10, in, 2, gapped, MPI_STATUS_IGNORE));
    file_read(24);
    SIZED(File_read_at, (file, own, in, 0, MPI_INT, &status));
    file_read(0);
    SIZED(File_read_at_all, (file, own + 20, in, 9, MPI_INT, &status));
    file_collective_read(36);
    check_bytes(36);
    SIZED(File_read_at_all, (file, own + 20, in, 9, MPI_INT, MPI_STATUS_IGNORE));
    file_collective_read(36);
    SIZED(File_iread_at, (file, own + 40, in, 11, MPI_INT, &request));
    log_metric("file_individual_reads", 1);
    CALL(Wait, (&request, MPI_STATUS_IGNORE));
    log_metric("file_individual_bytes_read", 44);
    observe(in, 44);
    if (nonblocking_collectives) {
        SIZED(File_iread_at_all, (file, own + 60, in, 40, MPI_INT, &request));
        log_metric("file_collective_reads", 1);
        CALL(Wait, (&request, &status));
        log_metric("file_collective_bytes_read", 160);
        check_bytes(160);
    }
    CALL(Type_free, (&gapped));
}

/* The end of the file is 100 * ranks ints away; these reads begin 3 ints before it, or behind it. */
static void short_reads(void) {
    const MPI_Offset near = 100 * ranks - 3;
    together();
    SIZED(File_read_at, (file, near, in, 10, MPI_INT, &status));
    file_read(12);
    check_bytes(12);
    SIZED(File_read_at, (file, near, in, 10, MPI_INT, MPI_STATUS_IGNORE));
    file_read(12);
    SIZED(File_read_at, (file, near + 50, in, 10, MPI_INT, MPI_STATUS_IGNORE));
    file_read(0);
#ifndef OPEN_MPI /* its default, ompio, repeats the read for ever */
    SIZED(File_iread_at, (file, near, in, 10, MPI_INT, &request));
    log_metric("file_individual_reads", 1);
    int flag;
    do
        CALL(Test, (&request, &flag, MPI_STATUS_IGNORE));
    while (!flag);
    log_metric("file_individual_bytes_read", 12);
#endif
    CALL(File_seek, (file, near, MPI_SEEK_SET));
    SIZED(File_read, (file, in, 10, MPI_INT, &status));
    file_read(12);
    check_bytes(12);
}

static void own_pointers(void) {
    MPI_Offset place;
    const MPI_Offset own = 100 * rank;
    MPI_Request both[2];
    CALL(File_seek, (file, own, MPI_SEEK_SET));
    SIZED(File_write, (file, out, 5, MPI_INT, &status));
    file_written(20);
    SIZED(File_iwrite, (file, out, 6, MPI_INT, &request));
    file_written(24);
    CALL(Wait, (&request, MPI_STATUS_IGNORE));
    SIZED(File_write_all, (file, out, 7, MPI_INT, &status));
    file_collective_written(28);
    together();
    if (nonblocking_collectives) {
        SIZED(File_iwrite_all, (file, out, 8, MPI_INT, &request));
        file_collective_written(32);
        CALL(Waitall, (1, &request, MPI_STATUSES_IGNORE));
        together();
    }
    CALL(File_get_position, (file, &place));
    CHECK(place == own + (nonblocking_collectives ? 26 : 18));
    together();
    CALL(File_seek, (file, own, MPI_SEEK_SET));
    SIZED(File_read, (file, in, 5, MPI_INT, MPI_STATUS_IGNORE));
    file_read(20);
    SIZED(File_iread, (file, in, 6, MPI_INT, &both[0]));
    log_metric("file_individual_reads", 1);
    /* together with a receive */
    SIZED(Irecv, (in + 100, 3, MPI_INT, left, 1, MPI_COMM_WORLD, &both[1]));
    SIZED(Send, (out, 3, MPI_INT, right, 1, MPI_COMM_WORLD));
    sent(12);
    CALL(Waitall, (2, both, MPI_STATUSES_IGNORE));
    log_metric("file_individual_bytes_read", 24);
    received(12);
    SIZED(File_read_all, (file, in, 7, MPI_INT, &status));
    file_collective_read(28);
    check_bytes(28);
    if (nonblocking_collectives) {
        SIZED(File_iread_all, (file, in, 8, MPI_INT, &request));
        log_metric("file_collective_reads", 1);
        CALL(Wait, (&request, &status));
        log_metric("file_collective_bytes_read", 32);
        check_bytes(32);
    }
}

static void split(void) {
    const MPI_Offset own = 100 * rank;
    SIZED(File_write_at_all_begin, (file, own, out, 5, MPI_INT));
    file_collective_written(20);
    CALL(File_write_at_all_end, (file, out, &status));
    together();
    CALL(File_seek, (file, own + 5, MPI_SEEK_SET));
    SIZED(File_write_all_begin, (file, out, 6, MPI_INT));
    file_collective_written(24);
    CALL(File_write_all_end, (file, out, MPI_STATUS_IGNORE));
    together();
    SIZED(File_read_at_all_begin, (file, own, in, 5, MPI_INT));
    log_metric("file_collective_reads", 1);
    CALL(File_read_at_all_end, (file, in, &status));
    log_metric("file_collective_bytes_read", 20);
    check_bytes(20);
    CALL(File_seek, (file, own + 5, MPI_SEEK_SET));
    SIZED(File_read_all_begin, (file, in, 6, MPI_INT));
    log_metric("file_collective_reads", 1);
    CALL(File_read_all_end, (file, in, MPI_STATUS_IGNORE));
    log_metric("file_collective_bytes_read", 24);
    observe(in, 24);
}

/* Who writes where is chance, but all write the same. */
static void shared_pointers(void) {
    MPI_Offset place;
    static int same[16];
    CALL(File_seek_shared, (file, 0, MPI_SEEK_SET));
    SIZED(File_write_shared, (file, same, 5, MPI_INT, &status));
    file_written(20);
    SIZED(File_iwrite_shared, (file, same, 6, MPI_INT, &request));
    file_written(24);
    CALL(Wait, (&request, MPI_STATUS_IGNORE));
    together();
    SIZED(File_write_ordered, (file, out, 7, MPI_INT, &status));
    file_collective_written(28);
    together();
    SIZED(File_write_ordered_begin, (file, out, 8, MPI_INT));
    file_collective_written(32);
    CALL(File_write_ordered_end, (file, out, &status));
    CALL(File_get_position_shared, (file, &place));
    CHECK(place == 26 * ranks);
    together();
    CALL(File_seek_shared, (file, 0, MPI_SEEK_SET));
    SIZED(File_read_shared, (file, in, 5, MPI_INT, &status));
    file_read(20);
    SIZED(File_iread_shared, (file, in, 6, MPI_INT, &request));
    log_metric("file_individual_reads", 1);
    CALL(Wait, (&request, MPI_STATUS_IGNORE));
    log_metric("file_individual_bytes_read", 24);
    together();
    SIZED(File_read_ordered, (file, in, 7, MPI_INT, &status));
    file_collective_read(28);
    check_bytes(28);
    SIZED(File_read_ordered_begin, (file, in, 8, MPI_INT));
    log_metric("file_collective_reads", 1);
    CALL(File_read_ordered_end, (file, in, &status));
    log_metric("file_collective_bytes_read", 32);
    check_bytes(32);
}

static void questions(void) {
    MPI_Offset offset;
    MPI_Datatype etype, filetype;
    MPI_Group group;
    MPI_Info info;
    char name[MPI_MAX_DATAREP_STRING];
    int number, members;
#ifdef LARGE_COUNTS
    MPI_Count extent;
#else
    MPI_Aint extent;
#endif
    CALL(File_get_size, (file, &offset));
    CHECK(offset == 400 * ranks);
    CALL(File_get_amode, (file, &number));
    CALL(File_set_atomicity, (file, 1));
    CALL(File_get_atomicity, (file, &number));
    CHECK(number);
    CALL(File_set_atomicity, (file, 0));
    CALL(File_get_view, (file, &offset, &etype, &filetype, name));
    CHECK(offset == 0);
    CALL(File_get_byte_offset, (file, 5, &offset));
    CHECK(offset == 20);
    SIZED(File_get_type_extent, (file, MPI_INT, &extent));
    CHECK(extent == 4);
    CALL(File_get_group, (file, &group));
    CALL(Group_size, (group, &members));
    CALL(Group_free, (&group));
    CALL(File_get_info, (file, &info));
    CALL(File_set_info, (file, info));
    CALL(Info_free, (&info));
}

static void failures(void) {
    CALL(File_set_errhandler, (MPI_FILE_NULL, MPI_ERRORS_RETURN));
    CALL_FAILS(File_open, (MPI_COMM_SELF, "no such folder/file", MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    CALL(File_open, (MPI_COMM_SELF, "matrix.data", MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    CALL_FAILS(File_write_at, (file, 0, out, 7, MPI_INT, &status));
    CALL(File_close, (&file));
}

#ifndef OPEN_MPI /* ends by SIGFPE there */
/* MPICH does not write the status when nothing is asked for. */
static void nothing_asked_for(void) {
    MPI_Datatype nothing;
    MPI_Request request;
    SIZED(Type_contiguous, (0, MPI_INT, &nothing));
    CALL(Type_commit, (&nothing));
    SIZED(File_read_all, (file, in, 3, nothing, MPI_STATUS_IGNORE));
    file_collective_read(0);
    SIZED(File_read_at_all, (file, 0, in, 3, nothing, MPI_STATUS_IGNORE));
    file_collective_read(0);
    SIZED(File_read_at, (file, 0, in, 3, nothing, MPI_STATUS_IGNORE));
    file_read(0);
    SIZED(File_iread_at, (file, 0, in, 3, nothing, &request));
    file_read(0);
    CALL(Wait, (&request, MPI_STATUS_IGNORE));
    CALL(Type_free, (&nothing));
}
#endif

int main(int argc, char** argv) {
    begin(&argc, &argv);
    nonblocking_collectives = argc < 2;
    const char* name = "matrix.data";
    CALL(File_open, (MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file));
    CALL(File_set_size, (file, 0));
    CALL(File_preallocate, (file, 400 * ranks));
    CALL(File_set_view, (file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    explicit_offsets();
    short_reads();
    own_pointers();
    split();
    shared_pointers();
    questions();
#ifndef OPEN_MPI
    nothing_asked_for();
#endif
    CALL(File_sync, (file));
    MPI_File kept = file;
    failures();
    file = kept;
    CALL(File_close, (&file));
    together();
    if (rank == 0)
        CALL(File_delete, (name, MPI_INFO_NULL));
    return end("files");
}
