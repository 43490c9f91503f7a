/* place_later PLUGIN STEPS: a time loop that makes the same call of MPI in each step; after ten steps it opens a plug-in, and calls its
 * later_step() in each step from then on. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    const int steps = argc > 2 ? atoi(argv[2]) : 50;
    void (*step)(double*) = NULL;
    double sum = 0;
    for (int i = -10; i < steps; ++i) {
        if (i == 0) {
            void* plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
            if (plugin != NULL) *(void**)&step = dlsym(plugin, "later_step");
            if (step == NULL) MPI_Abort(MPI_COMM_WORLD, 3);
        }
        if (step != NULL) step(&sum);
        double all = 0;
        MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        sum = all;
    }
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) printf("%g\n", sum);
    MPI_Finalize();
    return 0;
}
