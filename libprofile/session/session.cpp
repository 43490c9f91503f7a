#include "libprofile/session/session.hpp"

#include "libprofile/base/messages.hpp"
#include "libprofile/base/process_state.hpp"
#include "libprofile/callpath/arch/machine.hpp"
#include "libprofile/callpath/load_map.hpp"
#include "libprofile/callpath/mark.hpp"
#include "libprofile/callpath/python_process.hpp"
#include "libprofile/callpath/unwinder.hpp"
#include "libprofile/clustering/earlier_run.hpp"
#include "libprofile/counters/choosing.hpp"
#include "libprofile/loops/iteration_point.hpp"
#include "libprofile/mpi/mpi_modules.hpp"
#include "libprofile/output/checkpoint.hpp"
#include "libprofile/output/finalize.hpp"
#include "libprofile/regions/function_filter.hpp"
#include "libprofile/regions/sleds.hpp"
#include "libprofile/sampling/sample_clock.hpp"
#include "libprofile/sampling/sample_handler.hpp"
#include "libprofile/session/openmp_tool.hpp"
#include "libprofile/thread/noted_event.hpp"
#include "libprofile/thread/recording.hpp"
#include "libprofile/thread/thread_life.hpp"
#include "libprofile/thread/thread_registry.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <unistd.h>
#include <utility>

namespace libprofile {

constinit Session session;

void Session::start() noexcept {
    SessionState expected = SessionState::Idle;
    if (!process_state.session.compare_exchange_strong(expected, SessionState::Starting, std::memory_order_acq_rel)) return;
    const std::uint64_t began_at = session_clock.now(), cpu_before = thread_cpu_time();
    process_ = getpid();
    process.config_.load(arena_);
    if (process.config_.flag(Option::Quiet)) silence_messages();
    if (process.config_.flag(Option::Disable)) return switch_off();
    process.call_paths_ = process.config_.flag(Option::CallPaths);
    process_state.marks.store(process.config_.choice<MarksChoice>(), std::memory_order_relaxed);
    python_process.switch_on(process.config_.flag(Option::Python));
    memory_quota.limit(static_cast<std::uint64_t>(process.config_.number(Option::Memory)));
    session_clock.choose(process.config_.text(Option::Clock));
    process.job_.find(arena_);
    choose_earlier_run();
    // Before the in-tool flag is set: the loader must see the real dl_iterate_phdr while it works for us.
    unwinder.load();
    counter_chooser.choose(process.config_.text(Option::Metrics), arena_);
    {
        const InTool guard;
        load_map.refresh();
        if (process.names_iteration_point()) {
            iteration_point.choose(process.config_.text(Option::Iteration));
            iteration_point.look();
        }
        if (*process.config_.text(Option::Filter) != 0) filter_complaint_ = function_filter.load(process.config_.text(Option::Filter));
        sleds.look();
    }
    return_address_of_any_mark = [](std::uintptr_t end) noexcept { return thread_registry.return_address_of_mark(end); };
    process_state.session.store(process.config_.flag(Option::Start) ? SessionState::Measuring : SessionState::Silent, std::memory_order_release);
    Thread* thread = nullptr;
    {
        const InTool guard;
        thread_registry.open_main();
        if (gettid() == getpid()) thread = thread_registry.current();
    }
    if (thread == nullptr) return;
    thread_life.calibrate(*thread);
    if (thread->is_silent()) return;
    const InTool guard;
    const std::uint64_t wall = session_clock.now() - began_at, cpu = thread_cpu_time() - cpu_before;
    thread->phases.time().book_overhead(cpu < wall ? cpu : wall);
}

/// The program may change its folder before the file is needed.
void Session::choose_earlier_run() noexcept {
    const char* name = process.config_.text(Option::Reference);
    if (name == nullptr || *name == 0) return;
    if (*name == '/') return earlier_run.choose(name);
    const std::size_t size = std::strlen(process.job_.folder) + 1 + std::strlen(name) + 1;
    char* path = arena_.array<char>(size);
    if (path == nullptr) return;
    std::snprintf(path, size, "%s/%s", process.job_.folder, name);
    earlier_run.choose(path);
}

void Session::record(bool on) noexcept {
    SessionState expected = on ? SessionState::Silent : SessionState::Measuring;
    // The end of the job, on another thread, must win.
    process_state.session.compare_exchange_strong(expected, on ? SessionState::Measuring : SessionState::Silent, std::memory_order_acq_rel);
}

void Session::mpi_unusable(const char* reason) noexcept {
    start();
    if (process.job_.speaks_before_init()) say("error: %s", reason);
    switch_off();
}

void Session::tool_bypasses_us(const char* tool) noexcept {
    start();
    bypass_known_ = true;
    if (process.measuring() && process.job_.speaks_before_init())
        say("warning: %s wraps MPI functions without calling PMPI, so libprofile does not see the calls of these functions; put it "
            "first: LD_PRELOAD=%s:.../libprofile.so",
            tool, tool);
}

void Session::begin_sampling() noexcept {
    const InTool guard;
    const bool is_first = !sampling_;
    const std::uint64_t began_at = session_clock.now();
    if (is_first && !prepare_sampling(handle_sample) && process.job_.speaks_before_init())
        say("warning: no real-time signal is free, so there are no samples; MPI calls are measured all the same");
    sampling_ = true;
    if (Thread* thread = thread_registry.current()) thread->paths.ready();
    thread_registry.start_sampling();
    if (Thread* thread = thread_local_block.thread; thread != nullptr && !thread->is_silent())
        thread->phases.time().book_overhead(thread->own_time(began_at, session_clock.now()));
    if (!is_first || !process.job_.speaks_before_init()) return;
    if (thread_registry.clocks_refused() != 0)
        say("warning: the kernel refused a timer (see ulimit -i, the limit of pending signals), so there are no samples; MPI calls "
            "are measured all the same");
    if (perf_refusal() != 0)
        say("warning: LIBPROFILE_SAMPLE_CLOCK=perf: no perf counter is available (%s; see kernel.perf_event_paranoid, ulimit -n and -i), so "
            "threads are sampled by their CPU timers",
            strerrordesc_np(perf_refusal()));
}

void Session::before_mpi_init(bool is_session) noexcept {
    start();
    if (process.measuring()) begin_sampling();
    if (is_session && process.state() == SessionState::Finished && process.job_.rank == 0 && !reopened_) {
        reopened_ = true;
        say("warning: the measurement ended with the program's last MPI session, but the program has opened another one; keep one "
            "session open to measure all");
    }
}

bool Session::launcher_mismatch() noexcept { return process.job_.launcher_ranks > 1 && process.job_.ranks == 1 && process.treats_mpi(); }

/// MPI sessions have no MPI_COMM_WORLD that could tell.
void Session::know_rank_from_launcher() noexcept {
    process.job_.rank = process.job_.launcher_rank < 0 ? 0 : process.job_.launcher_rank;
    process.job_.ranks = process.job_.launcher_ranks < 1 ? 1 : process.job_.launcher_ranks;
}

void Session::after_mpi_init(bool is_session, bool succeeded) noexcept {
    if (!process.measuring() || !succeeded) return;
    if (is_session) open_sessions_.fetch_add(1, std::memory_order_relaxed);
    if (process.world_ || (is_session && process.initialized_)) return;
    const InTool guard;
    load_map.refresh(); // MPI_Init loads its components
    iteration_point.look();
    sleds.look();
    if (Thread* thread = thread_registry.current()) thread->paths.ready();
    if (is_session || process.mpi_ == nullptr || process.mpi_->world(&process.job_.rank, &process.job_.ranks) != 0) {
        know_rank_from_launcher();
    } else if (launcher_mismatch()) {
        if (process.job_.speaks_before_init())
            say("error: the launcher started %d ranks, but each is alone in its MPI_COMM_WORLD: %s uses %s, so start it "
                "with the mpirun of %s; nothing is measured",
                process.job_.launcher_ranks, process.job_.name, process.mpi_->name, process.mpi_->name);
        return switch_off();
    } else {
        process.world_ = true;
    }
    process.initialized_ = true;
    if (process.job_.rank == 0 || !process.treats_mpi()) {
        complain_once(false);
        if (process.treats_mpi()) prepare_output_folder();
    }
}

void Session::complain_once(bool at_end) noexcept {
    if (complained_) return;
    complained_ = true;
    if (*process.config_.complaint() != 0) say("warning: %s", process.config_.complaint());
    if (*missing_here != 0) say("note: %s", missing_here);
    complain_of_point(at_end);
    if (filter_complaint_ != nullptr) say("warning: LIBPROFILE_FILTER=%s: %s", process.config_.text(Option::Filter), filter_complaint_);
    if (*sleds.complaint() != 0) say("warning: %s", sleds.complaint());
    if (*counter_chooser.complaint() != 0) say("warning: %s", counter_chooser.complaint());
    if (!unwinder.available()) say("warning: libunwind.so.8 was not found, so some call paths are partial; install the package libunwind8");
}

/// Once: a point that is missing may be in a library that is loaded later, and the line says so. A point that cannot be followed is reported then.
void Session::complain_of_point(bool at_end) noexcept {
    const char* complaint = iteration_point.complaint();
    if (*complaint == 0) return;
    const char* const point = process.config_.text(Option::Iteration);
    const bool is_wanted = iteration_point.is_wanted();
    const PointComplaint before = std::exchange(point_complaint_, is_wanted ? PointComplaint::Missing : PointComplaint::Failed);
    if (before == point_complaint_) return;
    say("warning: LIBPROFILE_ITERATION=%s: %s; iterations are what the program marks%s", point, complaint,
        is_wanted && !at_end ? ", until a library that has it is loaded" : "");
}

/// The call is visited, but its time comes after the end of the measurement.
void Session::visit_last_call(unsigned function_id, void* frame) noexcept {
    const InTool guard;
    if (guard.is_nested()) return; // as in finish()
    Thread* thread = thread_registry.current();
    const std::uint64_t now = session_clock.now();
    if (thread == nullptr || !follow_switch(*thread, now)) return;
    NodeId caller = 0;
    if (process.call_paths_) caller = thread->paths.at_call(reinterpret_cast<std::uintptr_t>(frame));
    Row& row = thread->phases.row(thread->tree.child(caller, NodeKind::Mpi, function_id, 0));
    row.is_event = true;
    ++row[Metric::Visits];
    if (thread->listeners.any()) note_event(*thread, row.node, now, 0);
}

void Session::before_mpi_finalize(unsigned function_id, void* frame) noexcept {
    if (!process.measuring() || !process.initialized_) return;
    visit_last_call(function_id, frame);
    finish(process.treats_mpi() && process.world_);
}

void Session::before_session_finalize(unsigned function_id, void* frame) noexcept {
    if (!process.measuring() || open_sessions_.fetch_sub(1, std::memory_order_relaxed) != 1 || process.world_) return;
    visit_last_call(function_id, frame);
    finish(false);
}

void Session::begin_without_mpi() noexcept {
    process.without_mpi_ = true;
    start();
    if (process.measuring() && !sampling_) begin_sampling();
}

/// MPI ran in this process and not one call came through our entry points: linked in the wrong order, or looked up in the
/// MPI library itself.
bool Session::was_bypassed() noexcept {
    if (bypass_known_) return true;
    void* function = dlsym(RTLD_DEFAULT, "PMPI_Initialized");
    if (function != nullptr && module_of(function) == module_of(&session)) function = dlsym(RTLD_NEXT, "PMPI_Initialized");
    int (*initialized)(int*) = nullptr;
    *reinterpret_cast<void**>(&initialized) = function;
    int flag = 0;
    if (initialized == nullptr || initialized(&flag) != 0 || flag == 0) return false;
    if (process.state() == SessionState::Idle) {
        process.config_.load(arena_);
        process.job_.find(arena_);
        if (process.config_.flag(Option::Quiet) || process.config_.flag(Option::Disable)) return true;
    }
    if (process.job_.speaks_before_init())
        say("warning: MPI was used, but its calls did not pass through libprofile, so there is no profile; start the program with "
            "`libprofile run --`, or link -lprofile before the MPI library (programs that look MPI functions up in the MPI library's own handle "
            "cannot be measured)");
    return true;
}

void Session::at_exit() noexcept {
    if ((process.state() == SessionState::Idle || (process.measuring() && !process.initialized_)) && was_bypassed()) {
        if (process_ == getpid()) remove_checkpoint(nullptr);
        return switch_off();
    }
    if (!process.measuring() || process_ != getpid()) return;
    // An MPI program that ends without MPI_Finalize, or no MPI program at all.
    if (!process.initialized_ && !process.without_mpi_) return switch_off();
    finish(false);
}

void Session::finish(bool with_mpi) noexcept {
    const std::uint64_t now = session_clock.now(), cpu_before = thread_cpu_time();
    process_state.session.store(SessionState::Finished, std::memory_order_release);
    const InTool guard;
    // A handler of the application has interrupted us, and ends the program. What is being changed just now cannot be read.
    if (guard.is_nested() || !thread_registry.finish_all(now)) return leave_live_file();
    const std::uint64_t closing = thread_cpu_time() - cpu_before; // cutting the iterations of a loop out of the log, without waits for other threads
    const bool speaks = !process.initialized_ || process.job_.rank == 0 || !process.treats_mpi();
    if (speaks && complained_) complain_of_point(true);
    complained_ = complained_ || !speaks;
    complain_once(true);
    if (speaks && *process.config_.text(Option::Filter) != 0)
        if (const char* useless = function_filter.useless_lines()) say("warning: LIBPROFILE_FILTER=%s: %s", process.config_.text(Option::Filter), useless);
    if (const char* complaint = speaks ? openmp_tool_complaint() : nullptr) say("warning: %s", complaint);
    if (with_mpi)
        write_together(session_clock.now() - closing);
    else
        write_alone(process.output(), session_clock.now() - closing);
}

} // namespace libprofile
