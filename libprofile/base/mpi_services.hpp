// What the runtime asks of the MPI library of the process, without knowing its mpi.h.
// Filled by wrappers/mpi (one table per MPI); called on the main thread only, from the MPI_Init and MPI_Finalize
// bodies, never from a signal handler. All functions use resolved PMPI pointers, so nothing here is ever profiled.
// Each returns 0 for success, any other value is an MPI error code.
#pragma once

#include <cstdint>

namespace libprofile {

struct MpiServices {
    const char* name;                                  // "Open MPI" or "MPICH"
    int (*library_version)(char* buffer, int capacity); // first line of MPI_Get_library_version, zero-terminated
    int (*world)(int* rank, int* size);                // of MPI_COMM_WORLD

    // Nonblocking collectives on MPI_COMM_WORLD, one at a time; completion is asked with `test`, so the caller
    // decides how long to wait. Root is rank 0. Buffers must stay valid until completion.
    int (*start_barrier)();
    int (*start_min)(const std::uint64_t* in, std::uint64_t* out, int count);          // allreduce, minimum
    int (*start_sum)(const std::uint64_t* in, std::uint64_t* out, int count);          // allreduce, sum
    int (*start_gather)(const std::uint64_t* in, std::uint64_t* out, int count_each);  // to rank 0; out only there
    int (*start_broadcast)(void* bytes, int count);
    int (*start_prefix_sum)(const std::uint64_t* in, std::uint64_t* out, int count);   // inclusive scan
    int (*test)(int* done);

    // A communicator of the runtime's own, on which messages cannot meet the application's: it may have left receives of any
    // message open. Making it is collective and blocks; messages are nonblocking, one at a time, also asked for with `test`.
    int (*open_private)();
    int (*close_private)(); // when no message is under way
    int (*start_send)(const void* bytes, int count, int to, int tag);
    int (*start_receive)(void* bytes, int count, int from, int tag); // exactly `count`

    // While the runtime communicates, errors on MPI_COMM_WORLD must return instead of ending the job.
    int (*errors_return)();  // remembers the handler in force
    int (*errors_restore)();
};

} // namespace libprofile
