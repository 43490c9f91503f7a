// Finds the time loop of a program that marks no iterations while it runs, and makes a phase of it. One for the main thread.
//
// Contract: belongs to that thread, used with its in-tool flag set; begin_call() not in signal handlers; memory from the quota: its own
// pages, and while it searches at most a 64th of the quota for the log and another one for notes.
//
// A search comes first. The call paths of all MPI calls go to a LoopSearch; they, their values and the samples go to an EventLog.
// A loop is settled on when it has gone on for some time, when the log is full and cannot be folded (log_folding.hpp), or at the end of the job.
// Until then an outer loop may show. Then the logged passes are cut out of what was measured so far (replay()), and from then on each start
// begins an iteration, as a marker would. What the search takes is limited (search_budget.hpp): once it is spent, and no loop runs, the search
// pauses, but known loops are followed. When the loop's function is left, its phase ends. The search goes on for later loops and for loops
// around it. An outer loop that shows that late replaces the inner one; existing iterations stay. A loop whose passes become so short that their ends
// take a fifth of the time is given up.
#pragma once

#include "format/metrics.hpp"
#include "libprofile/base/own_cost.hpp"
#include "libprofile/callpath/path_tracker.hpp"
#include "libprofile/callpath/raw_path.hpp"
#include "libprofile/loops/doubted_loops.hpp"
#include "libprofile/loops/logged_values.hpp"
#include "libprofile/loops/loop.hpp"
#include "libprofile/loops/raw_log.hpp"
#include "libprofile/loops/search_budget.hpp"
#include "libprofile/phases/phase_stack.hpp"

#include <cstdint>

namespace libprofile {

class EventList;
struct Thread;
struct FunctionTraits;

class LoopWatch {
  public:
    static constexpr std::uint32_t most_loops = 10; // with a tenth of the time each
    static constexpr std::uint32_t most_levels = 4;
    static constexpr std::uint32_t none = 0xffffffffu;
    static constexpr std::uint64_t never = ~std::uint64_t{0};

    /// A loop and its phase.
    struct Found : Loop {
        const char* phase = nullptr; // its name
        std::uint64_t iterations = 0;
        std::uint64_t missed = 0;     // passes before the first iteration
        bool is_replaced = false;     // by a loop around it
        std::uint32_t moves = 0;      // of the start, to a call that comes in every pass
        bool is_late = false;         // passes before it was found could not be cut out
        std::uint64_t until = 0;      // its last pass began
        std::uint64_t known_from = 0; // earlier passes are not in the log
        std::uint32_t inside = none;  // number of the loop in whose passes it is called
        std::uint32_t depth = 0;      // number of loops around it
        std::uint64_t ends_ns = 0;    // what ends of its passes have taken
        std::uint64_t ends_from = 0;  // since then
        bool is_costly = false;       // too much: it was given up
    };

    /// Makes one that searches, in pages of its own. Returns nullptr if memory is short.
    static LoopWatch* create() noexcept;

    /// An MPI call begins at `now`, outside all others, on the call path of `node`. `is_walked`: PathTracker::at_call() has just found it. Returns true
    /// if the next such call must be reported, too.
    bool begin_call(Thread& thread, NodeId node, std::uintptr_t frame, std::uint64_t now, bool is_walked) noexcept;
    /// The same with little work, for a call whose path has a number from learn(), KnownPath::row_generation, and whose row is known. Returns false
    /// if begin_call() is needed.
    bool begin_quickly(Thread& thread, const KnownPath& path, std::uintptr_t frame) noexcept;
    enum class Stay : std::uint8_t { Unknown, Now, Always };
    /// Whether begin_call() would do nothing: such a call was made in passes of the same loops before. Always: at later such calls, too. Now: passes begin
    /// at entries of a function that has not returned, so it must be asked again. Quick.
    Stay stay_of(const Thread& thread, NodeId node, std::uintptr_t frame) const noexcept;
    /// After begin_quickly(), when all work is done: the clock, and the processor's ticks at the same time.
    void set_begin(Thread& thread, std::uint64_t now, std::uint64_t ticks) noexcept;
    /// There are enough noted calls to examine them in a wait for others of `ns`, and it is long enough: about 1 ns a byte. think() is allowed at any
    /// time after set_begin().
    bool has_notes(std::uint64_t ns) const noexcept { return quick_ != nullptr && quick_->raw.bytes() >= enough_notes && ns >= quick_->raw.bytes(); }
    void think(Thread& thread) noexcept;
    /// The search pauses, and may look at calls again at `now`. Ask now and then.
    bool may_go_on(std::uint64_t now) const { return now >= wakes_at_; }
    void go_on(Thread& thread, std::uint64_t now) noexcept;
    /// Such a call with this number may come next: fetches what begin_quickly() reads of it.
    void expect(std::uint64_t number) const noexcept {
        if (quick_ == nullptr) return;
        const char* const call = reinterpret_cast<const char*>(&quick_->call[number % Quick::most]);
        for (std::size_t i = 0; i != 3; ++i) __builtin_prefetch(call + 64 * i);
    }
    /// What such a call costs; nullptr if there will be none.
    OwnCost* quick_cost() noexcept { return quick_ == nullptr ? nullptr : &quick_->cost; }
    /// After begin_call() on the path of `node`: a number by which the next call on this path may begin_quickly(), or 0. `before`: the path's number
    /// until now.
    std::uint64_t learn(Thread& thread, NodeId node, std::uint64_t before) noexcept;
    static bool is_learned(std::uint64_t number) noexcept { return (number & learned) != 0; }
    /// Functions of the last call's path have returned, and nothing was booked since (PathTracker::has_returned()). Ends phases of loops in them at that
    /// time. Also in signal handlers. `cpu_now`: the thread's CPU time at `now`, or 0.
    void follow_returns(Thread& thread, std::uint64_t now, std::uint64_t cpu_now) noexcept;
    /// No marker has stopped it, and the job goes on.
    bool is_on() const { return is_on_; }
    /// A sample outside MPI has been booked.
    void sampled(Thread& thread, NodeId node, std::uint64_t weight) noexcept;
    /// Whether the logged events could still be cut out of the running segment.
    bool needs_segment(Thread& thread) noexcept {
        think(thread);
        return is_log_whole(thread);
    }
    /// Our own time, outside the segment's overhead, is about to be booked directly.
    void add_overhead(Thread& thread, std::uint64_t ns) noexcept;
    /// Time off the processor has been booked at this node of that kind; it lies between `since` and now.
    void was_away(Thread& thread, NodeId off_cpu, std::uint64_t ns, std::uint64_t since) noexcept;
    /// An event other than an MPI call has been booked.
    void add_event(Thread& thread, NodeId node, std::uint64_t visits, std::uint64_t chance_visits, std::uint64_t ns) noexcept;
    /// An MPI call begins inside another one, at `level` (an MPI callback).
    void begin_nested_call(Thread& thread, NodeId node, std::uint32_t level) noexcept;
    /// Something was booked that is in no log, like a pause. The log begins anew.
    void interrupt(Thread& thread) noexcept;
    /// The program marks its phases itself.
    void stop(Thread& thread, std::uint64_t now, std::uint64_t cpu_now) noexcept;
    /// The thread's location is closed at `now`.
    void finish(Thread& thread, std::uint64_t now, std::uint64_t cpu_now) noexcept;

    std::uint32_t loop_count() const { return loop_count_; }
    const Found& loop(std::uint32_t i) const { return loops_[i]; }
    /// Some loops lie in others.
    bool has_levels() const { return has_levels_; }
    /// Most of the phase's time is in iterations of an inner loop.
    bool is_frame(PhaseStack& phases, const Phase& phase) const noexcept;
    /// It has searched, and was not stopped before it found a loop.
    bool has_searched() const { return has_begun_ && (!is_stopped_ || loop_count_ != 0); }
    /// Valid after finish(): time from the first call to the end in ns, and number of MPI calls.
    std::uint64_t searched_ns() const { return searched_ns_; }
    /// Beginning of the search, by the session's clock.
    std::uint64_t began_at() const { return search_.began_at(); }
    std::uint64_t calls() const { return calls_; }
    /// If no loop was found: finds one whose passes are too short to be iterations. Returns false if there is none.
    bool find_short(LoopCandidate& found) const noexcept { return loop_count_ == 0 && search_.find_short(found); }

  private:
    /// Nested loops by number, from the outermost.
    struct Nest {
        std::uint32_t loop[most_levels];
        std::uint32_t size = 0;
        std::uint32_t code = 0; // another one for other loops
        static constexpr std::uint32_t code_bits = 4 * most_levels;
        std::uint32_t innermost() const { return size == 0 ? none : loop[size - 1]; }
        std::uint32_t outermost() const { return size == 0 ? none : loop[0]; }
        void cut(std::uint32_t to) {
            size = to < size ? to : size;
            code &= (1u << 4 * size) - 1;
        }
        void add(std::uint32_t one) {
            if (size == most_levels) return;
            code |= (one + 1) << 4 * size;
            loop[size++] = one;
        }
    };
    static_assert(most_loops <= 15);

    /// A call that stays in the passes in which it is made.
    struct Staying {
        NodeId node = 0;
        std::uint32_t in = 0;           // running_code()
        std::uint32_t while_stands = 0; // as long as the function at this level has not returned; 0: always
    };
    static constexpr std::uint32_t most_staying = 256;

    bool examine_call(Thread& thread, NodeId node, std::uintptr_t frame, std::uint64_t now, bool is_walked) noexcept;
    bool may_begin_pass(const CallTree& tree, const SitePath& path, NodeId node) const noexcept;
    bool stays_in_passes(const CallTree& tree, NodeId node, std::uint32_t& while_stands) const noexcept;
    std::uint32_t running_code() const { return loops_version_ << Nest::code_bits | running_.code; }
    void keep_staying(NodeId node, std::uint32_t while_stands) noexcept;
    /// What is known of the call, in passes of the loops that run now; nullptr if nothing.
    const Staying* known_staying(NodeId node) const noexcept;
    bool is_inside(std::uint32_t one, std::uint32_t other) const noexcept;
    bool begins_pass(const CallTree& tree, const SitePath& path, NodeId node, std::uint32_t common, std::uint64_t at, Found& loop) const noexcept;
    bool goes_on(const CallTree& tree, const SitePath& path, std::uint32_t common, std::uint64_t at, Found& loop) noexcept;
    std::uint32_t act(const CallTree& tree, const SitePath& path, NodeId node, std::uint32_t common, std::uint64_t at) noexcept;
    std::uint32_t leave_recursion() noexcept;
    void perform(Thread& thread, std::uint32_t staying, std::uint64_t now, std::uint64_t cpu_now) noexcept;
    void perform_now(Thread& thread, std::uint32_t staying, std::uint64_t now) noexcept;
    void leave(Thread& thread, std::uint64_t now, std::uint64_t cpu_now) noexcept;
    bool do_ends_cost_too_much(std::uint64_t now) noexcept;
    void give_up(Thread& thread, std::uint64_t now) noexcept;
    const Found* returned_loop(std::uint32_t standing) const noexcept;
    /// Leaves the innermost loops whose functions have returned; `standing` functions of the path have not. `time_of(level)`: when the function at that
    /// level returned, 0 if unknown; `cpu_until(at)`: the thread's CPU time then. A pass whose end is unknown goes on until the next call.
    template <class TimeOf, class CpuUntil> void leave_returned(PhaseStack& phases, std::uint32_t standing, TimeOf time_of, CpuUntil cpu_until) noexcept {
        while (const Found* loop = returned_loop(standing)) {
            const std::uint64_t at = time_of(loop->level);
            if (at == 0 || !phases.leave_at(at, cpu_until(at))) return;
            open_.cut(open_.size - 1);
            running_.cut(open_.size);
        }
    }
    /// Keeping the `staying` outermost open phases would change nothing.
    bool is_unchanged(std::uint32_t staying) const { return staying == open_.size && staying == running_.size; }
    void watch_returns(Thread& thread, std::uint64_t now) noexcept;
    void ask_witnesses(Thread& thread, Found& loop) noexcept;
    void settle_around(Thread& thread, Found& inner, std::uint64_t now) noexcept;
    void begin_quick() noexcept;
    void end_quick() noexcept;
    static constexpr std::uint64_t calls_between_decisions = 256;
    bool is_decision_late(std::uint64_t now) const { return now - decided_at_ > 1000000000; }
    bool may_note(Thread& thread) const noexcept;
    std::uint32_t notes_allowed() const noexcept;
    void note(NodeId node, std::uint32_t common, std::uint32_t depth, const SegmentCounters& booked, Row& row) noexcept;
    bool note_call(Thread& thread, NodeId node, std::uintptr_t frame, std::uint64_t now, bool is_walked) noexcept;
    void begin_raw() noexcept;
    void read_notes(Thread& thread) noexcept;
    std::uint64_t time_since(const Thread& thread, std::uint64_t from) const noexcept;
    bool is_passing(std::uint64_t now) const noexcept;
    void pause_if_spent(Thread& thread, std::uint64_t now) noexcept;
    void pause(Thread& thread, std::uint64_t now, std::uint64_t cpu_now) noexcept;
    bool may_have_begun_in_pause(const CallTree& tree, const Found& loop) const noexcept;
    void settle_ended(Thread& thread, std::uint64_t now, std::uint64_t cpu_now) noexcept;
    void note_returns(Thread& thread, const SegmentCounters& booked, std::uint64_t now) noexcept;
    void begin_log(Thread& thread, std::uint64_t now) noexcept;
    bool is_log_whole(Thread& thread) const noexcept;
    void log_call(Thread& thread, NodeId node, std::uint32_t common, std::uint64_t now) noexcept;
    void log_call_beside(Thread& thread, NodeId node) noexcept;
    void log_returns(Thread& thread, std::uint32_t standing, std::uint64_t now) noexcept;
    void decide(Thread& thread, std::uint64_t now) noexcept;
    bool make_room(Thread& thread, std::uint64_t now) noexcept;
    bool settle_on(Thread& thread, const EventList& events, const LoopCandidate& candidate, Found& loop, bool is_by_entries = false) noexcept;
    std::uint32_t settle(Thread& thread, const EventList& events, const LoopCandidate& candidate, Found* found, std::uint32_t room) noexcept;
    std::uint32_t settle_if_certain(Thread& thread, const LoopCandidate& candidate) noexcept;
    std::uint32_t settle_here(Thread& thread, const EventList& events, Found* found, std::uint32_t count, std::uint32_t room) noexcept;
    bool is_inside_here(const Found& loop) const noexcept;
    void set_depths() noexcept;
    void put_inside(const CallTree& tree, Found& known, std::uint32_t first) noexcept;
    void add(Thread& thread, const Found* found, std::uint32_t count, std::uint64_t now, std::uint64_t cpu_now) noexcept;
    void replay(Thread& thread, std::uint64_t now, std::uint64_t cpu_now) noexcept;
    std::uint64_t cpu_at(std::uint64_t at, const SegmentCounters& counters, std::uint64_t away, std::uint64_t outside_wall,
                         std::uint64_t outside_cpu) const noexcept;
    static void name(Thread& thread, Found& loop) noexcept;
    void end(Thread& thread) noexcept;

    // What a noted call uses comes first, in as few lines of the cache as possible: the program has emptied it.
    struct Quick;
    struct QuickCall;
    bool is_on_ = true;
    bool has_begun_ = false;
    bool is_stopped_ = false;
    bool is_searching_ = true; // for loops that are not known yet
    bool is_logging_ = false;  // all events are in the log: it can be replayed
    bool has_paused_ = false;
    bool has_levels_ = false; // some loops lie in others
    std::uint32_t loop_count_ = 0;
    std::uint32_t notes_left_ = 0;          // notes_allowed(), less those that came since; 0: to be asked again
    std::uint32_t standing_ = 0;            // number of the last event's functions that have not returned, as far as the log knows
    Quick* quick_ = nullptr;                // pages of its own, as long as it searches
    const QuickCall* quick_call_ = nullptr; // begins, and functions have returned since the last one
    std::uint64_t calls_until_decision_ = 0;
    std::uint64_t decided_at_ = 0;
    std::uint64_t last_event_at_ = 0;
    std::uint64_t log_generation_ = 0; // of the rows; while it stays, all was booked in one segment
    SegmentCounters last_counters_;    // at the log's last event, or at the last one in `raw`
    SearchBudget budget_;
    EventLog log_;

    std::uint64_t window_began_at_ = 0;
    std::uint64_t wakes_at_ = never; // while it pauses, not before that time
    NodeId woken_by_ = 0;            // the first call after the last pause; 0 if there was none yet
    NodeId logged_ = 0;              // by the last begin_call(); 0 if none
    std::uint64_t searched_ns_ = 0;
    std::uint64_t calls_ = 0;
    Nest running_; // loops that go on with their next passes; their phases are open
    Nest open_;    // loops whose phases are open
    Found loops_[most_loops];
    Found fresh_[most_loops];         // buffer for settling: the thread's stack may be small
    std::uint32_t loops_version_ = 1; // another one whenever a loop is found, or begins elsewhere
    Staying staying_[most_staying];   // by number of the node
    Entries around_;                  // a loop around around_inner_, which was left, has shown in its function
    Found* around_inner_ = nullptr;

    SitePath path_;
    LoopSearch search_;
    std::uint64_t calls_beside_ = 0; // of data types: they decide nothing
    LoopCandidate refused_;          // the last one without a start: trying again costs a reading of the whole log
    DoubtedLoops doubted_;
    std::uint64_t calls_at_window_ = 0; // when the last loop was found, or the last pause was over

    // The state at the beginning of the log, and what comes after its last event.
    EventLog::Position log_whole_from_; // what comes before lacks values: a loop ran in between
    std::uint64_t log_began_at_ = 0;
    std::uint64_t log_cpu_start_ = 0;
    SegmentCounters log_counters_;
    LoggedValues values_{log_};
    LoggedReturns returns_;
    std::uint64_t ticks_[RawPath::capacity]; // when functions returned, by frame

    // Calls until a loop is found: they are only noted, and examined together (think()).
    static constexpr std::size_t enough_notes = 4096; // bytes, of some 40 calls
    static constexpr std::uint64_t learned = std::uint64_t{1} << 63;
    struct QuickCall {
        std::uint64_t number = 0;
        std::uint64_t generation = 0; // of its row
        NodeId outer = no_node;       // of the call site that has called the function that makes this call
        std::uint32_t depth = 0;      // functions on its path
        FollowedPath path;            // empty if its frames are not known
    };
    struct Quick {
        static constexpr std::uint32_t most = 512;
        OwnCost cost;
        std::uint64_t search_ns = 100; // what the search takes of a noted call
        RawLog raw;
        QuickCall call[most]; // by number
    };
    std::uint64_t numbers_ = 0;
    SegmentCounters raw_from_; // at the event before the first of `raw`
};

[[gnu::cold, gnu::noinline]] void follow_returns(Thread& thread) noexcept;

/// Before an event other than an MPI call is booked: LoopWatch::follow_returns() if functions have returned.
inline void see_returns(Thread& thread) noexcept {
    if (PathTracker::has_returned()) [[unlikely]]
        follow_returns(thread);
}

} // namespace libprofile
