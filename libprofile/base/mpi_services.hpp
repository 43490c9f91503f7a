// The functions of the process's MPI library that the runtime calls without knowing its mpi.h.
// Filled by wrappers/mpi (one table per MPI). Called on the main thread only, from the bodies of MPI_Init and MPI_Finalize,
// never from a signal handler. All functions use resolved PMPI pointers, so they are never profiled.
// Each returns 0 for success; any other value is an MPI error code.
#pragma once

#include <cstdint>

namespace libprofile {

struct MpiServices {
    const char* name;                                   // "Open MPI", "MPICH" or "MPI standard ABI"
    int (*library_version)(char* buffer, int capacity); // first line of MPI_Get_library_version, zero-terminated
    int (*world)(int* rank, int* size);                 // of MPI_COMM_WORLD

    // Nonblocking collectives on MPI_COMM_WORLD, one at a time, with root 0. `test` asks for completion, so the caller
    // decides how long to wait. Buffers must stay valid until completion.
    int (*start_barrier)();
    int (*start_min)(const std::uint64_t* in, std::uint64_t* out, int count); // allreduce, minimum
    int (*start_sum)(const std::uint64_t* in, std::uint64_t* out, int count); // allreduce, sum
    int (*start_broadcast)(void* bytes, int count);
    int (*start_prefix_sum)(const std::uint64_t* in, std::uint64_t* out, int count); // inclusive scan
    // All-to-all exchange of bytes. Sizes and offsets are listed by rank and must stay valid like the buffers. Size 0 sends nothing.
    int (*start_exchange)(const void* out, const int* out_sizes, void* in, const int* in_sizes, const int* offsets);
    int (*test)(int* done);

    // While the runtime communicates, errors on MPI_COMM_WORLD must return and not end the job.
    int (*errors_return)(); // remembers the current handler
    int (*errors_restore)();
};

} // namespace libprofile
