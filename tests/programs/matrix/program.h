/* The frame of the matrix programs in C: begin(), calls logged by CALL, end(). Ranks form a ring. */
#ifndef PROGRAM_H
#define PROGRAM_H

#include <mpi.h>

#include <string.h>

#include "call_log.h"

/* Functions of MPI 4, which Open MPI 5 has but those for large counts. */
#if MPI_VERSION >= 4 || (defined OMPI_MAJOR_VERSION && OMPI_MAJOR_VERSION >= 5)
#define HAS_FUNCTIONS_OF_MPI_4
#endif

#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
#define HAS_FUNCTIONS_OF_MPI_4_1
#endif

/* CALL(Send, (buffer, ...)) makes the call and logs it. */
#define CALL(name, arguments) logged("MPI_" #name, MPI_##name arguments, __LINE__)
/* The call must fail; it counts as a visit and nothing else. */
#define CALL_FAILS(name, arguments) logged("MPI_" #name, (MPI_##name arguments) == MPI_SUCCESS, __LINE__)
#define CHECK(condition) check(condition, __LINE__)

/* Functions that have a large-count variant are called by SIZED: a program is compiled once without and, where MPI has
 * them, once with LARGE_COUNTS. */
#ifdef LARGE_COUNTS
#define SIZED(name, arguments) CALL(name##_c, arguments)
typedef MPI_Count count_t;
typedef MPI_Aint place_t;
#else
#define SIZED(name, arguments) CALL(name, arguments)
typedef int count_t;
typedef int place_t;
#endif

static int rank, ranks, right, left;
/* What is sent, and where it arrives. */
static int out[4096];
static int in[4096] __attribute__((unused));

static inline void begin(int* argc, char*** argv) {
    CALL(Init, (argc, argv));
    CALL(Comm_rank, (MPI_COMM_WORLD, &rank));
    CALL(Comm_size, (MPI_COMM_WORLD, &ranks));
    right = (rank + 1) % ranks;
    left = (rank + ranks - 1) % ranks;
    for (int i = 0; i < 4096; ++i)
        out[i] = 1000 * rank + i;
}

/* The exit code of the program. */
static inline int end(const char* program) {
    log_steps_end();
    CALL(Finalize, ());
    return log_finish(program, rank);
}

#endif
