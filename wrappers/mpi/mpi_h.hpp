// Includes the mpi.h that the including file is compiled against and names what every such file uses.
// Contract: the includer defines LIBPROFILE_MPI_NAMESPACE (openmpi, mpich, abi) first. Declarations only.
//
// The same sources are compiled once per MPI library, each time in another namespace: the types of two mpi.h
// never meet in one file, and the files are compiled without link-time optimisation.
#pragma once

#define OMPI_SKIP_MPICXX
#define MPICH_SKIP_MPICXX
#include <mpi.h>

#include "libprofile/events/mpi_events.hpp"
#include "libprofile/session/session.hpp"

#ifdef OPEN_MPI
// Types of later_functions/openmpi.prototypes.
#if OMPI_MAJOR_VERSION < 5
struct ompi_instance_t;
using MPI_Session = ompi_instance_t*;
using MPI_Session_errhandler_function = void(MPI_Session*, int*, ...);
#endif
#if OMPI_MAJOR_VERSION < 6
using MPI_User_function_c = void(void*, void*, MPI_Count*, MPI_Datatype*);
using MPI_Datarep_conversion_function_c = int(void*, MPI_Datatype, MPI_Count, void*, MPI_Offset, void*);
#endif

// Handle constants of Open MPI are addresses of data in its library. Referring to them would make
// libprofile.so depend on that library, so they are looked up when it has been found. Using another constant
// than these does not compile.
#define LIBPROFILE_MPI_HANDLES(apply)                                                                                                                          \
    apply(ompi_mpi_comm_world) apply(ompi_mpi_byte) apply(ompi_mpi_uint64_t) apply(ompi_mpi_op_min) apply(ompi_mpi_op_sum) apply(ompi_mpi_errors_return)       \
        apply(ompi_request_null) apply(ompi_message_no_proc) apply(ompi_mpi_datatype_null) apply(ompi_mpi_errhandler_null) apply(ompi_mpi_op_no_op)

namespace libprofile::LIBPROFILE_MPI_NAMESPACE {
struct Handles {
#define LIBPROFILE_HANDLE(name) void* name;
    LIBPROFILE_MPI_HANDLES(LIBPROFILE_HANDLE)
#undef LIBPROFILE_HANDLE
};
extern Handles handles;
} // namespace libprofile::LIBPROFILE_MPI_NAMESPACE

#undef OMPI_PREDEFINED_GLOBAL
#define OMPI_PREDEFINED_GLOBAL(type, global) (static_cast<type>(::libprofile::LIBPROFILE_MPI_NAMESPACE::handles.global))
#endif
