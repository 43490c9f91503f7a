// One compiled set of wrapper bodies, seen without its mpi.h. There is one per MPI library found in the build, and one of the
// standard ABI.
// Contract: constant data; `bind` is called once, by the dispatcher, and does not allocate.
#pragma once

#include "libprofile/base/mpi_services.hpp"

namespace libprofile {

struct MpiFlavour {
    unsigned count;                                     // of the functions that its mpi.h has
    const unsigned* ids;                                // function id of each
    void* const* bodies;                                // wrapper body of each
    void** real;                                        // filled by the dispatcher: PMPI function of each, nullptr where the library lacks it
    bool (*bind)(void* (*find_data)(const char* name)); // looks handle constants up; false: the library is unsuitable
    const MpiServices* services;
};

#ifdef LIBPROFILE_WITH_OPENMPI
namespace openmpi {
extern const MpiFlavour flavour;
}
#endif
#ifdef LIBPROFILE_WITH_MPICH
namespace mpich {
extern const MpiFlavour flavour;
}
#endif

namespace abi { // its mpi.h is generated from standard_abi/
extern const MpiFlavour flavour;
}

} // namespace libprofile
