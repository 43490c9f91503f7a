// What can be known about the job without MPI: launcher, rank it gave us, name and key of the job, command line.
// Contract: find() runs once when the session starts; constant afterwards. Reads environment and /proc, never MPI;
// allocates from the session's arena only.
#pragma once

#include "libprofile/base/memory.hpp"

#include <cstdint>

namespace libprofile {

struct Job {
    const char* executable = ""; // path
    const char* name = "";       // last part of it, fit for a folder name
    const char* command = "";    // arguments separated by blanks
    const char* folder = "";     // working folder
    const char* host = "";
    const char* id = "";    // of the batch system, or the launcher's start as YYYYMMDD-HHMMSS
    const char* key = "";   // the same in all ranks of the job on this machine (in a batch job on all), different in every other job
    int launcher_rank = -1; // -1: no launcher known
    int launcher_ranks = -1;

    // Set after MPI_Init.
    int rank = 0;
    int ranks = 1;

    void find(Arena& arena) noexcept;
    /// The process that speaks for the job before MPI can tell.
    bool speaks_before_init() const { return launcher_rank <= 0; }
    /// The program has changed its root folder since (chroot): paths mean other files than for everybody else. Asks the kernel.
    bool has_new_root() const noexcept;

  private:
    std::uint64_t root_device_ = 0;
    std::uint64_t root_inode_ = 0;
};

} // namespace libprofile
