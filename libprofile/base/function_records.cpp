#include "libprofile/base/function_records.hpp"

namespace libprofile {

const MpiFunction mpi_functions[] = {
#define MPI(name, category, trait) {name, TimeCategory::category, MpiTrait::trait},
#include "mpi_functions.def" // generated
#undef MPI
#define OMP(id, name, category, in_signature) {name, TimeCategory::category, (in_signature) ? MpiTrait::none : MpiTrait::chance},
#include "format/openmp.def"
#undef OMP
};

const unsigned mpi_function_count = 0
#define MPI(...) +1
#include "mpi_functions.def"
#undef MPI
    ;

} // namespace libprofile
