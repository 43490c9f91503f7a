/* For LD_PRELOAD after libprofile: stops a rank in one of the steps in which call-path tables are exchanged at the end.
 *   HALT_RANK, HALT_STEP  which rank, in which step (from 0)
 *   HALT_HOW              pause: it pauses for six seconds, kill: it dies, error: MPI returns an error
 * From the first step on the clock for time limits runs a hundred times as fast, so that the test need not wait a minute. */
#define _GNU_SOURCE
#include <mpi.h>

#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { speed = 100, second = 1000000000 };
static long long fast_since = -1; /* ns */
static int steps;

int clock_gettime(clockid_t clock, struct timespec* time) {
    const int result = (int)syscall(SYS_clock_gettime, clock, time);
    if (clock != CLOCK_MONOTONIC || fast_since < 0) return result;
    const long long now = (long long)time->tv_sec * second + time->tv_nsec;
    const long long shown = fast_since + (now - fast_since) * speed;
    time->tv_sec = shown / second;
    time->tv_nsec = shown % second;
    return result;
}

static void begin_step(int* error) {
    int rank;
    ((__typeof__(&MPI_Comm_rank))dlsym(RTLD_NEXT, "PMPI_Comm_rank"))(MPI_COMM_WORLD, &rank);
    if (fast_since < 0) {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        fast_since = (long long)now.tv_sec * second + now.tv_nsec;
    }
    if (steps++ != atoi(getenv("HALT_STEP")) || rank != atoi(getenv("HALT_RANK"))) return;
    const char* how = getenv("HALT_HOW");
    const struct timespec pause = {6, 0};
    if (strcmp(how, "kill") == 0) raise(SIGKILL);
    if (strcmp(how, "pause") == 0) syscall(SYS_nanosleep, &pause, (void*)0);
    *error = strcmp(how, "error") == 0;
}

int PMPI_Ialltoallv(const void* out, const int* out_counts, const int* out_places, MPI_Datatype out_type, void* in, const int* in_counts,
                    const int* in_places, MPI_Datatype in_type, MPI_Comm comm, MPI_Request* request) {
    int error = 0;
    begin_step(&error);
    if (error) return MPI_ERR_OTHER;
    const __typeof__(&MPI_Ialltoallv) next = (__typeof__(&MPI_Ialltoallv))dlsym(RTLD_NEXT, "PMPI_Ialltoallv");
    return next(out, out_counts, out_places, out_type, in, in_counts, in_places, in_type, comm, request);
}
