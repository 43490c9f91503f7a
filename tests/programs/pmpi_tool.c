/* A small tool on MPI's profiling interface, preloaded or linked next to libprofile. It counts calls of a few functions and prints the counts
 * at MPI_Finalize. TOOL_KIND says how it forwards calls:
 *   1  MPI_X calls PMPI_X, as the MPI standard says
 *   2  it also defines PMPI_X and calls the next one in the loader's order (Darshan)
 *   3  MPI_X calls the next MPI_X in the loader's order
 * TOOL_FORTRAN: it also wraps Fortran's mpi_allreduce and mpi_finalize, as tools must for Open MPI. */
#define _GNU_SOURCE
#include <mpi.h>

#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

static int inits, allreduces, barriers;

static void print_counts(const char* how) {
    char line[128];
    const int length = snprintf(line, sizeof line, "tool: %s%d inits, %d allreduces, %d barriers\n", how,
                                inits, allreduces, barriers);
    if (write(2, line, (size_t)length) != length)
        allreduces = -1;
}

#if TOOL_KIND == 1
#define NEXT(name) P##name
#else
#define PREFIX_2 "P"
#define PREFIX_3 ""
#define PASTE(a, b) a##b
#define PREFIX(kind) PASTE(PREFIX_, kind)
#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, PREFIX(TOOL_KIND) #name))
#endif

int MPI_Init(int* argc, char*** argv) {
    ++inits;
    return NEXT(MPI_Init)(argc, argv);
}

int MPI_Allreduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    ++allreduces;
    return NEXT(MPI_Allreduce)(in, out, count, type, op, comm);
}

int MPI_Barrier(MPI_Comm comm) {
    ++barriers;
    return NEXT(MPI_Barrier)(comm);
}

int MPI_Finalize(void) {
    print_counts("");
    return NEXT(MPI_Finalize)();
}

#if TOOL_KIND == 2
int PMPI_Init(int* argc, char*** argv) __attribute__((alias("MPI_Init")));
int PMPI_Allreduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
    __attribute__((alias("MPI_Allreduce")));
int PMPI_Barrier(MPI_Comm comm) __attribute__((alias("MPI_Barrier")));
int PMPI_Finalize(void) __attribute__((alias("MPI_Finalize")));
#endif

#ifdef TOOL_FORTRAN
static int fortran_allreduces;
void pmpi_allreduce_(void*, void*, int*, int*, int*, int*, int*);
void pmpi_finalize_(int*);

void mpi_allreduce_(void* in, void* out, int* count, int* type, int* op, int* comm, int* error) {
    ++fortran_allreduces;
    pmpi_allreduce_(in, out, count, type, op, comm, error);
}

void mpi_finalize_(int* error) {
    char line[64];
    snprintf(line, sizeof line, "Fortran %d, ", fortran_allreduces);
    print_counts(line);
    pmpi_finalize_(error);
}
#endif
