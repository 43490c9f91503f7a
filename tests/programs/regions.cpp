// regions: named regions with known visits: C functions and RAII, nested, recursive, across two functions, wrongly nested, and in iterations
// that they make similar or different.
#include <libprofile.hpp>

#include <mpi.h>

#include <cstdio>
#include <stdexcept>

static void recursive(int depth) {
    libprofile::region region("recursive");
    if (depth != 0) recursive(depth - 1);
}
[[gnu::noinline]] static void begins() { profile_region_begin("two functions"); }
[[gnu::noinline]] static void ends() { profile_region_end("two functions"); }
static void wait_for(double seconds) {
    for (const double end = MPI_Wtime() + seconds; MPI_Wtime() < end;) {
    }
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    recursive(4);
    begins();
    ends();
    try {
        libprofile::region region("left by an exception");
        throw std::runtime_error("out");
    } catch (const std::runtime_error&) {
    }
    for (int step = 0; step < 12; ++step) {
        libprofile::iteration iteration("step");
        libprofile::region outer("outer");
        for (int i = 0; i < 3; ++i) {
            libprofile::region inner("inner");
            wait_for(0.001);
        }
        if (step % 4 == 3) {
            libprofile::region output("output");
            wait_for(0.001);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    profile_region_end("never begun");
    profile_region_begin("never ended");
    if (rank == 0) std::puts("12 steps");
    MPI_Finalize();
    return 0;
}
