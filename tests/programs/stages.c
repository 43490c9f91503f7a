/* Computes in long stages, and has no iterations. Usage: stages WHAT MS
 * Each rank computes MS ms of processor time in all: a fifth in initialise(), three fifths in solve(), which calls residual() and correct() again and
 * again, and a fifth in write_results(). The last rank does
 *   equal     the same as the others
 *   longer    the same, but solve() takes half as long again
 *   swapped   write_results() before solve()
 *   skipped   no write_results() */
#include "spin.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static __attribute__((noinline)) void initialise(double ns) { work((int64_t)ns); }
static __attribute__((noinline)) void residual(double ns) { work((int64_t)ns); }
static __attribute__((noinline)) void correct(double ns) { work((int64_t)ns); }
static __attribute__((noinline)) void write_results(double ns) { work((int64_t)ns); }

static __attribute__((noinline)) void solve(double ns) {
    const int passes = 100;
    for (int pass = 0; pass < passes; ++pass) {
        residual(ns / passes / 3);
        correct(ns / passes * 2 / 3);
    }
    __asm__ volatile(""); /* no tail call */
}

int main(int argc, char** argv) {
    if (argc != 3) return 2;
    MPI_Init(&argc, &argv);
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const char* what = rank == ranks - 1 ? argv[1] : "equal";
    __asm__ volatile("" : "+r"(what)); /* or the compiler makes calls of their own for it */
    const double fifth = atof(argv[2]) * 1e6 / 5;
    initialise(fifth);
    MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(what, "swapped") == 0) write_results(fifth);
    solve(3 * fifth * (strcmp(what, "longer") == 0 ? 1.5 : 1));
    MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(what, "equal") == 0 || strcmp(what, "longer") == 0) write_results(fifth);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
