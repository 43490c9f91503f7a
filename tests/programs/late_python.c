/* Loads the interpreter, but begins it only after many steps; its script calls back and is run twice, in two interpreters. */
#define _GNU_SOURCE
#include <mpi.h>

#include <dlfcn.h>
#include <stdio.h>

static int sum = 0;

/* The script calls it. */
void step_of_script(void) {
    int one = 1, all = 0;
    MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    sum += all;
}

static const char script[] = "import ctypes\n"
                             "program = ctypes.CDLL(None)\n"
                             "def inner():\n"
                             "    program.step_of_script()\n"
                             "def outer():\n"
                             "    for i in range(5):\n"
                             "        inner()\n"
                             "outer()\n";

int main(int argc, char** argv) {
    void* python = dlopen("libpython3.11.so.1.0", RTLD_NOW | RTLD_GLOBAL);
    if (python == NULL)
        return 77;
    void (*begin)(int) = (void (*)(int))dlsym(python, "Py_InitializeEx");
    int (*run)(const char*) = (int (*)(const char*))dlsym(python, "PyRun_SimpleString");
    int (*end)(void) = (int (*)(void))dlsym(python, "Py_FinalizeEx");
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 100; ++i)
        MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 2; ++i) {
        begin(0);
        if (run(script) != 0)
            return 1;
        MPI_Barrier(MPI_COMM_WORLD);
        if (end() != 0)
            return 2;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("sum %d\n", sum);
    MPI_Finalize();
    return 0;
}
