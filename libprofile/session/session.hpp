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

#include "libprofile/base/process.hpp"

#include <atomic>
#include <cstdint>

namespace libprofile {

class Session {
  public:
    /// Switches recording; no effect unless measuring(). What it does to threads: recording.hpp.
    void record(bool on) noexcept;

    /// Begins to measure, if it is to be measured at all.
    void start() noexcept;
    void switch_off() noexcept { process_state.session.store(SessionState::Off, std::memory_order_release); }

    /// The dispatcher has found the MPI library: before the first event.
    void mpi_found(const MpiServices* services) noexcept { process.mpi_ = services; }
    /// The dispatcher cannot use the MPI library. `reason`: one sentence, printed once per job.
    void mpi_unusable(const char* reason) noexcept;
    /// The library `tool` wraps MPI functions in a way that hides their calls from us.
    void tool_bypasses_us(const char* tool) noexcept;
    /// Called by the bodies of MPI_Init, MPI_Init_thread and MPI_Session_init (is_session).
    void before_mpi_init(bool is_session) noexcept;
    void after_mpi_init(bool is_session, bool succeeded) noexcept;
    /// Called by the body of MPI_Finalize, whose id and frame these are: ends all wall times and writes the profile.
    void before_mpi_finalize(unsigned function_id, void* frame) noexcept;
    /// The same for MPI_Session_finalize, if it is the last session and there is no MPI_Init: without meeting the other ranks.
    void before_session_finalize(unsigned function_id, void* frame) noexcept;
    /// At process exit: writes what MPI_Finalize has not.
    void at_exit() noexcept;
    void in_fork_child() noexcept { switch_off(); }
    /// A marker was used: the process counts as a job of one rank if MPI never comes.
    void marker_used() noexcept {
        if (!process.without_mpi_) begin_without_mpi();
    }
    /// Measures before, and possibly without, any MPI call.
    void begin_without_mpi() noexcept;

  private:
    bool was_bypassed() noexcept;
    void choose_earlier_run() noexcept;
    void finish(bool with_mpi) noexcept;
    void visit_last_call(unsigned function_id, void* frame) noexcept;
    void know_rank_from_launcher() noexcept;
    void complain_once(bool at_end) noexcept;
    void complain_of_point(bool at_end) noexcept;
    bool launcher_mismatch() noexcept;
    void begin_sampling() noexcept;

    Arena arena_;
    const char* filter_complaint_ = nullptr; // nullptr if nothing is wrong
    std::atomic<int> open_sessions_{0};      // of MPI
    bool reopened_ = false;                  // it has been said that sessions after the end are not measured
    bool complained_ = false;
    enum class PointComplaint : std::uint8_t { None, Missing, Failed } point_complaint_ = PointComplaint::None;
    bool bypass_known_ = false; // it has been said why MPI calls do not reach us
    bool sampling_ = false;
    int process_ = 0;
};
extern Session session;

} // namespace libprofile
