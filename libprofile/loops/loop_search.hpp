// Finds loops in the stream of a thread's MPI calls while it runs: functions that stay on the stack while one of their call sites is
// entered again and again.
//
// Contract: belongs to one thread, used with its in-tool flag set; async-signal-safe, allocates nothing, integers only; bounded: the
// outermost `levels` functions of a call path with `children` call sites each.
//
// An event is the call path of an MPI call and the number of its functions, from the outermost, that had not returned since the
// event before (their activations are the same). The innermost of these has entered a call site, all further ones are new. So for
// every activation that is on the stack there is a table of the call sites that it has entered, how often and when; when it returns,
// its table goes, unless it shows a loop. What is looked for are passes that share the time: of the entries of a command interpreter
// nearly all are short, and one is the program. Their number is weighed by (sum of durations)^2 / sum of squares.
#pragma once

#include "libprofile/loops/recursion.hpp"

#include <cstdint>

namespace libprofile {

/// The entries of one call site during one activation of its function, or during several. Moments are in ns and in MPI calls.
struct Entries {
    using Square [[gnu::aligned(8)]] = unsigned __int128;

    NodeId site = 0;
    std::uint32_t count = 0;
    std::uint64_t first_at = 0;
    std::uint64_t last_at = 0;
    std::uint32_t first_call = 0;
    std::uint32_t last_call = 0;
    Square squares = 0;            // of the times between them
    std::uint64_t apart_ns = 0;    // between the activations: that is no time of passes
    std::uint32_t activations = 0; // of the function

    void begin(NodeId entered, std::uint64_t at, std::uint32_t call) { *this = {entered, 1, at, at, call, call, 0, 0, 1}; }
    void add(std::uint64_t at, std::uint32_t call) {
        const std::uint64_t gap = at - last_at;
        squares += square(gap);
        last_at = at;
        last_call = call;
        ++count;
    }
    /// In another activation.
    void resume(std::uint64_t at, std::uint32_t call) {
        apart_ns += at - last_at;
        last_at = at;
        last_call = call;
        ++count;
        ++activations;
    }
    /// Those of a later activation.
    void append(const Entries& later) {
        apart_ns += later.first_at - last_at + later.apart_ns;
        last_at = later.last_at;
        last_call = later.last_call;
        count += later.count;
        activations += later.activations;
        squares += later.squares;
    }
    std::uint64_t span() const { return last_at - first_at - apart_ns; }
    /// So many times it was entered again by the same activation.
    std::uint32_t repeats() const { return count - activations; }
    /// Shorter passes are no iterations: closing one takes some microseconds.
    static constexpr std::uint64_t shortest_pass_ns = 30000;
    /// At least so many passes that are not much shorter than others.
    bool are_passes(std::uint32_t least) const { return are_long_enough() && share_time(least); }
    bool are_long_enough() const { return span() >= repeats() * shortest_pass_ns; }
    /// Of a thousand of them one that was disturbed may have most of the time.
    bool are_too_short(std::uint32_t least) const { return !are_long_enough() && (repeats() >= 1000 || share_time(least)); }
    bool share_time(std::uint32_t least) const { return repeats() >= least && square(span()) >= squares * least; }
    /// Nothing has happened for no longer than a few passes together: of their time, or of their calls, which a processor that pauses does
    /// not change.
    bool go_on(std::uint64_t now) const { return now - last_at <= span() / count * most_absent; }
    bool go_on_by_calls(std::uint32_t call) const { return call - last_call <= ((last_call - first_call) / count + 1) * most_absent; }

  private:
    static constexpr std::uint32_t most_absent = 8; // passes
    static Square square(std::uint64_t value) { return static_cast<Square>(value) * value; }
};

/// Entries during several activations, of which each has a number.
struct CountedEntries : Entries {
    std::uint64_t activation = 0; // at the last one
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

/// A loop as it shows from outside.
struct LoopCandidate {
    NodeId caller = 0;       // call path of the loop's function
    std::uint32_t level = 0; // of that function, 1: the outermost
    Entries entries;
    bool is_recursion = false; // the function calls itself from that call site for its next pass
    bool is_cut_short = false; // later calls lay too deep in the stack
};
/// Whether `loop` may have the one at `level` inside. Passes of a recursion have loops of its own function inside.
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

    /// A call lies so deep in the stack that its path is not known.
    void miss_event() noexcept { is_cut_short_ = recursion_.level != 0; }

    /// The loops that share most of the time until `now`, outermost first, at most `most`; none inside another. Returns their number.
    std::uint32_t find(std::uint64_t now, LoopCandidate* found, std::uint32_t most) const noexcept;
    enum class Measure : std::uint8_t { Time, Calls };
    /// The outermost loop of at least so many passes that runs now: its last is not long ago, by the time, or else by the calls, too. False: none.
    bool find_running(std::uint64_t now, LoopCandidate& found, std::uint32_t least = least_passes, Measure measure = Measure::Time) const noexcept;

    /// The outermost loop that shares a quarter of the time until the last call or more, and whose passes are too short to be iterations. False: none.
    bool find_short(LoopCandidate& found) const noexcept;

    std::uint64_t began_at() const { return began_at_; }
    /// Those of a call site of the function at `level`, which is on the stack, since the search began; without any: count 0.
    Entries entries_of(NodeId caller, std::uint32_t level, NodeId site) const noexcept;

  private:
    struct Activation {
        NodeId caller = 0;
        std::uint32_t used = 0;
        std::uint64_t began_at = 0; // its first call
        Entries entries[children];
        std::uint32_t first_call = 0;
        void enter(NodeId site, std::uint64_t at, std::uint32_t call) noexcept;
        /// Since the last of these no call site was entered for the first time: then the loop would have been left.
        bool is_in(const Entries& loop) const noexcept;
    };
    void end(std::uint32_t level) noexcept;
    std::uint32_t ended_at(const Activation& activation, std::uint32_t level, NodeId site) const noexcept;
    template <class Visit> void for_each_loop(std::uint32_t level, Visit visit) const noexcept;
    void follow_recursion(const CallTree& tree, const SitePath& path, std::uint32_t common, std::uint64_t at) noexcept;
    /// The recursion as a loop; its entries are too few if it is none.
    LoopCandidate recursion() const noexcept { return {recursion_.caller, recursion_.level, is_tree_walk_ ? Entries() : depths_, true, is_cut_short_}; }
    static void keep(LoopCandidate* kept, std::uint32_t& count, std::uint32_t most, const LoopCandidate& candidate) noexcept;

    Activation activations_[levels]; // of levels 1 ...
    std::uint32_t depth_ = 0;
    std::uint32_t calls_ = 0;
    std::uint64_t began_at_ = 0;
    Recursion recursion_;       // the outermost that is on the stack
    Entries depths_;            // of it: activations
    bool is_tree_walk_ = false; // one of them has returned before the outermost, or made no call
    bool is_cut_short_ = false;
    LoopCandidate ended_[most_candidates]; // of functions that have returned; those of one function, however often it was called, are one
    std::uint32_t ended_count_ = 0;
    LoopCandidate short_; // the longest of those whose passes are too short, of a function that has returned
    std::uint64_t last_at_ = 0;
};

} // namespace libprofile
