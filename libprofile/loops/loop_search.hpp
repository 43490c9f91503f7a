// Finds loops in the stream of a thread's MPI calls while it runs: functions that stay on the stack and enter one call site repeatedly.
//
// Contract: belongs to one thread, used with its in-tool flag set; async-signal-safe, allocates nothing, integers only. Bounded: it follows the
// outermost `levels` functions of a call path with `children` call sites each.
//
// An event is the call path of an MPI call, and the number of its functions, from the outermost, that have not returned since the event before.
// The innermost of these has entered a call site; all further ones are new activations. Each activation on the stack has a table of the call
// sites it has entered, how often and when. The table goes when the function returns, unless it shows a loop.
// A loop's passes share the time. A command interpreter has no such passes: nearly all its entries are short, and one is the program. So the number
// of passes is weighed by (sum of durations)^2 / sum of squares.
#pragma once

#include "libprofile/loops/recursion.hpp"

#include <cstdint>

namespace libprofile {

/// The entries of one call site during one or several activations of its function. Times are in ns and in MPI calls.
struct Entries {
    using Square [[gnu::aligned(8)]] = unsigned __int128;

    NodeId site = 0;
    std::uint32_t count = 0;
    std::uint64_t first_at = 0;
    std::uint64_t last_at = 0;
    std::uint32_t first_call = 0;
    std::uint32_t last_call = 0;
    Square squares = 0;            // of the times between them
    std::uint64_t apart_ns = 0;    // between the activations; no time of passes
    std::uint32_t activations = 0; // of the function

    void begin(NodeId entered, std::uint64_t at, std::uint32_t call) { *this = {entered, 1, at, at, call, call, 0, 0, 1}; }
    void add(std::uint64_t at, std::uint32_t call) {
        const std::uint64_t gap = at - last_at;
        squares += square(gap);
        last_at = at;
        last_call = call;
        ++count;
    }
    /// Counts an entry in another activation.
    void resume(std::uint64_t at, std::uint32_t call) {
        apart_ns += at - last_at;
        last_at = at;
        last_call = call;
        ++count;
        ++activations;
    }
    /// Adds the entries of a later activation.
    void append(const Entries& later) {
        apart_ns += later.first_at - last_at + later.apart_ns;
        last_at = later.last_at;
        last_call = later.last_call;
        count += later.count;
        activations += later.activations;
        squares += later.squares;
    }
    std::uint64_t span() const { return last_at - first_at - apart_ns; }
    /// How many times the same activation entered it again.
    std::uint32_t repeats() const { return count - activations; }
    /// Shorter passes are no iterations: closing one takes a few microseconds.
    static constexpr std::uint64_t shortest_pass_ns = 30000;
    /// Whether there are at least so many passes of comparable length.
    bool are_passes(std::uint32_t least) const { return are_long_enough() && share_time(least); }
    bool are_long_enough() const { return span() >= repeats() * shortest_pass_ns; }
    /// Of a thousand passes, one that was disturbed may have most of the time.
    bool are_too_short(std::uint32_t least) const { return !are_long_enough() && (repeats() >= 1000 || share_time(least)); }
    bool share_time(std::uint32_t least) const { return repeats() >= least && square(span()) >= squares * least; }
    /// Whether the last pass is no more than a few passes ago, by time or by calls. Calls do not depend on a processor that pauses.
    bool go_on(std::uint64_t now) const { return now - last_at <= span() / count * most_absent; }
    bool go_on_by_calls(std::uint32_t call) const { return call - last_call <= ((last_call - first_call) / count + 1) * most_absent; }

  private:
    static constexpr std::uint32_t most_absent = 8; // passes
    static Square square(std::uint64_t value) { return static_cast<Square>(value) * value; }
};

/// Entries during several activations, each with a number.
struct CountedEntries : Entries {
    std::uint64_t activation = 0; // of the last entry
    void enter(NodeId entered, std::uint64_t at, std::uint64_t by) {
        if (count == 0)
            begin(entered, at, 0);
        else if (activation == by)
            add(at, 0);
        else
            resume(at, 0);
        activation = by;
    }
};

/// A loop as seen from outside.
struct LoopCandidate {
    NodeId caller = 0;       // call path of the loop's function
    std::uint32_t level = 0; // of that function, 1: the outermost
    Entries entries;
    bool is_recursion = false; // the function calls itself from that call site for its next pass
    bool is_cut_short = false; // later calls lay too deep in the stack
};
/// Whether `loop` may contain the one at `level`. Passes of a recursion may contain loops of its own function.
template <class AnyLoop> bool may_be_around(const AnyLoop& loop, std::uint32_t level) {
    return level > loop.level || (loop.is_recursion && level == loop.level);
}

class LoopSearch {
  public:
    static constexpr std::uint32_t levels = 128; // loops of functions further inside are not seen
    static constexpr std::uint32_t children = 40;
    static constexpr std::uint32_t most_candidates = 16;
    static constexpr std::uint32_t least_passes = 5;

    void start(std::uint64_t now) noexcept;
    /// An MPI call on `path` begins at `at`; `common` as in LoggedEvent.
    void event(const CallTree& tree, const SitePath& path, std::uint32_t common, std::uint64_t at) noexcept;

    /// A call lies so deep in the stack that its path is unknown.
    void miss_event() noexcept { is_cut_short_ = recursion_.level != 0; }
    /// No events come from `now` on until go_on(). For loops that is as if their functions had returned meanwhile.
    void pause(std::uint64_t now) noexcept;
    void go_on(std::uint64_t now) noexcept { apart_ns_ += now - paused_at_; }

    /// Finds loops that share most of the time until `now`, at most `most`, outermost first, none inside another. Returns their number.
    std::uint32_t find(std::uint64_t now, LoopCandidate* found, std::uint32_t most, std::uint64_t covered = 0) const noexcept;
    enum class Measure : std::uint8_t { Time, Calls };
    /// Finds the outermost loop of at least so many passes that goes on now, by the time or also by the calls. Returns false if there is none.
    bool find_running(std::uint64_t now, LoopCandidate& found, std::uint32_t least = least_passes, Measure measure = Measure::Time) const noexcept;

    /// Finds the outermost loop that has a quarter of the time until the last call, and passes too short to be iterations. Returns false if there is none.
    bool find_short(LoopCandidate& found) const noexcept;

    std::uint64_t began_at() const { return began_at_; }
    /// Returns the entries of a call site since the search began, count 0 if there were none. The function at `level` is on the stack.
    Entries entries_of(NodeId caller, std::uint32_t level, NodeId site) const noexcept;

  private:
    struct Activation {
        NodeId caller = 0;
        std::uint32_t used = 0;
        std::uint64_t began_at = 0; // its first call
        Entries entries[children];
        std::uint32_t first_call = 0;
        void enter(NodeId site, std::uint64_t at, std::uint32_t call) noexcept;
        /// Whether no call site was entered for the first time since the loop's last pass; one would have left the loop.
        bool is_in(const Entries& loop) const noexcept;
    };
    void end(std::uint32_t level) noexcept;
    void end_recursion() noexcept;
    std::uint32_t ended_at(const Activation& activation, std::uint32_t level, NodeId site) const noexcept;
    template <class Visit> void for_each_loop(std::uint32_t level, Visit visit) const noexcept;
    void follow_recursion(const CallTree& tree, const SitePath& path, std::uint32_t common, std::uint64_t at) noexcept;
    /// The recursion as a loop. Has too few entries if it is none.
    LoopCandidate recursion() const noexcept { return {recursion_.caller, recursion_.level, is_tree_walk_ ? Entries() : depths_, true, is_cut_short_}; }
    static void keep(LoopCandidate* kept, std::uint32_t& count, std::uint32_t most, const LoopCandidate& candidate) noexcept;

    Activation activations_[levels]; // of levels 1 ...
    std::uint32_t depth_ = 0;
    std::uint32_t calls_ = 0;
    std::uint64_t began_at_ = 0;
    Recursion recursion_;       // the outermost on the stack
    Entries depths_;            // its activations
    bool is_tree_walk_ = false; // one activation returned before the outermost, or made no call
    bool is_cut_short_ = false;
    LoopCandidate ended_[most_candidates]; // of functions that have returned; all calls of one function make one candidate
    std::uint32_t ended_count_ = 0;
    LoopCandidate short_; // of returned functions, the longest with passes that are too short
    std::uint64_t last_at_ = 0;
    std::uint64_t apart_ns_ = 0; // all pauses
    std::uint64_t paused_at_ = 0;
};

} // namespace libprofile
