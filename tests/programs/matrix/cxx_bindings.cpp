// The C++ bindings that MPI 3 removed: messages, collectives, one-sided calls, files, objects, callbacks. Most of them are
// inline, so that their calls come from the application's own code.
#include <mpi.h>

#include <cstring>

#include "call_log.h"

static int rank, ranks, right, left;
static int out[400], in[400];
static const int many = 40;

// CALL(Send, comm.Send(...)) logs the call and makes it.
#define CALL(name, call) (log_call("MPI_" #name), call)

static void messages() {
    MPI::Intracomm world = MPI::COMM_WORLD;
    MPI::Status status;
    CALL(Send, world.Send(out, 3, MPI::INT, right, 1));
    sent(12);
    CALL(Recv, world.Recv(in, 64, MPI::INT, left, 1, status));
    received(12);
    check(CALL(Get_count, status.Get_count(MPI::INT)) == 3, __LINE__);
    CALL(Sendrecv, world.Sendrecv(out, 4, MPI::INT, right, 2, in, 64, MPI::INT, left, 2));
    sent(16), received(16);
    CALL(Sendrecv_replace, world.Sendrecv_replace(in, 5, MPI::INT, right, 3, left, 3));
    sent(20), received(20);
    static char space[4000];
    void* detached;
    CALL(Buffer_attach, MPI::Attach_buffer(space, sizeof space));
    CALL(Bsend, world.Bsend(out, 6, MPI::INT, right, 4));
    sent(24);
    CALL(Probe, world.Probe(left, 4));
    check(CALL(Iprobe, world.Iprobe(left, 4, status)), __LINE__);
    CALL(Recv, world.Recv(in, 64, MPI::INT, left, 4));
    received(24);
    CALL(Buffer_detach, MPI::Detach_buffer(detached));
    MPI::Request requests[2 * many];
    MPI::Status statuses[2 * many];
    int indices[2 * many], found;
    for (int way = 0; way < 6; ++way) {
        for (int i = 0; i < many; ++i)
            requests[i] = CALL(Irecv, world.Irecv(in + 8 * i, 8, MPI::INT, left, 100 + i));
        for (int i = 0; i < many; ++i) {
            requests[many + i] = CALL(Isend, world.Isend(out, i % 8 + 1, MPI::INT, right, 100 + i));
            sent(4 * (i % 8 + 1));
        }
        for (int done = 0; done < 2 * many; done += found) {
            found = 0;
            switch (way) {
            case 0:
                CALL(Waitall, MPI::Request::Waitall(2 * many, requests, statuses));
                for (found = 0; found < 2 * many; ++found)
                    indices[found] = found;
                break;
            case 1:
                indices[0] = CALL(Waitany, MPI::Request::Waitany(2 * many, requests, status));
                found = 1;
                break;
            case 2:
                found = CALL(Waitsome, MPI::Request::Waitsome(2 * many, requests, indices));
                break;
            case 3:
                found = CALL(Testany, MPI::Request::Testany(2 * many, requests, indices[0]));
                break;
            case 4:
                found = CALL(Testsome, MPI::Request::Testsome(2 * many, requests, indices, statuses));
                break;
            default:
                if (CALL(Testall, MPI::Request::Testall(2 * many, requests)))
                    for (found = 0; found < 2 * many; ++found)
                        indices[found] = found;
            }
            for (int i = 0; i < found; ++i)
                if (indices[i] < many)
                    received(4 * (indices[i] % 8 + 1));
        }
        observe(in, 1280);
    }
    MPI::Request one = CALL(Irecv, world.Irecv(in, 8, MPI::INT, left, 5));
    MPI::Request two = CALL(Issend, world.Issend(out, 7, MPI::INT, right, 5));
    sent(28);
    while (!CALL(Test, one.Test(status)))
        ;
    received(28);
    CALL(Wait, two.Wait());
    one = CALL(Irecv, world.Irecv(in, 8, MPI::INT, left, 6));
    CALL(Cancel, one.Cancel());
    CALL(Wait, one.Wait(status));
    check(CALL(Test_cancelled, status.Is_cancelled()), __LINE__);
    MPI::Prequest both[2];
    both[0] = CALL(Recv_init, world.Recv_init(in, 8, MPI::INT, left, 7));
    both[1] = CALL(Send_init, world.Send_init(out, 8, MPI::INT, right, 7));
    for (int round = 0; round < 2; ++round) {
        CALL(Startall, MPI::Prequest::Startall(2, both));
        sent(32);
        CALL(Wait, both[1].Wait());
        CALL(Wait, both[0].Wait());
        received(32);
    }
    CALL(Start, both[1].Start());
    sent(32);
    CALL(Start, both[0].Start());
    CALL(Wait, both[0].Wait());
    received(32);
    CALL(Wait, both[1].Wait());
    CALL(Request_free, both[0].Free());
    CALL(Request_free, both[1].Free());
}

static void own_sum(const void* from, void* to, int count, const MPI::Datatype& type) {
    log_callback_begin();
    CALL(Type_size, type.Get_size());
    log_callback_end();
    for (int i = 0; i < count; ++i)
        static_cast<int*>(to)[i] += static_cast<const int*>(from)[i];
}

static void collectives() {
    MPI::Intracomm world = MPI::COMM_WORLD;
    int counts[32], places[32], bytes[32], total = 0;
    MPI::Datatype types[32];
    for (int i = 0; i < ranks; ++i) {
        counts[i] = i + 1;
        places[i] = total;
        total += i + 1;
    }
    const bool leads = rank == 0;
    const char* up = leads ? AS_DESTINATION : AS_SOURCE;
    const char* down = leads ? AS_SOURCE : AS_DESTINATION;
    CALL(Barrier, world.Barrier());
    barrier_passed();
    CALL(Bcast, world.Bcast(in, 7, MPI::INT, 0));
    collective(down, leads ? 28 : 0, leads ? 0 : 28);
    CALL(Gather, world.Gather(out, 7, MPI::INT, in, 7, MPI::INT, 0));
    collective(up, 28, leads ? 28 * ranks : 0);
    CALL(Gatherv, world.Gatherv(out, rank + 1, MPI::INT, in, counts, places, MPI::INT, 0));
    collective(up, 4 * (rank + 1), leads ? 4 * total : 0);
    CALL(Scatter, world.Scatter(out, 7, MPI::INT, in, 7, MPI::INT, 0));
    collective(down, leads ? 28 * ranks : 0, 28);
    CALL(Scatterv, world.Scatterv(out, counts, places, MPI::INT, in, rank + 1, MPI::INT, 0));
    collective(down, leads ? 4 * total : 0, 4 * (rank + 1));
    CALL(Reduce, world.Reduce(out, in, 7, MPI::INT, MPI::SUM, 0));
    collective(up, 28, leads ? 28 : 0);
    CALL(Allreduce, world.Allreduce(out, in, 7, MPI::INT, MPI::SUM));
    collective(EXCHANGE, 28, 28);
    CALL(Allreduce, world.Allreduce(MPI::IN_PLACE, in, 7, MPI::INT, MPI::MAX));
    collective(EXCHANGE, 28, 28);
    CALL(Scan, world.Scan(out, in, 7, MPI::INT, MPI::SUM));
    collective(EXCHANGE, 28, 28);
    CALL(Exscan, world.Exscan(out, in, 7, MPI::INT, MPI::SUM));
    collective(EXCHANGE, 28, leads ? 0 : 28);
    CALL(Reduce_scatter, world.Reduce_scatter(out, in, counts, MPI::INT, MPI::SUM));
    collective(EXCHANGE, 4 * total, 4 * (rank + 1));
    CALL(Allgather, world.Allgather(out, 7, MPI::INT, in, 7, MPI::INT));
    collective(EXCHANGE, 28, 28 * ranks);
    CALL(Allgatherv, world.Allgatherv(out, rank + 1, MPI::INT, in, counts, places, MPI::INT));
    collective(EXCHANGE, 4 * (rank + 1), 4 * total);
    CALL(Alltoall, world.Alltoall(out, 7, MPI::INT, in, 7, MPI::INT));
    collective(EXCHANGE, 28 * ranks, 28 * ranks);
    for (int i = 0; i < ranks; ++i) {
        counts[i] = 3;
        places[i] = 4 * i;
        bytes[i] = 16 * i;
        types[i] = MPI::INT;
    }
    CALL(Alltoallv, world.Alltoallv(out, counts, places, MPI::INT, in, counts, places, MPI::INT));
    collective(EXCHANGE, 12 * ranks, 12 * ranks);
    CALL(Alltoallw,
         world.Alltoallw(out, counts, bytes, types, in, counts, bytes, types)); // handles are converted
    collective(EXCHANGE, 12 * ranks, 12 * ranks);
    MPI::Op op;
    CALL(Op_create, op.Init(own_sum, true));
    CALL(Allreduce, world.Allreduce(out, in, 3, MPI::INT, op));
    collective(EXCHANGE, 12, 12);
    CALL(Op_free, op.Free());
    observe(in, 160);
}

static void windows() {
    static int memory[64];
    MPI::Win win =
        CALL(Win_create, MPI::Win::Create(memory, sizeof memory, 4, MPI::INFO_NULL, MPI::COMM_WORLD));
    CALL(Win_fence, win.Fence(0));
    CALL(Put, win.Put(out, 7, MPI::INT, right, 0, 7, MPI::INT));
    put(28);
    CALL(Get, win.Get(in, 5, MPI::INT, right, 40, 5, MPI::INT));
    got(20);
    CALL(Accumulate, win.Accumulate(out, 4, MPI::INT, right, 20, 4, MPI::INT, MPI::SUM));
    atomic(16, 0);
    CALL(Win_fence, win.Fence(0));
    CALL(Win_lock, win.Lock(MPI::LOCK_SHARED, right, 0));
    CALL(Win_unlock, win.Unlock(right));
    CALL(Win_set_name, win.Set_name("a window"));
    MPI::Group group = CALL(Win_get_group, win.Get_group());
    check(CALL(Group_size, group.Get_size()) == ranks, __LINE__);
    CALL(Group_free, group.Free());
    CALL(Win_free, win.Free());
    observe(memory, sizeof memory);
}

static void files() {
    MPI::File file = CALL(File_open, MPI::File::Open(MPI::COMM_WORLD, "matrix.data",
                                                     MPI::MODE_RDWR | MPI::MODE_CREATE, MPI::INFO_NULL));
    CALL(File_set_view, file.Set_view(400 * rank, MPI::INT, MPI::INT, "native", MPI::INFO_NULL));
    CALL(File_write_at, file.Write_at(0, out, 7, MPI::INT));
    file_written(28);
    MPI::Request request = CALL(File_iwrite_at, file.Iwrite_at(7, out, 8, MPI::INT));
    file_written(32);
    CALL(Wait, request.Wait());
    CALL(File_write_at_all, file.Write_at_all(15, out, 9, MPI::INT));
    file_collective_written(36);
    CALL(Barrier, MPI::COMM_WORLD.Barrier());
    barrier_passed();
    MPI::Status status;
    CALL(File_read_at, file.Read_at(0, in, 7, MPI::INT, status));
    file_read(28);
    check(CALL(Get_count, status.Get_count(MPI::INT)) == 7, __LINE__);
    CALL(File_seek, file.Seek(0, MPI::SEEK_SET));
    CALL(File_read_all, file.Read_all(in, 10, MPI::INT));
    file_collective_read(40);
    request = CALL(File_iread, file.Iread(in, 11, MPI::INT));
    log_metric("file_individual_reads", 1);
    CALL(Wait, request.Wait());
    log_metric("file_individual_bytes_read", 44);
    CALL(File_read_at_all_begin, file.Read_at_all_begin(0, in, 5, MPI::INT));
    log_metric("file_collective_reads", 1);
    CALL(File_read_at_all_end, file.Read_at_all_end(in));
    log_metric("file_collective_bytes_read", 20);
    check(CALL(File_get_size, file.Get_size()) > 0, __LINE__);
    CALL(File_sync, file.Sync());
    CALL(File_close, file.Close());
    CALL(Barrier, MPI::COMM_WORLD.Barrier());
    barrier_passed();
    if (rank == 0)
        CALL(File_delete, MPI::File::Delete("matrix.data", MPI::INFO_NULL));
    observe(in, 44);
}

static int deleted;
static int delete_value(MPI::Comm&, int, void*, void*) {
    ++deleted;
    log_callback_begin();
    CALL(Comm_rank, MPI::COMM_WORLD.Get_rank());
    log_callback_end();
    return MPI::SUCCESS;
}

static void objects() {
    MPI::Intracomm world = MPI::COMM_WORLD;
    MPI::Intracomm copy = CALL(Comm_dup, world.Dup());
    const int key =
        CALL(Comm_create_keyval, MPI::Comm::Create_keyval(MPI::Comm::NULL_COPY_FN, delete_value, nullptr));
    CALL(Comm_set_attr, copy.Set_attr(key, nullptr));
    void* value;
    check(CALL(Comm_get_attr, copy.Get_attr(key, &value)), __LINE__);
    CALL(Comm_set_name, copy.Set_name("a copy"));
    CALL(Comm_free, copy.Free());
    int done = key;
    CALL(Comm_free_keyval, MPI::Comm::Free_keyval(done));
    check(deleted == 1, __LINE__);
    MPI::Intracomm part = CALL(Comm_split, world.Split(rank % 2, rank));
    check(!CALL(Comm_test_inter, part.Is_inter()), __LINE__);
    CALL(Comm_free, part.Free());
    MPI::Group group = CALL(Comm_group, world.Get_group());
    const int first[1] = {0};
    MPI::Group one = CALL(Group_incl, group.Incl(1, first));
    CALL(Group_size, one.Get_size());
    CALL(Group_free, one.Free());
    CALL(Group_free, group.Free());

    const int sizes[2] = {ranks, 1};
    const bool periods[2] = {true, false};
    MPI::Cartcomm grid = CALL(Cart_create, world.Create_cart(2, sizes, periods, false));
    int place[2], from, to, dims[2];
    bool round[2];
    check(CALL(Cartdim_get, grid.Get_dim()) == 2, __LINE__);
    CALL(Cart_get, grid.Get_topo(2, dims, round, place)); // bools are converted
    CALL(Cart_rank, grid.Get_cart_rank(place));
    CALL(Cart_coords, grid.Get_coords(rank, 2, place));
    CALL(Cart_shift, grid.Shift(0, 1, from, to));
    check(from == left && to == right, __LINE__);
    CALL(Topo_test, grid.Get_topology());
    const bool keep[2] = {true, false};
    MPI::Cartcomm row = CALL(Cart_sub, grid.Sub(keep));
    CALL(Comm_free, row.Free());
    CALL(Comm_free, grid.Free());

    MPI::Datatype gapped = CALL(Type_vector, MPI::INT.Create_vector(3, 1, 2));
    CALL(Type_commit, gapped.Commit());
    CALL(Sendrecv, world.Sendrecv(out, 2, gapped, right, 9, in, 2, gapped, left, 9));
    sent(24), received(24);
    const int lengths[2] = {1, 2};
    const MPI::Aint places[2] = {0, 16};
    const MPI::Datatype kinds[2] = {MPI::INT, MPI::DOUBLE};
    MPI::Datatype structure =
        CALL(Type_create_struct, MPI::Datatype::Create_struct(2, lengths, places, kinds));
    CALL(Type_commit, structure.Commit());
    check(CALL(Type_size, structure.Get_size()) == 20, __LINE__);
    char box[256];
    int position = 0;
    check(CALL(Pack_size, gapped.Pack_size(2, world)) >= 24, __LINE__);
    CALL(Pack, gapped.Pack(out, 2, box, sizeof box, position, world));
    position = 0;
    CALL(Unpack, gapped.Unpack(box, sizeof box, in, 2, position, world));
    CALL(Type_free, structure.Free());
    CALL(Type_free, gapped.Free());

    MPI::Info info = CALL(Info_create, MPI::Info::Create());
    CALL(Info_set, info.Set("colour", "green"));
    char text[64];
    check(CALL(Info_get, info.Get("colour", 63, text)), __LINE__);
    CALL(Info_free, info.Free());
    int length;
    char name[MPI::MAX_PROCESSOR_NAME];
    CALL(Get_processor_name, MPI::Get_processor_name(name, length));
    check(CALL(Initialized, MPI::Is_initialized()), __LINE__);
    void* memory = CALL(Alloc_mem, MPI::Alloc_mem(64, MPI::INFO_NULL));
    CALL(Free_mem, MPI::Free_mem(memory));

#ifndef OPEN_MPI // built without C++ exceptions
    CALL(Comm_set_errhandler, world.Set_errhandler(MPI::ERRORS_THROW_EXCEPTIONS));
    bool caught = false;
    try {
        CALL(Send, world.Send(out, 1, MPI::INT, ranks + 5, 1));
    } catch (MPI::Exception& error) {
        caught = true;
    }
    check(caught, __LINE__);
    CALL(Comm_set_errhandler, world.Set_errhandler(MPI::ERRORS_ARE_FATAL));
#endif
}

int main(int argc, char** argv) {
    CALL(Init, MPI::Init(argc, argv));
    rank = CALL(Comm_rank, MPI::COMM_WORLD.Get_rank());
    ranks = CALL(Comm_size, MPI::COMM_WORLD.Get_size());
    right = (rank + 1) % ranks;
    left = (rank + ranks - 1) % ranks;
    for (int i = 0; i < 400; ++i)
        out[i] = 1000 * rank + i;
    messages();
    collectives();
    windows();
    files();
    objects();
    CALL(Finalize, MPI::Finalize());
    return log_finish("cxx_bindings", rank);
}
