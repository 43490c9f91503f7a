// The open phases of one thread: attribution of time to the innermost one, iteration ends, repair of bad nesting.
//
// Contract: belongs to one thread; every member function runs with that thread's in-tool flag set; nothing throws;
// memory from the thread's arena. Rows point into accumulators: a Row stays valid until its phase's interval is closed,
// which never happens inside an MPI call.
//
// The thread's wall time is cut into segments at every phase switch. In each segment
//     wall = MPI events + pauses + libprofile + on-CPU compute + off CPU      exactly, in integer ns.
#pragma once

#include "libprofile/phases/iteration_listener.hpp"
#include "libprofile/phases/phase.hpp"
#include "libprofile/phases/phase_log.hpp"
#include "libprofile/phases/poll_run.hpp"
#include "libprofile/phases/segment.hpp"
#include "libprofile/phases/segment_source.hpp"
#include "libprofile/phases/wait_choice.hpp"

#include <cstdint>

namespace libprofile {

struct EarlierIterations; // clustering/earlier_run.hpp

/// Where the iterations of a phase go and how many clusters they get.
struct ClusteringSettings {
    std::uint32_t clusters = 16;
    EquivalenceMode mode = EquivalenceMode::Auto;
    std::uint32_t warm_up = 0; // see Clusterer, as the next
    bool keeps_series = true;
    bool refreshes_distances = true;
    SeriesSettings series;
    /// What iterations of this name were in an earlier run; nullptr: none is known.
    const EarlierIterations* (*earlier)(const char* phase) noexcept = nullptr;
};

/// An iteration that has ended, and is in no cluster and no series yet.
struct PendingIteration {
    Phase* phase = nullptr; // nullptr: there is none
    IterationProfile profile;
    StructureSignatures signatures;
    std::uint64_t wall_ns = 0;
    bool has_leftovers = false; // as in the phase
};

class PhaseStack {
  public:
    static constexpr std::size_t max_depth = 64;
    static constexpr std::size_t max_phases = 1000; // a name per iteration is a mistake that must not cost the job
    static constexpr std::size_t max_name = 255;

    PhaseStack(CallTree& tree, Arena& arena, Pool& pool) : tree_(&tree), arena_(&arena), pool_(&pool) {}

    /// Opens the phase "" at `now`. False: no memory.
    bool start(std::uint64_t now, std::uint64_t cpu_now, ClusteringSettings settings) noexcept;

    /// For a thread that takes the place of one that left no trace. is_unused(): there was no marker.
    bool is_unused() const { return phases_.size() == 1 && repairs_ == 0; }
    void begin_again(std::uint64_t now) noexcept;
    /// The running segment cannot end before this: what is booked in it already.
    std::uint64_t earliest_end() const { return is_paused_ ? pause_start_ : segment_start_ + segment_events_ns_; }

    /// The innermost open phase.
    Phase& top() { return *stack_[depth_ - 1]; }
    Row& row(NodeId node) noexcept { return top().rows.row(node, *tree_, *arena_); }
    /// Changes whenever row() may no longer return what it has returned.
    std::uint64_t row_generation() const { return row_generation_; }

    /// Books exclusive time of an event that has just ended, and the CPU time it used.
    void book_event(std::uint64_t wall_ns, std::uint64_t cpu_ns) noexcept {
        segment_events_ns_ += wall_ns;
        if (cpu_ns != wall_ns) [[unlikely]]
            segment_events_asleep_ns_ += wall_ns - cpu_ns;
    }
    /// Books what counters have come to since they were read before, most_counters of them: for the phase that is open.
    void book_counted(const std::uint64_t* increments) noexcept {
        for (std::size_t i = 0; i < most_counters; ++i) top().counted[i] += increments[i];
    }
    /// Books time spent inside libprofile.
    void book_overhead(std::uint64_t ns) noexcept { segment_overhead_ns_ += ns; }

    /// Time of events, pauses and libprofile since the thread began: only grows, but for go_back(). now() less that is a clock that
    /// stands still meanwhile.
    std::uint64_t booked_ns() const { return closed_ns_ + segment_events_ns_ + segment_overhead_ns_; }
    bool counts_for_structure(NodeId node) const { return libprofile::counts_for_structure((*tree_)[node].kind); }
    /// Asks `source`, which must stay, before each segment ends; nullptr: nobody.
    void ask(SegmentSource* source) noexcept { source_ = source; }

    /// What was booked in the running segment.
    SegmentCounters booked() const { return {segment_events_ns_, segment_events_asleep_ns_, segment_overhead_ns_}; }
    /// For iterations that are found when they are over (LoopWatch::replay()): as if it were the moment when that was booked in this
    /// segment. Who does this takes the values of the events since then out of the rows, too, and books all of it again.
    void go_back(const SegmentCounters& counters) noexcept {
        segment_events_ns_ = counters.events_ns;
        segment_events_asleep_ns_ = counters.asleep_ns;
        segment_overhead_ns_ = counters.overhead_ns;
    }
    void book(const SegmentCounters& counters) noexcept {
        SegmentCounters sum = booked();
        go_back(sum += counters);
    }
    /// No phase is open but that outside all.
    bool is_outside() const { return depth_ == 1; }

    /// Unsuccessful polls follow each other from `site`; the first has just ended, at `now`, and took `first_ns`.
    void begin_polls(const void* site, const void* path, PollStatistics& statistics, Row& row, std::uint64_t now, std::uint64_t first_ns,
                     std::uint64_t own_ns) noexcept {
        const std::uint32_t random = polls_.random;
        const std::uint32_t until_timed = polls_.until_timed; // goes on over short runs: none of their places is preferred
        polls_ = {};
        polls_.site = site;
        polls_.path = path;
        polls_.statistics = &statistics;
        polls_.row = &row;
        polls_.began_at = now;
        polls_.booked = segment_events_ns_ + segment_overhead_ns_;
        polls_.own_ns = own_ns;
        polls_.first_ns = first_ns;
        polls_.until_timed = until_timed;
        polls_.random = random;
    }
    PollRun& polls() { return polls_; }
    /// Books the time of the polls of a run that were not timed, and ends the run.
    void end_polls(std::uint64_t now) noexcept;

    /// Recording is off from `now` on. Until resume() nothing may be booked; what passes belongs to the "(not recorded)"
    /// node of the phase that is open. Like one long event, which ends with the pause, or is cut where a segment ends.
    void pause(std::uint64_t now, std::uint64_t cpu_now) noexcept;
    void resume(std::uint64_t now, std::uint64_t cpu_now) noexcept;
    bool is_paused() const { return is_paused_; }

    /// Markers. A begin of a phase that is open already closes it first; an end closes what is open inside it first; an
    /// end of a phase that is not open is ignored. All three count as repairs.
    void begin(PhaseKind kind, const char* name, std::uint64_t now, std::uint64_t cpu_now) noexcept;
    void end(PhaseKind kind, const char* name, std::uint64_t now, std::uint64_t cpu_now) noexcept;
    /// The same for loops that are marked at the top of their body only: ends the iteration that runs, if one does, and
    /// begins the next. end_if_open() ends the last one; a loop that made no pass has none. Neither is a repair.
    void next_iteration(const char* name, std::uint64_t now, std::uint64_t cpu_now) noexcept;
    void end_if_open(PhaseKind kind, const char* name, std::uint64_t now, std::uint64_t cpu_now) noexcept;
    /// The innermost open phase, one of iterations, was left at `at`, in the past, when the thread had used `cpu_then`. Nothing was booked since then:
    /// what is from now on belongs to the phase around it. For signal handlers, too: its iteration is closed when phases change, or somebody reads.
    /// False: that cannot be.
    bool leave_at(std::uint64_t at, std::uint64_t cpu_then) noexcept;
    /// Closes the iterations of phases that were left, so that a job that is killed has them. Not in handlers.
    void close_left() noexcept {
        if (left_count_ == 0) [[likely]]
            return;
        end_left();
        ++row_generation_; // as whenever an iteration has ended
    }
    /// Turns all that was measured until now into values of call paths, so that they can be read, and goes on. What is open
    /// stays open; its values are in the rows.
    void settle(std::uint64_t now, std::uint64_t cpu_now) noexcept;
    /// What settle() changes in the phase outside all others, which is the only open one, kept to be put back: for a look at the values
    /// in the middle of a segment that somebody may still want to cut (go_back()).
    struct Unsettled {
        struct Value {
            Row* row;
            std::uint64_t time;
            std::uint64_t weight;
        };
        Value* values = nullptr;
        std::size_t bytes = 0;
        std::size_t count = 0;
        std::uint64_t wall_ns = 0, outside_events_ns = 0, compute_cpu_ns = 0;
        std::uint64_t start = 0, cpu_start = 0, generation = 0, closed_ns = 0;
        SegmentCounters counters;
    };
    /// Before settle(). False: no memory; then nothing can be put back.
    bool keep(Unsettled& kept, std::uint64_t now) noexcept;
    void put_back(Unsettled& kept) noexcept;
    /// Closes everything at the end of the thread or of the job.
    void finish(std::uint64_t now, std::uint64_t cpu_now) noexcept;

    /// Notes in `log`, which must stay, all phases that begin and end from now on.
    void publish(PhaseLog* log) noexcept { log_ = log; }

    /// Tells `listener`, which must stay, of every iteration from now on; nullptr: nobody.
    void tell(const IterationListener* listener) noexcept { listener_ = listener; }
    /// The iterations that come are of a time of which the listener has heard already.
    void miss_iterations() noexcept {
        if (listener_ != nullptr) listener_->missed();
    }

    /// Of an iteration that ends only the profile is taken. What is dear, series and clusters, is done later: at the latest when
    /// another one ends, or somebody reads (settle(), finish()).
    bool has_pending_work() const { return pending_.phase != nullptr; }
    void do_pending_work() noexcept;
    WaitChoice& waits() { return waits_; }

    std::size_t phase_count() const { return phases_.size(); }
    Phase& phase(std::size_t i) { return phases_[i]; }
    /// A marker that comes while the phases are being changed: from a signal handler that has interrupted libprofile.
    void ignore_marker(const char* name) noexcept { repair("marker in a signal handler that interrupts libprofile:", name); }
    std::uint64_t repairs() const { return repairs_; }
    /// Describes the first repair, for the message; empty without one.
    const char* first_repair() const { return first_repair_; }
    std::uint64_t quota_losses() const { return quota_losses_; }

  private:
    Phase* find(PhaseKind kind, const char* name) noexcept;
    Phase* create(PhaseKind kind, const char* name) noexcept;
    void close_segment(std::uint64_t now, std::uint64_t cpu_now) noexcept;
    void book_pause(std::uint64_t now, std::uint64_t cpu_now) noexcept;
    void close_interval(Phase& phase) noexcept;
    void share_out_counted(Phase& phase) noexcept;
    void close_iteration(Phase& phase, std::uint64_t wall_ns, std::uint64_t now) noexcept;
    bool begin_clustering(Phase& phase) noexcept;
    StructureSignatures sign(Phase& phase) const noexcept;
    void put_back(Phase& phase, const IterationProfile& profile) noexcept;
    void add_to_series(Phase& phase, const Cell* events, std::uint32_t event_count, const CondensedVector& condensed,
                       const PendingIteration& iteration) noexcept;
    void enter(Phase& phase) noexcept;
    static void leave(Phase& phase) noexcept;
    void log_inside(Phase& phase, bool has_number) noexcept;
    void pop(std::uint64_t now, std::uint64_t cpu_now) noexcept;
    std::uint64_t close_top(std::uint64_t now, std::uint64_t cpu_now) noexcept;
    void end_iteration(Phase& phase, std::uint64_t wall_ns, std::uint64_t at) noexcept;
    void end_left() noexcept;
    void repair(const char* what, const char* name) noexcept;

    // What every MPI call uses comes first (thread/thread.hpp), as far as the first member of polls_.
    std::uint64_t segment_events_ns_ = 0;
    std::uint64_t segment_overhead_ns_ = 0;
    std::uint64_t row_generation_ = 1;
    bool is_paused_ = false;
    PollRun polls_;

    CallTree* tree_;
    Arena* arena_;
    Pool* pool_;
    ClusteringSettings settings_;
    StableArray<Phase, 3> phases_;
    Phase* stack_[max_depth] = {};
    std::size_t depth_ = 0;

    struct Left {
        Phase* phase;
        std::uint64_t wall_ns;
        std::uint64_t at;
    };
    static constexpr std::uint32_t most_left = 4;
    Left left_[most_left]; // phases that were left, and whose iterations are to be closed: innermost first
    std::uint32_t left_count_ = 0;

    std::uint64_t segment_start_ = 0;
    std::uint64_t segment_cpu_start_ = 0;
    std::uint64_t segment_events_asleep_ns_ = 0; // of segment_events_ns_, without CPU time
    std::uint64_t pause_start_ = 0;
    std::uint64_t pause_cpu_start_ = 0;

    std::uint64_t closed_ns_ = 0; // booked in segments that are over
    SegmentSource* source_ = nullptr;
    PhaseLog* log_ = nullptr;
    const IterationListener* listener_ = nullptr;
    WaitChoice waits_;
    PendingIteration pending_;

    std::uint64_t repairs_ = 0;
    std::uint64_t quota_losses_ = 0;
    char first_repair_[160] = {};
};

} // namespace libprofile
