// What the runtime asks of the MPI library of the process, without knowing its mpi.h.
// Filled by wrappers/mpi (one table per MPI); called on the main thread only, from the MPI_Init and MPI_Finalize
// bodies, never from a signal handler. All functions use resolved PMPI pointers, so nothing here is ever profiled.
// Each returns 0 for success, any other value is an MPI error code.
#pragma once

#include <cstdint>

namespace libprofile {

struct MpiServices {
    const char* name;                                   // "Open MPI" or "MPICH"
    int (*library_version)(char* buffer, int capacity); // first line of MPI_Get_library_version, zero-terminated
    int (*world)(int* rank, int* size);                 // of MPI_COMM_WORLD

    // Nonblocking collectives on MPI_COMM_WORLD, one at a time; completion is asked with `test`, so the caller
    // decides how long to wait. Root is rank 0. Buffers must stay valid until completion.
    int (*start_barrier)();
    int (*start_min)(const std::uint64_t* in, std::uint64_t* out, int count); // allreduce, minimum
    int (*start_sum)(const std::uint64_t* in, std::uint64_t* out, int count); // allreduce, sum
    int (*start_broadcast)(void* bytes, int count);
    int (*start_prefix_sum)(const std::uint64_t* in, std::uint64_t* out, int count); // inclusive scan
    // Bytes from each to each: sizes and places by rank, in use like the buffers. Nothing is sent where the size is 0.
    int (*start_exchange)(const void* out, const int* out_sizes, void* in, const int* in_sizes, const int* places);
    int (*test)(int* done);

    // While the runtime communicates, errors on MPI_COMM_WORLD must return instead of ending the job.
    int (*errors_return)(); // remembers the handler in force
    int (*errors_restore)();
};

} // namespace libprofile
