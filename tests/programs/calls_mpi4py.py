# Known numbers of MPI calls through mpi4py; tests/process/every_language.py expects them.
import numpy
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, ranks = comm.Get_rank(), comm.Get_size()
partner = rank ^ 1
out, into = numpy.full(10, rank, dtype="i"), numpy.zeros(10, dtype="i")
for i in range(5):
    requests = [comm.Irecv(into, partner, 1), comm.Isend(out[:3], partner, 1)]
    MPI.Request.Waitall(requests)
    assert into[0] == partner
for i in range(4):
    comm.Sendrecv(out[:2], partner, 2, into, partner, 2)
if rank == 0:
    comm.Send(out[:7], 1, 3)
elif rank == 1:
    comm.Recv(into, 0, 3)
for i in range(3):
    total = numpy.array([rank + 1], dtype="i")
    comm.Allreduce(MPI.IN_PLACE, total)
    assert total[0] == ranks * (ranks + 1) // 2
comm.Bcast(into, 0)
MPI.Pcontrol(0)
comm.Barrier()
MPI.Pcontrol(1)
for i in range(6):
    comm.Barrier()
MPI.Pcontrol(2)
try:
    comm.Send(out, ranks + 5, 1)  # an MPI error is a Python exception
except MPI.Exception as error:
    assert error.Get_error_class() == MPI.ERR_RANK
matrix = numpy.arange(250000, dtype="d").reshape(500, 500) % 7
if rank == 0:
    print(total[0], numpy.trace(matrix @ matrix.T))
