#include "tools/launch/launcher_rank.hpp"

#include <cstdlib>
#include <cstring>
#include <initializer_list>

namespace libprofile::tools {

namespace {

/// Whether the first of these variables that is set is 0.
bool is_zero(std::initializer_list<const char*> names) {
    for (const char* name : names)
        if (const char* rank = std::getenv(name)) return std::strcmp(rank, "0") == 0;
    return true;
}

} // namespace

bool is_first_of_job() { return is_zero({"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"}); }

bool is_first_of_machine() { return is_zero({"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "PMIX_LOCAL_RANK", "SLURM_LOCALID", "PALS_LOCAL_RANKID"}); }

} // namespace libprofile::tools
