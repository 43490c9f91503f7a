"""Nested functions that call MPI and NumPy, next to all that makes an interpreter's frames come and go. Usage: python_functions.py SECONDS"""
import ctypes
import functools
import os
import sys
import threading
import time

import numpy
from mpi4py import MPI

comm = MPI.COMM_WORLD
values = numpy.ones(64)
sums = numpy.zeros(64)
passes = {"exceptions": 0, "generators": 0, "callbacks": 0, "recursion": 0, "made": 0, "coroutines": 0}


def exchange():
    comm.Allreduce(values, sums)  # EXCHANGE


def gather():
    comm.Allreduce(values, sums)  # GATHER


def kernel(n):
    total = 0
    for i in range(n):
        total += i % 7
    return total + float(numpy.sort(numpy.arange(2000)[::-1].copy())[0])


class Solver:
    def advance(self, n):
        kernel(n)
        exchange()
        gather()


def step(n):
    Solver().advance(n)


def raises(depth):
    if depth == 0:
        raise ValueError
    try:
        raises(depth - 1)
    finally:
        passes["exceptions"] += 1


def numbers(n):
    for i in range(n):
        yield kernel(3) * 0 + i


def more_numbers(n):
    yield from numbers(n)


async def answer(n):
    return n if n == 0 else await answer(n - 1)


def recursive(n):
    return 0 if n == 0 else 1 + recursive(n - 1)


COMPARE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))


def compare(a, b):
    passes["callbacks"] += 1
    return a[0] - b[0]


compare_in_c = COMPARE(compare)


def change():
    """What a profiler has to survive."""
    for _ in range(5):
        try:
            raises(20)
        except ValueError:
            pass
    passes["generators"] += sum(more_numbers(20))
    list_of_ints = (ctypes.c_int * 8)(*range(8, 0, -1))
    ctypes.CDLL(None).qsort(list_of_ints, 8, 4, compare_in_c)
    passes["callbacks"] += int(numpy.vectorize(lambda x: x + 1)(numpy.arange(10))[-1])
    passes["callbacks"] += functools.reduce(lambda a, b: a + b, range(20), 0)
    passes["callbacks"] += len(sorted(range(20), key=lambda x: -x))
    passes["recursion"] += recursive(200)
    scope = {}
    exec(f"def made_{passes['made'] % 50}(x):\n    return x + 1\nvalue = made_{passes['made'] % 50}(1)", scope)
    passes["made"] += scope["value"] - 1
    try:
        answer(20).send(None)
    except StopIteration:
        passes["coroutines"] += 1


def other_threads(until):
    while not until.is_set():
        kernel(200)
        sum(numbers(5))
        recursive(50)


def main(seconds):
    until = threading.Event()
    threads = [threading.Thread(target=other_threads, args=(until,)) for _ in range(2)]
    for thread in threads:
        thread.start()
    end = time.monotonic() + seconds
    goes_on = numpy.ones(1)
    while goes_on[0] != 0:
        step(3000)
        change()
        goes_on[0] = time.monotonic() < end
        comm.Bcast(goes_on)
    until.set()
    for thread in threads:
        thread.join()
    os.write(1, f"{sorted(name for name, count in passes.items() if count > 0)}\n".encode())  # in one piece: ranks write at the same time


main(float(sys.argv[1]))
sys.exit(3)
