// What is known about the job without MPI: launcher, rank, name and key of the job, command line.
// Contract: find() runs once, when the session starts; constant afterwards. Reads the environment and /proc, never MPI.
// Allocates from the session's arena only.
#pragma once

#include "libprofile/base/memory.hpp"

#include <cstdint>
#include <ctime>

namespace libprofile {

struct Job {
    const char* executable = ""; // path
    const char* name = "";       // its last part, usable as a folder name
    const char* command = "";    // arguments separated by blanks
    const char* folder = "";     // working folder
    const char* host = "";
    const char* id = "";  // the batch system's, or the launcher's start time as YYYYMMDD-HHMMSS
    const char* key = ""; // equal in all ranks of the job on this host, on all hosts if `key_is_of_all_hosts`; every other job has another one
    bool key_is_of_all_hosts = false;
    const char* daemon = ""; // "HOST PID START" of MPICH's launcher on this host, whose port another job may have had before; empty for others
    int launcher_rank = -1;  // -1 if the launcher is unknown
    int launcher_ranks = -1;
    std::time_t launcher_start = 0; // on this host; 0 if the launcher is unknown
    const char* earliest_date = ""; // as in `id`: no rank of the job names an earlier one, whatever its time zone

    // Set after MPI_Init.
    int rank = 0;
    int ranks = 1;

    void find(Arena& arena) noexcept;
    /// Returns true in the process that prints for the job before MPI_Init.
    bool speaks_before_init() const { return launcher_rank <= 0; }
    /// Returns true if the program has called chroot() since: paths then name other files than for other processes. Asks the kernel.
    bool has_new_root() const noexcept;

  private:
    std::uint64_t root_device_ = 0;
    std::uint64_t root_inode_ = 0;
};

} // namespace libprofile
