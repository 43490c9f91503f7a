// A small table in place of the generated one: the unit tests need names and categories, not MPI.
#include "libprofile/base/function_records.hpp"

namespace libprofile {
const MpiFunction mpi_functions[] = {
    {"MPI_Send", TimeCategory::MpiP2p, MpiTrait::none},
    {"MPI_Allreduce", TimeCategory::MpiColl, MpiTrait::none},
    {"MPI_Barrier", TimeCategory::MpiSyncColl, MpiTrait::none},
#define OMP(id, name, category, in_signature) {name, TimeCategory::category, (in_signature) ? MpiTrait::none : MpiTrait::chance},
#include "format/openmp.def"
#undef OMP
    {"MPI_User_function", TimeCategory::MpiOther, MpiTrait::chance},
};
const unsigned mpi_function_count = 3;
const unsigned user_operation = 3
#define OMP(...) +1
#include "format/openmp.def"
#undef OMP
    ;
} // namespace libprofile
