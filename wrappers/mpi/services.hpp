// MpiServices of one MPI library: what the runtime itself asks of MPI. Included once per mpi.h.
// Contract: as in libprofile/base/mpi_services.hpp: main thread, from the Init and Finalize bodies only.
// Never allocates. Only resolved pointers are called, so none of this is ever profiled.
#pragma once

#include "wrappers/mpi/mpi_h.hpp"

namespace libprofile::LIBPROFILE_MPI_NAMESPACE {

#ifdef OPEN_MPI
Handles handles;
#endif

namespace {

MPI_Request service_request;           // of the one operation under way
MPI_Errhandler application_errhandler; // in force on MPI_COMM_WORLD before errors_return

int library_version(char* buffer, int capacity) {
    // Not MPI_MAX_LIBRARY_VERSION_STRING: another library of the same ABI may write more.
    char text[16384];
    int length = 0;
    const int result = real.Get_library_version(text, &length);
    int used = 0;
    if (result == MPI_SUCCESS)
        while (used < capacity - 1 && used < length && text[used] != '\n' && text[used] != '\0') {
            buffer[used] = text[used];
            ++used;
        }
    if (capacity > 0) buffer[used] = '\0';
    return result;
}

int world(int* rank, int* size) {
    const int result = real.Comm_rank(MPI_COMM_WORLD, rank);
    return result == MPI_SUCCESS ? real.Comm_size(MPI_COMM_WORLD, size) : result;
}

int start_barrier() { return real.Ibarrier(MPI_COMM_WORLD, &service_request); }

int start_min(const std::uint64_t* in, std::uint64_t* out, int count) {
    return real.Iallreduce(in, out, count, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD, &service_request);
}

int start_sum(const std::uint64_t* in, std::uint64_t* out, int count) {
    return real.Iallreduce(in, out, count, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD, &service_request);
}

int start_broadcast(void* bytes, int count) { return real.Ibcast(bytes, count, MPI_BYTE, 0, MPI_COMM_WORLD, &service_request); }

int start_prefix_sum(const std::uint64_t* in, std::uint64_t* out, int count) {
    return real.Iscan(in, out, count, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD, &service_request);
}

int start_exchange(const void* out, const int* out_sizes, void* in, const int* in_sizes, const int* offsets) {
    return real.Ialltoallv(out, out_sizes, offsets, MPI_BYTE, in, in_sizes, offsets, MPI_BYTE, MPI_COMM_WORLD, &service_request);
}

int test(int* done) { return real.Test(&service_request, done, MPI_STATUS_IGNORE); }

#ifdef LIBPROFILE_STANDARD_ABI // before MPICH 5.0, betas with the ABI have another value of MPI_ERRORS_RETURN
MPI_Errhandler own_errhandler;

void return_error(MPI_Comm*, int*, ...) {}

int errors_return() {
    int result = real.Comm_get_errhandler(MPI_COMM_WORLD, &application_errhandler);
    if (result == MPI_SUCCESS) result = real.Comm_create_errhandler(return_error, &own_errhandler);
    if (result == MPI_SUCCESS) result = real.Comm_set_errhandler(MPI_COMM_WORLD, own_errhandler);
    return result == MPI_SUCCESS ? real.Errhandler_free(&own_errhandler) : result; // MPI_COMM_WORLD still refers to it
}
#else
int errors_return() {
    const int result = real.Comm_get_errhandler(MPI_COMM_WORLD, &application_errhandler);
    return result == MPI_SUCCESS ? real.Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN) : result;
}
#endif

int errors_restore() {
    const int result = real.Comm_set_errhandler(MPI_COMM_WORLD, application_errhandler);
    // Comm_get_errhandler made a reference of ours to the handler.
    return result == MPI_SUCCESS ? real.Errhandler_free(&application_errhandler) : result;
}

const MpiServices services = {
#ifdef OPEN_MPI
    "Open MPI",
#elif defined LIBPROFILE_STANDARD_ABI
    "MPI standard ABI",
#else
    "MPICH",
#endif
    library_version, world, start_barrier, start_min, start_sum, start_broadcast, start_prefix_sum, start_exchange, test, errors_return, errors_restore,
};

/// Looks up the handle constants; false when the library is older than MPI 3.0, which the bodies need.
bool bind([[maybe_unused]] void* (*find_data)(const char* name)) {
#ifdef OPEN_MPI
#define LIBPROFILE_HANDLE(name)                                                                                                                                \
    handles.name = find_data(#name);                                                                                                                           \
    if (handles.name == nullptr) return false;
    LIBPROFILE_MPI_HANDLES(LIBPROFILE_HANDLE)
#undef LIBPROFILE_HANDLE
#endif
    return real.Type_size_x != nullptr && real.Get_elements_x != nullptr && real.Iscan != nullptr;
}

} // namespace
} // namespace libprofile::LIBPROFILE_MPI_NAMESPACE
