#include "libprofile/base/function_records.hpp"

namespace libprofile {

const MpiFunction mpi_functions[] = {
#define MPI(name, category, trait) {name, TimeCategory::category, MpiTrait::trait},
#include "mpi_functions.def" // generated
#undef MPI
#define OMP(id, name, category, in_signature) {name, TimeCategory::category, (in_signature) ? MpiTrait::none : MpiTrait::chance},
#include "format/openmp.def"
#undef OMP
    {"MPI_User_function", TimeCategory::MpiOther, MpiTrait::chance}, // how often depends on the MPI
};

const unsigned mpi_function_count = 0
#define MPI(...) +1
#include "mpi_functions.def"
#undef MPI
    ;

const unsigned user_operation = mpi_function_count
#define OMP(...) +1
#include "format/openmp.def"
#undef OMP
    ;

} // namespace libprofile
