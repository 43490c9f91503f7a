// The state of the process that all rooms read: its configuration, its job, and whether it is measured.
// Contract: any thread may read it, signal handlers too. Only Session (session/session.hpp) changes it.
#pragma once

#include "libprofile/base/config.hpp"
#include "libprofile/base/job.hpp"
#include "libprofile/base/mpi_services.hpp"
#include "libprofile/base/process_state.hpp"

#include <atomic>

namespace libprofile {

/// How the ranks of a job write.
enum class Output {
    Together,   // all into one file
    EachRank,   // each its own file: MPI sessions without MPI_Init, where ranks cannot communicate
    OneProcess, // the job is a single process
};

class Process {
  public:
    SessionState state() const { return process_state.session.load(std::memory_order_acquire); }
    bool measuring() const {
        const SessionState now = state();
        return now == SessionState::Measuring || now == SessionState::Silent;
    }
    /// measuring(), and recording is on.
    bool recording() const { return state() == SessionState::Measuring; }

    const Config& config() const { return config_; }
    const Job& job() const { return job_; }
    /// nullptr if no MPI library was found, or not yet.
    const MpiServices* mpi() const { return mpi_; }
    bool records_call_paths() const { return call_paths_; }
    /// LIBPROFILE_ITERATION: the program's markers make phases; loops are looked for where it has none.
    bool follows_markers() const { return config_.choice<IterationChoice>() != IterationChoice::None; }
    bool looks_for_loops() const { return call_paths_ && config_.choice<IterationChoice>() == IterationChoice::Auto; }
    bool names_iteration_point() const { return config_.choice<IterationChoice>() == IterationChoice::Point; }
    /// MPI_Init has returned.
    bool rank_is_known() const { return initialized_; }
    /// The rank and the number of ranks are known: MPI_Init has returned, or the process is certainly a job of one rank.
    bool knows_its_rank() const { return initialized_ || (without_mpi_ && (!treats_mpi() || is_alone())); }
    /// How the ranks of this job write.
    Output output() const {
        if (!initialized_ || !treats_mpi() || (!world_ && job_.ranks == 1)) return Output::OneProcess;
        return world_ ? Output::Together : Output::EachRank;
    }
    bool treats_mpi() const { return config_.choice<MpiChoice>() == MpiChoice::Auto; }

  private:
    friend class Session;
    bool is_alone() const { return mpi_ == nullptr && job_.launcher_ranks <= 1; }

    Config config_;
    Job job_;
    const MpiServices* mpi_ = nullptr;
    bool initialized_ = false; // set when MPI_Init or MPI_Session_init has returned
    bool world_ = false;       // set when MPI_Init has returned
    bool without_mpi_ = false; // gets a profile even if it never calls MPI_Init
    bool call_paths_ = true;
};
extern Process process;

} // namespace libprofile
