/* point_later PLUGIN STEPS [awake]: a time loop that makes the same call of MPI in each step; after ten steps it opens a plug-in, and calls its
 * later_step() in each step from then on. awake: another thread runs then, until the main thread sleeps. */
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static volatile int is_awake;
static void* stay_awake(void* nothing) {
    char text[256];
    is_awake = 1;
    do { /* of the process, so of its main thread */
        FILE* file = fopen("/proc/self/stat", "r");
        if (file == NULL || fgets(text, sizeof text, file) == NULL) abort();
        fclose(file);
    } while (strstr(text, ") S ") == NULL);
    return nothing;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    const int steps = argc > 2 ? atoi(argv[2]) : 50;
    void (*step)(double*) = NULL;
    double sum = 0;
    pthread_t thread;
    for (int i = -10; i < steps; ++i) {
        if (i == 0) {
            if (argc > 3 && pthread_create(&thread, NULL, stay_awake, NULL) != 0) abort();
            while (argc > 3 && !is_awake) sched_yield();
            void* plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
            if (plugin != NULL) *(void**)&step = dlsym(plugin, "later_step");
            if (step == NULL) MPI_Abort(MPI_COMM_WORLD, 3);
        }
        if (step != NULL) step(&sum);
        double all = 0;
        MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        sum = all;
    }
    if (argc > 3) pthread_join(thread, NULL);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) printf("%g\n", sum);
    MPI_Finalize();
    return 0;
}
