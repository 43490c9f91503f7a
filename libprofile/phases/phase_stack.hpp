// The open phases of one thread: attribution of time to the innermost one, iteration ends, repair of bad nesting.
//
// Contract: belongs to one thread; every member function runs with that thread's in-tool flag set; nothing throws;
// memory from the thread's arena. Rows point into accumulators: a Row stays valid until its phase's interval is closed,
// which never happens inside an MPI call.
//
// A segment of the thread's wall time (wall_ledger.hpp) ends at every phase switch.
#pragma once

#include "libprofile/phases/iteration_closer.hpp"
#include "libprofile/phases/nesting_repairs.hpp"
#include "libprofile/phases/phase_list.hpp"
#include "libprofile/phases/phase_log.hpp"
#include "libprofile/phases/segment_source.hpp"
#include "libprofile/phases/wall_ledger.hpp"
#include "libprofile/trace/event_trace.hpp"

#include <cstdint>

namespace libprofile {

/// What a phase stack tells others, who must stay; nullptr where nobody listens.
struct PhaseHooks {
    SegmentSource* source = nullptr; // is asked before each segment ends
    PhaseLog* log = nullptr;         // gets all phases that begin and end
    IterationOrder* order = nullptr; // learns which iterations are open
    EventTrace* events = nullptr;    // learns which iterations are open
};

class PhaseStack {
  public:
    PhaseStack(CallTree& tree, Arena& arena, Pool& pool) : tree_(&tree), arena_(&arena), pool_(&pool), phases_(tree, arena), iterations_(tree, arena, pool) {}

    /// Opens the phase "" at `now`. Returns false if memory is short.
    bool start(std::uint64_t now, std::uint64_t cpu_now, ClusteringSettings settings) noexcept;
    /// There was no marker.
    bool is_unused() const { return phases_.size() == 1 && repairs_.count() == 0; }
    /// For another thread that reuses the memory of one that left no trace.
    void begin_again(std::uint64_t now) noexcept;

    WallLedger& time() { return time_; }
    const WallLedger& time() const { return time_; }
    PhaseList& all() { return phases_; }
    const PhaseList& all() const { return phases_; }
    IterationCloser& iterations() { return iterations_; }
    NestingRepairs& repairs() { return repairs_; }
    const NestingRepairs& repairs() const { return repairs_; }
    PhaseHooks& hooks() { return hooks_; }
    /// Phases and iterations for which there was no memory.
    std::uint64_t losses() const { return phases_.refused() + iterations_.losses(); }

    /// The innermost open phase.
    Phase& top() { return *stack_[depth_ - 1]; }
    Row& row(NodeId node) noexcept { return top().rows.row(node, *tree_, *arena_); }
    /// Books samples outside events that stand for `ns` of processor time. To take some back, give negative numbers modulo 2^64.
    Row& book_samples(NodeId node, std::uint64_t samples, std::uint64_t ns) noexcept {
        Row& sampled = row(node);
        sampled[Metric::Samples] += samples;
        const NodeKind kind = (*tree_)[sampled.node].kind;
        if (is_call(kind)) return sampled;           // in the OpenMP runtime, before or after the event: its time is exact
        if (kind == NodeKind::Quota) return sampled; // so is the time of the calls folded there; readers could not tell them apart
        sampled[Metric::Time] += ns;
        top().outside.sampled_ns += ns;
        book_square(samples, ns);
        return sampled;
    }
    /// Books time off the processor, which time().look() has just told, below the call path of `node`. Returns the node that got it, or 0: without
    /// memory it stays with the time off the processor whose place is unknown.
    NodeId book_off_cpu(NodeId node, std::uint64_t ns) noexcept;
    /// The same at a node that it has returned. To take it back, give a negative number modulo 2^64.
    void book_off_cpu_at(NodeId off_cpu, std::uint64_t ns) noexcept {
        row(off_cpu)[Metric::Time] += ns;
        time_.book_away(ns);
    }
    /// Changes whenever row() may no longer return what it has returned.
    std::uint64_t row_generation() const { return row_generation_; }
    /// Callers that remember what row() has returned ask again.
    void forget_rows() noexcept { ++row_generation_; }

    bool counts_for_structure(NodeId node) const { return libprofile::counts_for_structure((*tree_)[node].kind); }
    /// No phase is open but that outside all.
    bool is_outside() const { return depth_ == 1; }

    /// Recording is off from `now` on. Until resume() nothing may be booked; what passes belongs to the "(not recorded)"
    /// node of the phase that is open. Like one long event, which ends with the pause, or is cut where a segment ends.
    void pause(std::uint64_t now, std::uint64_t cpu_now) noexcept { time_.pause(now, cpu_now); }
    void resume(std::uint64_t now, std::uint64_t cpu_now) noexcept;

    /// Markers. A begin of a phase that is open already closes it first; an end closes what is open inside it first; an
    /// end of a phase that is not open is ignored. All three count as repairs.
    void begin(PhaseKind kind, const char* name, std::uint64_t now, std::uint64_t cpu_now) noexcept;
    void end(PhaseKind kind, const char* name, std::uint64_t now, std::uint64_t cpu_now) noexcept;
    /// The same for loops that are marked at the top of their body only: ends the iteration that runs, if one does, and
    /// begins the next. end_if_open() ends the last one; a loop that made no pass has none. Neither is a repair.
    void next_iteration(const char* name, std::uint64_t now, std::uint64_t cpu_now) noexcept;
    void end_if_open(PhaseKind kind, const char* name, std::uint64_t now, std::uint64_t cpu_now) noexcept;
    /// The innermost open phase, one of iterations, was left at `at`, in the past, when the thread had used `cpu_then`. Nothing was booked since;
    /// what comes belongs to the phase around it. For signal handlers, too: the iteration is closed at the next change of phases or reading.
    /// Returns false if that is not possible.
    bool leave_at(std::uint64_t at, std::uint64_t cpu_then) noexcept;
    /// Some phases were left.
    bool has_left() const { return left_count_ != 0; }
    /// Closes the iterations of phases that were left; a job that is killed then keeps them. Not in handlers.
    void close_left() noexcept {
        if (left_count_ == 0) [[likely]]
            return;
        end_left();
        ++row_generation_; // as whenever an iteration has ended
    }
    /// Turns all that was measured until now into values of call paths, so that they can be read, and goes on. What is open
    /// stays open; its values are in the rows.
    void settle(std::uint64_t now, std::uint64_t cpu_now) noexcept;
    /// What settle() changes in the outermost phase, the only open one. Putting it back undoes settle(): for a look at the values in the
    /// middle of a segment that may still be cut (WallLedger::go_back()).
    struct Unsettled {
        struct Value {
            Row* row;
            std::uint64_t time;
        };
        static constexpr std::size_t changed_rows = 3;
        Value values[changed_rows] = {};
        std::uint64_t wall_ns = 0, outside_ns = 0, outside_cpu_ns = 0, away_ns = 0, sampled_ns = 0, generation = 0;
        WallLedger time;
    };
    /// Before settle().
    Unsettled keep(std::uint64_t now) noexcept;
    void put_back(const Unsettled& kept) noexcept;
    /// Closes everything at the end of the thread or of the job.
    void finish(std::uint64_t now, std::uint64_t cpu_now) noexcept;

  private:
    /// How unequal the times of samples are tells how exact shares are (docs/sampling-error.md). Of several taken as equal.
    void book_square(std::uint64_t samples, std::uint64_t ns) noexcept {
        const bool is_back = samples >> 63 != 0;
        const std::uint64_t number = is_back ? std::uint64_t{0} - samples : samples, us = (is_back ? std::uint64_t{0} - ns : ns) / 1000;
        const std::uint64_t square = number == 0 ? 0 : us * us / number;
        Row& base = row(tree_->not_sampled());
        if (base.node != tree_->not_sampled()) return;
        std::uint64_t& squares = base[Metric::Samples];
        squares = !is_back ? squares + square : squares > square ? squares - square : 0; // several taken back are rounded once, not each
    }
    bool is_inside_iteration() const noexcept;
    void close_segment(std::uint64_t now, std::uint64_t cpu_now) noexcept;
    void book_pause(std::uint64_t now, std::uint64_t cpu_now) noexcept;
    void begin(Phase* phase, PhaseKind kind, const char* name, std::uint64_t now, std::uint64_t cpu_now) noexcept;
    void end_open(const Phase& phase, const char* name, std::uint64_t now, std::uint64_t cpu_now) noexcept;
    void enter(Phase& phase) noexcept;
    void pop(std::uint64_t now, std::uint64_t cpu_now) noexcept;
    std::uint64_t close_top(std::uint64_t now, std::uint64_t cpu_now) noexcept;
    void end_iteration(Phase& phase, std::uint64_t wall_ns, std::uint64_t at) noexcept;
    void end_left() noexcept;

    std::uint64_t row_generation_ = 1; // first, as what every MPI call uses of time_ (thread/thread.hpp)
    WallLedger time_;

    CallTree* tree_;
    Arena* arena_;
    Pool* pool_;
    PhaseList phases_;
    IterationCloser iterations_;
    NestingRepairs repairs_;
    PhaseHooks hooks_;
    static constexpr std::size_t max_depth = 64;
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
};

} // namespace libprofile
