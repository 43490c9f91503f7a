#include "libprofile/phases/wall_ledger.hpp"

namespace libprofile {

void WallLedger::end_polls(std::uint64_t now) noexcept {
    if (polls_.site == nullptr) return;
    polls_.end();
    const std::uint64_t calls = polls_.calls_without_time();
    if (calls == 0) return;
    const std::uint64_t left = polls_.time_left(now, events_ns_ + overhead_ns_);
    const std::uint64_t wanted = polls_.estimate();
    const std::uint64_t wall = wanted < left ? wanted : left;
    const std::uint64_t own = polls_.own_estimate();
    (*polls_.row)[Metric::Time] += wall;
    (*polls_.row)[Metric::TimedTogether] += calls;
    book_event(wall, wall);
    book_overhead(own < left - wall ? own : left - wall);
}

WallLedger::Absence WallLedger::look(std::uint64_t now, std::uint64_t cpu_now, std::uint64_t least) noexcept {
    std::uint64_t away = away_since_look(now, cpu_now);
    if (away >= least && polls_.site != nullptr) { // nothing of it may count as their time later
        end_polls(now);
        away = away_since_look(now, cpu_now);
    }
    const Absence absence = {away < least ? 0 : away, seen_at_};
    see(now, cpu_now);
    return absence;
}

std::uint64_t WallLedger::away_since_look(std::uint64_t now, std::uint64_t cpu_now) const noexcept {
    const SegmentCounters inside = booked() - seen_;
    const std::uint64_t wall = now > seen_at_ ? now - seen_at_ : 0, cpu = cpu_now > seen_cpu_ ? cpu_now - seen_cpu_ : 0;
    const std::uint64_t outside = wall > inside.wall_ns() ? wall - inside.wall_ns() : 0;
    const std::uint64_t own = cpu > inside.cpu_ns() ? cpu - inside.cpu_ns() : 0;
    return outside > own ? outside - own : 0;
}

void WallLedger::pause(std::uint64_t now, std::uint64_t cpu_now) noexcept {
    end_polls(now);
    is_paused_ = true;
    pause_start_ = now;
    pause_cpu_start_ = cpu_now;
}

/// The CPU time of a pause is not held to its wall time: it is of the clock that the segment's is of, so what is taken from that is what is
/// in it.
std::uint64_t WallLedger::book_pause(std::uint64_t now, std::uint64_t cpu_now) noexcept {
    const std::uint64_t wall = now - pause_start_;
    const std::uint64_t cpu = cpu_now > pause_cpu_start_ ? cpu_now - pause_cpu_start_ : 0;
    book_event(wall, cpu);
    pause_start_ = now;
    pause_cpu_start_ = cpu_now;
    return wall;
}

WallLedger::Segment WallLedger::cut(std::uint64_t now, std::uint64_t cpu_now) noexcept {
    Segment ended;
    ended.wall_ns = now - start_;
    // The events are parts of the segment; our own time around them may be an estimate, which must not exceed the rest.
    const std::uint64_t booked = events_ns_ + away_ns_, rest = ended.wall_ns > booked ? ended.wall_ns - booked : 0;
    if (overhead_ns_ > rest) overhead_ns_ = rest;
    const std::uint64_t inside = events_ns_ + overhead_ns_;
    const std::uint64_t cpu = cpu_now > cpu_start_ ? cpu_now - cpu_start_ : 0;
    const std::uint64_t cpu_inside = inside - asleep_ns_;
    ended.outside_ns = ended.wall_ns - inside;
    ended.cpu_ns = cpu > cpu_inside ? cpu - cpu_inside : 0;
    ended.overhead_ns = overhead_ns_;
    ended.away_ns = away_ns_;
    closed_ns_ += inside;
    start_ = now;
    cpu_start_ = cpu_now;
    events_ns_ = asleep_ns_ = overhead_ns_ = away_ns_ = 0;
    see(now, cpu_now);
    return ended;
}

} // namespace libprofile
