// The life of the measurement in one process.
//
//   Idle --first MPI call or marker--> Measuring --MPI_Finalize or exit--> Finished
//     |                                 |     ^
//     |              MPI_Pcontrol(0) or |     | MPI_Pcontrol(1)
//     |            LIBPROFILE_START=off v     |
//     |                                 Silent --MPI_Finalize or exit-----> Finished
//     \--LIBPROFILE_DISABLE, unusable MPI, fork child----------------------> Off
//
// Silent is Measuring with nothing recorded: time is kept, threads and phases come and go.
//
// Contract: start() is idempotent and may be called by any thread outside signal handlers, also before our constructor.
#pragma once

#include "libprofile/session/config.hpp"
#include "libprofile/session/earlier_run.hpp"
#include "libprofile/session/job.hpp"
#include "libprofile/session/mpi_services.hpp"
#include "libprofile/session/process_state.hpp"

#include <atomic>
#include <cstdint>

namespace libprofile {

enum class Output; // output/finalize.hpp

class Session {
  public:
    bool measuring() const {
        const SessionState now = state();
        return now == SessionState::Measuring || now == SessionState::Silent;
    }
    /// measuring(), and recording is on.
    bool recording() const { return state() == SessionState::Measuring; }
    /// Switches recording; no effect unless measuring(). What it does to threads: recording.hpp.
    void record(bool on) noexcept;
    SessionState state() const { return process_state.session.load(std::memory_order_acquire); }

    /// Begins to measure, if it is to be measured at all.
    void start() noexcept;
    void switch_off() noexcept { process_state.session.store(SessionState::Off, std::memory_order_release); }

    void mpi_found(const MpiServices* services) noexcept;
    void mpi_unusable(const char* reason) noexcept;
    /// Another tool keeps MPI calls from us.
    void tool_bypasses_us(const char* tool) noexcept;
    void before_mpi_init(bool is_session) noexcept;
    void after_mpi_init(bool is_session, bool succeeded) noexcept;
    void before_mpi_finalize(std::uintptr_t frame) noexcept;
    /// When the last MPI session ends and MPI_Init was not called: the same, without meeting the other ranks.
    void before_session_finalize(std::uintptr_t frame) noexcept;
    /// At process exit: writes what MPI_Finalize has not.
    void at_exit() noexcept;
    void in_fork_child() noexcept { switch_off(); }
    /// A marker was used: the process counts as a job of one rank if MPI never comes.
    void marker_used() noexcept { if (!without_mpi_) begin_without_mpi(); }
    /// Measures before, and possibly without, any MPI call.
    void begin_without_mpi() noexcept;

    const Config& config() const { return config_; }
    /// Of a phase in the run that LIBPROFILE_REFERENCE names; nullptr: none are known. With the in-tool flag set.
    const EarlierIterations* earlier_iterations(const char* phase) noexcept;
    Job& job() { return job_; }
    const MpiServices* mpi() const { return mpi_; }
    bool records_call_paths() const { return call_paths_; }
    /// LIBPROFILE_ITERATION: the program's markers make phases; loops are looked for where it has none.
    bool follows_markers() const { return config_.number(Option::Iteration) != 2; }
    bool looks_for_loops() const { return call_paths_ && config_.number(Option::Iteration) == 0; }
    bool names_a_place() const { return config_.number(Option::Iteration) == 3; }
    /// MPI_Init has returned.
    bool rank_is_known() const { return initialized_; }
    /// So is what others there are: MPI_Init has returned, or the process is a job of one rank whatever comes.
    bool knows_its_place() const noexcept { return initialized_ || (without_mpi_ && (!treats_mpi() || is_alone())); }
    /// How the ranks of this job write.
    Output output() const noexcept;
    bool treats_mpi() const { return config_.number(Option::Mpi) == 0; } // "auto"

  private:
    bool is_alone() const noexcept { return mpi_ == nullptr && job_.launcher_ranks <= 1; }
    bool was_bypassed() noexcept;
    void choose_earlier_run() noexcept;
    void finish(bool with_mpi) noexcept;
    void visit_last_call(const char* name, std::uintptr_t frame) noexcept;
    void know_rank_from_launcher() noexcept;
    void complain_once(bool at_end) noexcept;
    void complain_of_place(bool at_end) noexcept;
    bool launcher_mismatch() noexcept;
    void begin_sampling() noexcept;

    Arena arena_;
    Config config_;
    EarlierRun earlier_run_;
    const char* filter_complaint_ = nullptr; // nullptr: nothing is wrong
    Job job_;
    const MpiServices* mpi_ = nullptr;
    bool initialized_ = false; // MPI_Init or MPI_Session_init has returned
    bool world_ = false;       // MPI_Init has
    std::atomic<int> open_sessions_{0}; // of MPI
    bool reopened_ = false; // it has been said that sessions after the end are not measured
    bool without_mpi_ = false; // worth a profile even if MPI never comes
    bool complained_ = false;
    enum class PlaceComplaint : std::uint8_t { None, Missing, Failed } place_complaint_ = PlaceComplaint::None;
    bool bypass_known_ = false; // it has been said why MPI calls do not reach us
    bool sampling_ = false;
    bool call_paths_ = true;
    int process_ = 0;
};
extern Session session;

} // namespace libprofile
