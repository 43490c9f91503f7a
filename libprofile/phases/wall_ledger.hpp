// The wall time of one thread. It is cut into segments, at least where the thread's phase changes; in each segment
//     wall = MPI events + pauses + libprofile + on-CPU compute + off CPU      exactly, in integer ns.
// Contract: belongs to one thread's phase stack, used with the in-tool flag set; async-signal-safe, allocates nothing.
#pragma once

#include "libprofile/phases/poll_run.hpp"
#include "libprofile/phases/segment.hpp"

#include <cstdint>

namespace libprofile {

class WallLedger {
  public:
    /// A segment that has ended.
    struct Segment {
        std::uint64_t wall_ns = 0;
        std::uint64_t outside_ns = 0; // outside events and outside libprofile
        std::uint64_t cpu_ns = 0;     // in the same time; may be more than that by clock skew
        std::uint64_t overhead_ns = 0;
        std::uint64_t away_ns = 0; // of outside_ns: off the processor, and booked where that was
    };

    /// The first segment begins: of the thread, or of another one that reuses its memory.
    void start(std::uint64_t now, std::uint64_t cpu_now) noexcept {
        start_ = now;
        cpu_start_ = cpu_now;
        events_ns_ = asleep_ns_ = overhead_ns_ = away_ns_ = 0;
        is_paused_ = false;
        polls_.end();
        see(now, cpu_now);
    }

    /// Books exclusive time of an event that has just ended, and the CPU time it used.
    void book_event(std::uint64_t wall_ns, std::uint64_t cpu_ns) noexcept {
        events_ns_ += wall_ns;
        if (cpu_ns != wall_ns) [[unlikely]]
            asleep_ns_ += wall_ns - cpu_ns;
    }
    /// Books time spent inside libprofile.
    void book_overhead(std::uint64_t ns) noexcept { overhead_ns_ += ns; }

    /// Time of events, pauses and libprofile since the thread began: only grows, but for go_back(). now() less that is a clock that
    /// stands still meanwhile.
    std::uint64_t booked_ns() const { return closed_ns_ + events_ns_ + overhead_ns_; }
    /// What was booked in the running segment.
    SegmentCounters booked() const { return {events_ns_, asleep_ns_, overhead_ns_}; }
    /// Goes back to the moment when `counters` were booked in this segment, for iterations that are found when they are over
    /// (LoopWatch::replay()). The caller takes the values of the events since then out of the rows, too, and books all of it again.
    void go_back(const SegmentCounters& counters) noexcept {
        events_ns_ = counters.events_ns;
        asleep_ns_ = counters.asleep_ns;
        overhead_ns_ = counters.overhead_ns;
    }
    void book(const SegmentCounters& counters) noexcept {
        SegmentCounters sum = booked();
        go_back(sum += counters);
    }
    std::uint64_t began_at() const { return start_; }
    /// The running segment cannot end before this: what is booked in it already.
    std::uint64_t earliest_end() const {
        const std::uint64_t booked = start_ + events_ns_ + away_ns_;
        return is_paused_ ? pause_start_ : away_ns_ != 0 && seen_at_ > booked ? seen_at_ : booked;
    }

    /// Outside events. Returns how long the thread was off the processor, and outside events, since the last look or since the segment began; 0 if
    /// that is less than `least`.
    struct Absence {
        std::uint64_t ns = 0;
        std::uint64_t since = 0; // it lies between this time and now
    };
    Absence look(std::uint64_t now, std::uint64_t cpu_now, std::uint64_t least) noexcept;
    /// Books so much of that time as off the processor at a known place. To take it back, give a negative number modulo 2^64.
    void book_away(std::uint64_t ns) noexcept { away_ns_ += ns; }

    /// Unsuccessful polls that follow each other; polls().site is nullptr where there is no run.
    PollRun& polls() { return polls_; }
    const PollRun& polls() const { return polls_; }
    /// Books the time of the polls of a run that were not timed, and ends the run.
    void end_polls(std::uint64_t now) noexcept;

    /// Nothing may be booked from `now` on.
    void pause(std::uint64_t now, std::uint64_t cpu_now) noexcept;
    bool is_paused() const { return is_paused_; }
    /// Books the running pause as an event until `now`, from where it goes on. Returns its wall time.
    std::uint64_t book_pause(std::uint64_t now, std::uint64_t cpu_now) noexcept;
    void resume() noexcept { is_paused_ = false; }

    /// Ends the segment, after end_polls() and book_pause(), and begins the next.
    Segment cut(std::uint64_t now, std::uint64_t cpu_now) noexcept;

  private:
    std::uint64_t away_since_look(std::uint64_t now, std::uint64_t cpu_now) const noexcept;
    void see(std::uint64_t now, std::uint64_t cpu_now) noexcept {
        seen_at_ = now;
        seen_cpu_ = cpu_now;
        seen_ = booked();
    }

    // What every MPI call uses comes first (thread/thread.hpp), as far as the first member of polls_.
    std::uint64_t events_ns_ = 0;
    std::uint64_t overhead_ns_ = 0;
    bool is_paused_ = false;
    PollRun polls_;

    std::uint64_t start_ = 0;
    std::uint64_t cpu_start_ = 0;
    std::uint64_t asleep_ns_ = 0; // of events_ns_, without CPU time
    std::uint64_t pause_start_ = 0;
    std::uint64_t pause_cpu_start_ = 0;
    std::uint64_t away_ns_ = 0;
    // At the last look.
    std::uint64_t seen_at_ = 0;
    std::uint64_t seen_cpu_ = 0;
    SegmentCounters seen_;
    std::uint64_t closed_ns_ = 0; // booked in segments that are over
};

} // namespace libprofile
