"""Time loops of a Python script, which marks nothing. Usage: python_loops.py KIND PASSES"""
import sys
import time

import numpy
from mpi4py import MPI

comm = MPI.COMM_WORLD
values = numpy.ones(64)
sums = numpy.zeros(64)


def compute(us):
    end = time.thread_time() + us * 1e-6
    while time.thread_time() < end:
        pass


def one(passes):
    for _ in range(passes):
        compute(300)
        comm.Allreduce(values, sums)


def several(passes):
    for _ in range(passes):
        compute(150)
        comm.Allreduce(values, sums)
        compute(150)
        comm.allreduce(1)
        comm.Barrier()


def two(passes):
    for _ in range(passes):
        compute(400)
        comm.Allreduce(values, sums)  # FIRST
    for _ in range(2 * passes):
        compute(200)
        comm.Allreduce(values, sums)  # SECOND


class Solver:
    def exchange(self):
        comm.Sendrecv(values, comm.rank, 0, sums, comm.rank, 0)

    def step(self):
        compute(150)
        self.exchange()
        compute(150)
        self.exchange()
        comm.Allreduce(values, sums)

    def iterate(self):
        comm.allreduce(1.0)
        for _ in range(7):
            compute(400)
            comm.allreduce(1.0)


def called(passes):
    solver = Solver()
    for _ in range(passes):
        solver.step()


def nested(passes):
    solver = Solver()
    for _ in range(passes):
        solver.iterate()


def steps(passes):
    solver = Solver()
    for i in range(passes):
        solver.step()
        yield i


def generated(passes):
    for _ in steps(passes):
        comm.Barrier()


globals()[sys.argv[1]](int(sys.argv[2]))
