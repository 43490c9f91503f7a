# Calls of every class through mpi4py, logged as call_log.h does. mpi4py makes additional calls (sizes and ranks for collective calls, extents
# of datatypes); tests/process/count_matrix.py names those functions.
import ctypes
import json
import os
import zlib

import mpi4py
import numpy

mpi4py.rc.thread_level = "funneled"  # Open MPI has no windows here that work with several threads
from mpi4py import MPI

log = {}
current = []
digest = 0


steps = [[]]  # calls by iteration of 16 or a few more, with CALL_LOG_STEPS
marker = {end: getattr(ctypes.CDLL(None), "profile_iteration_" + end, None) for end in ("begin", "end")} if "CALL_LOG_STEPS" in os.environ else {}


def mark(end):
    if marker.get(end):
        marker[end](b"log")


def order(function, more):
    if function in ("MPI_Init_thread", "MPI_Finalize"):
        return mark("begin" if function == "MPI_Init_thread" else "end")
    steps[-1].append(function)
    if len(steps[-1]) >= 16 and not more:
        mark("end")
        mark("begin")
        steps.append([])


def called(function, *metrics, more=False):
    """Log a call; more: the one that is logged next was made together with it, so that no iteration ends between the two."""
    order(function, more)
    for metric, value in [("visits", 1), *metrics]:
        log[function, metric] = log.get((function, metric), 0) + value


def sent(size):
    return [("p2p_send_communications" if size else "p2p_send_synchronizations", 1), ("p2p_bytes_sent", size)]


def received(size):
    return [("p2p_receive_communications" if size else "p2p_receive_synchronizations", 1), ("p2p_bytes_received", size)]


def collective(role, out_size, in_size):
    return [("collective_" + role, 1), ("collective_bytes_outgoing", out_size), ("collective_bytes_incoming", in_size)]


def observe(array):
    global digest
    digest = zlib.crc32(array.tobytes(), digest)


comm = MPI.COMM_WORLD
called("MPI_Init_thread")
rank, ranks = comm.Get_rank(), comm.Get_size()
right, left = (rank + 1) % ranks, (rank - 1) % ranks
out = numpy.arange(400, dtype="i") + 1000 * rank
into = numpy.zeros(400, dtype="i")

# messages
comm.Send(out[:3], right, 1)
called("MPI_Send", *sent(12))
comm.Recv(into, left, 1)
called("MPI_Recv", *received(12))
comm.Sendrecv(out[:4], right, 2, into, left, 2)
called("MPI_Sendrecv", *sent(16), *received(16))
comm.Sendrecv_replace(into[:5], right, 3, left, 3)
called("MPI_Sendrecv_replace", *sent(20), *received(20))
for wait in (True, False):
    requests = []
    for i in range(40):
        requests.append(comm.Irecv(into[8 * i : 8 * i + 8], left, 100 + i))
        called("MPI_Irecv")
    for i in range(40):
        requests.append(comm.Isend(out[: i % 8 + 1], right, 100 + i))
        called("MPI_Isend", *sent(4 * (i % 8 + 1)))
    arrived = [metric for i in range(40) for metric in received(4 * (i % 8 + 1))]
    if wait:
        MPI.Request.Waitall(requests)
        called("MPI_Waitall", *arrived)
    else:
        while not MPI.Request.Testall(requests):
            called("MPI_Testall")
        called("MPI_Testall", *arrived)
    observe(into)
comm.Ssend(out[:0], MPI.PROC_NULL)
called("MPI_Ssend")
request = comm.Isend(out[:6], right, 4)
called("MPI_Isend", *sent(24))
message = comm.Mprobe(left, 4)
called("MPI_Mprobe")
message.Recv(into)
called("MPI_Mrecv", *received(24))
request.Wait()
called("MPI_Wait")
pair = [comm.Recv_init(into[:8], left, 5), comm.Send_init(out[:7], right, 5)]
called("MPI_Recv_init", more=True)
called("MPI_Send_init")
for i in range(2):
    MPI.Prequest.Startall(pair)
    called("MPI_Startall", *sent(28))
    MPI.Request.Waitall(pair)
    called("MPI_Waitall", *received(28))
for request in pair:
    request.Free()
    called("MPI_Request_free")

# collectives
root = rank == 0
up, down = ("as_destination", "as_source") if root else ("as_source", "as_destination")
comm.Barrier()
called("MPI_Barrier", ("collective_synchronizations", 1))
comm.Bcast(into[:7], 0)
called("MPI_Bcast", *collective(down, 28 * root, 28 * (not root)))
comm.Reduce(out[:7], into[:7] if root else None, MPI.SUM, 0)
called("MPI_Reduce", *collective(up, 28, 28 * root))
comm.Allreduce(out[:7], into[:7])
called("MPI_Allreduce", *collective("exchange", 28, 28))
comm.Allreduce(MPI.IN_PLACE, into[:7], MPI.MAX)
called("MPI_Allreduce", *collective("exchange", 28, 28))
comm.Gather(out[:7], into[: 7 * ranks] if root else None, 0)
called("MPI_Gather", *collective(up, 28, 28 * ranks * root))
counts = [i + 1 for i in range(ranks)]
total = sum(counts)
comm.Gatherv(out[: rank + 1], [into, counts] if root else None, 0)
called("MPI_Gatherv", *collective(up, 4 * (rank + 1), 4 * total * root))
comm.Scatterv([out, counts] if root else None, into[: rank + 1], 0)
called("MPI_Scatterv", *collective(down, 4 * total * root, 4 * (rank + 1)))
comm.Allgatherv(out[: rank + 1], [into, counts])
called("MPI_Allgatherv", *collective("exchange", 4 * (rank + 1), 4 * total))
comm.Alltoall(out[: 3 * ranks], into[: 3 * ranks])
called("MPI_Alltoall", *collective("exchange", 12 * ranks, 12 * ranks))
comm.Scan(out[:7], into[:7])
called("MPI_Scan", *collective("exchange", 28, 28))
comm.Iallreduce(out[:7], into[:7]).Wait()
called("MPI_Iallreduce", *collective("exchange", 28, 28), more=True)
called("MPI_Wait")
operation = MPI.Op.Create(lambda a, b, kind: numpy.frombuffer(b, "i").__iadd__(numpy.frombuffer(a, "i")), True)
called("MPI_Op_create")
comm.Allreduce(out[:3], into[:3], operation)
called("MPI_Allreduce", *collective("exchange", 12, 12))
operation.Free()
called("MPI_Op_free")
observe(into)

# one-sided
memory = numpy.zeros(64, dtype="i")
window = MPI.Win.Create(memory, 4, comm=comm)
called("MPI_Win_create")
window.Fence()
called("MPI_Win_fence")
window.Put(out[:7], right, 0)
called("MPI_Put", ("one_sided_puts", 1), ("one_sided_bytes_put", 28))
window.Get(into[:5], right, 40)
called("MPI_Get", ("one_sided_gets", 1), ("one_sided_bytes_got", 20))
window.Accumulate(out[:4], right, 20)
called("MPI_Accumulate", ("one_sided_atomics", 1), ("one_sided_bytes_put", 16))
window.Fence()
called("MPI_Win_fence")
window.Free()
called("MPI_Win_free")
observe(memory)

# files
file = MPI.File.Open(comm, "matrix.data", MPI.MODE_RDWR | MPI.MODE_CREATE)
called("MPI_File_open")
file.Set_view(400 * rank, MPI.INT)
called("MPI_File_set_view")
file.Write_at(0, out[:7])
called("MPI_File_write_at", ("file_individual_writes", 1), ("file_individual_bytes_written", 28))
file.Write_at_all(7, out[:8])
called("MPI_File_write_at_all", ("file_collective_writes", 1), ("file_collective_bytes_written", 32))
comm.Barrier()
called("MPI_Barrier", ("collective_synchronizations", 1))
file.Read_at(0, into[:7])
called("MPI_File_read_at", ("file_individual_reads", 1), ("file_individual_bytes_read", 28))
file.Iread_at(0, into[:9]).Wait()
called("MPI_File_iread_at", ("file_individual_reads", 1), more=True)
called("MPI_Wait", ("file_individual_bytes_read", 36))
file.Read_all(into[:10])
called("MPI_File_read_all", ("file_collective_reads", 1), ("file_collective_bytes_read", 40))
file.Close()
called("MPI_File_close")
observe(into)

# objects
copy = comm.Dup()
called("MPI_Comm_dup")
key = MPI.Comm.Create_keyval(delete_fn=lambda *_: MPI.COMM_SELF.Barrier() or called("MPI_Barrier", ("collective_synchronizations", 1)))
called("MPI_Comm_create_keyval")
copy.Set_attr(key, 5)
called("MPI_Comm_set_attr")
copy.Free()
called("MPI_Comm_free")
MPI.Comm.Free_keyval(key)
called("MPI_Comm_free_keyval")
part = comm.Split(rank % 2, rank)
called("MPI_Comm_split")
part.Free()
called("MPI_Comm_free")
grid = comm.Create_cart([ranks, 1], [True, False])
called("MPI_Cart_create")
assert grid.Shift(0, 1) == (left, right)
called("MPI_Cart_shift")
grid.Free()
called("MPI_Comm_free")
gapped = MPI.INT.Create_vector(3, 1, 2).Commit()
called("MPI_Type_vector", more=True)
called("MPI_Type_commit")
comm.Sendrecv([out, 2, gapped], right, 9, [into, 2, gapped], left, 9)
called("MPI_Sendrecv", *sent(24), *received(24))
gapped.Free()
called("MPI_Type_free")
info = MPI.Info.Create()
called("MPI_Info_create")
info.Set("colour", "green")
called("MPI_Info_set")
info.Free()
called("MPI_Info_free")
# pickled objects: the size, then the bytes
comm.send({"rank": rank}, right, 10)
size = len(MPI.pickle.dumps({"rank": rank}))
called("MPI_Send", *sent(size))
comm.recv(source=left, tag=10)
called("MPI_Mprobe", more=True)
called("MPI_Mrecv", *received(size))
observe(into)
called("MPI_Finalize")
if rank == 0:
    os.remove("matrix.data")
with open(f"calls.{rank}.json", "w") as result:
    json.dump([[function, metric, value] for (function, metric), value in log.items()], result)
if marker:
    with open(f"order.{rank}.json", "w") as result:
        json.dump([[number, function] for number, step in enumerate(steps) for function in step], result)
os.write(1, f"mpi4py: rank {rank}, digest {digest:08x}\n".encode())
