/* A time loop in a shared library that calls its own functions through the linker's stubs, as C++ libraries do:
 * library_steps PASSES MICROSECONDS. decide() jumps to the function that makes the call, but in 6 of 100 passes it
 * returns at once. With a third argument the loop is in the program, and the library's function jumps to MPI itself, or
 * returns. Built twice: AS_LIBRARY, and the program that links it. */
#include "passes.h"

#include <stdlib.h>

void steps(int passes, double us);
int reduce(int pass, const double* from, double* to);

#ifdef AS_LIBRARY
int decide(int pass);
int check(int pass);
static int (*volatile test)(int) = check;

__attribute__((noipa)) int check(int pass) {
    sum();
    return pass;
}
__attribute__((noipa)) int decide(int pass) {
    if (pass % 50 >= 47) return 0;
    return test(pass);
}
__attribute__((noipa)) int reduce(int pass, const double* from, double* to) {
    if (pass % 50 >= 47) return 0;
    return MPI_Allreduce(from, to, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
void steps(int passes, double us) {
    for (int i = 0; i < passes; ++i) {
        work(us);
        if (decide(i) < 0) output();
    }
    sink = 1;
}
#else
OWN void own_steps(int passes, double us) {
    double all = 0;
    for (int i = 0; i < passes; ++i) {
        work(us);
        reduce(i, &value, &all);
    }
    sink = all;
}
int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    if (argc != 3 && argc != 4) return 2;
    if (argc == 4)
        own_steps(atoi(argv[1]), atof(argv[2]));
    else
        steps(atoi(argv[1]), atof(argv[2]));
    output();
    MPI_Finalize();
    return 0;
}
#endif
