// What a launcher or batch system tells a process of its place in the job, in the environment.
// Contract: thread-safe as long as nobody changes the environment; allocates nothing.
#pragma once

#include <cstdint>
#include <cstdlib>

namespace libprofile {

/// Variables of one launcher; nullptr where it has none.
struct LauncherVariables {
    const char* rank;
    const char* ranks;
    const char* local_rank; // among the ranks of the host
};

/// The innermost launcher first: where launchers start each other, it is the one that started the rank.
inline constexpr LauncherVariables launchers[] = {
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"}, // Open MPI
    {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_LOCAL_RANK"},    // MVAPICH2
    {"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"},                                    // MPICH, Intel MPI; srun, Flux and PALS set the first two
    {nullptr, nullptr, "PMI_LOCAL_RANK"},                                           // Cray's PMI
    {"PALS_RANKID", nullptr, "PALS_LOCAL_RANKID"},                                  // HPE PALS
    {"ALPS_APP_PE", nullptr, nullptr},                                              // Cray ALPS
    {"FLUX_TASK_RANK", "FLUX_JOB_SIZE", "FLUX_TASK_LOCAL_ID"},                      // Flux
    {"JSM_NAMESPACE_RANK", "JSM_NAMESPACE_SIZE", "JSM_NAMESPACE_LOCAL_RANK"},       // IBM's jsrun
    {"PMIX_RANK", nullptr, "PMIX_LOCAL_RANK"},                                      // any with PMIx
};
inline constexpr LauncherVariables slurm = {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID"};

inline int number_in_environment(const char* name) noexcept {
    const char* value = name != nullptr ? std::getenv(name) : nullptr;
    return value != nullptr && *value >= '0' && *value <= '9' ? std::atoi(value) : -1;
}

/// The step in which srun started this process. Slurm calls the shell of a batch script its rank 0, too, but started no ranks there: that shell has
/// no step, or one with a number of its own kind.
inline const char* slurm_step() noexcept {
    constexpr std::uint64_t first_special = 0xfffffff0;
    const char* step = std::getenv("SLURM_STEP_ID");
    return step != nullptr && *step >= '0' && *step <= '9' && std::strtoull(step, nullptr, 10) < first_special ? step : nullptr;
}

/// One of three numbers from the first launcher that tells it, -1 if none does.
inline int number_of_launcher(const char* LauncherVariables::*which) noexcept {
    for (const LauncherVariables& launcher : launchers)
        if (const int number = number_in_environment(launcher.*which); number >= 0) return number;
    return slurm_step() != nullptr ? number_in_environment(slurm.*which) : -1;
}

/// Of many processes that do the same: one of the job, which speaks for all. True where the launcher says nothing.
inline bool is_first_of_job() noexcept { return number_of_launcher(&LauncherVariables::rank) <= 0; }
/// The same of each host.
inline bool is_first_of_host() noexcept { return number_of_launcher(&LauncherVariables::local_rank) <= 0; }

} // namespace libprofile
