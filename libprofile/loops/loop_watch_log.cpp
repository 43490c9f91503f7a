// The part of a LoopWatch that logs events during the search, and cuts the passes of a found loop out of the log.
#include "libprofile/loops/loop_watch.hpp"

#include "libprofile/thread/thread.hpp"

#include <algorithm>

namespace libprofile {

namespace {

std::uint64_t log_limit() { return memory_quota.limit() / 64; }

} // namespace

void LoopWatch::begin_log(Thread& thread, std::uint64_t now) noexcept {
    // Events from before the loop ran still tell of loops around it.
    if (loop_count_ == 0 || log_.is_nearly_full()) log_.start(log_limit(), now);
    log_whole_from_ = log_.end();
    log_generation_ = thread.phases.row_generation();
    log_began_at_ = now;
    log_cpu_start_ = thread_cpu_time();
    log_counters_ = last_counters_ = thread.phases.time().booked();
    values_.forget();
    is_logging_ = true;
}

bool LoopWatch::is_log_whole(Thread& thread) const noexcept {
    return is_logging_ && !log_.is_full() && thread.phases.row_generation() == log_generation_ && thread.phases.is_outside();
}

void LoopWatch::begin_nested_call(Thread& thread, NodeId node, std::uint32_t level) noexcept {
    if (!is_logging_) return;
    think(thread);
    if (level > LoggedValues::most_levels || !is_log_whole(thread)) return interrupt(thread);
    values_.begin_nested(thread.phases.row(node), level);
}

void LoopWatch::log_call(Thread& thread, NodeId node, std::uint32_t common, std::uint64_t now) noexcept {
    thread.phases.time().end_polls(now);
    if (running_.size == 0 && !is_log_whole(thread))
        begin_log(thread, now);
    else if (running_.size == 0)
        values_.write();
    const SegmentCounters counters = thread.phases.time().booked();
    log_.add_event({node, common, now, counters - last_counters_});
    last_counters_ = counters;
    last_event_at_ = now;
    if (running_.size != 0) return;
    values_.begin(thread.phases.row(node));
    standing_ = path_.size;
    logged_ = node;
}

/// Return times matter if much time passed outside calls: a part of it may belong to a loop in the function, the rest to one around it.
void LoopWatch::log_returns(Thread& thread, std::uint32_t standing, std::uint64_t now) noexcept {
    if (!is_log_whole(thread) || standing >= standing_) return;
    thread.phases.time().end_polls(now);
    const SegmentCounters counters = thread.phases.time().booked();
    const SegmentCounters since = counters - last_counters_;
    if (now - log_.end().time < since.wall_ns() + least_outside_ns) return;
    values_.write();
    returns_ = {since, standing + 1, std::min(standing_ - standing, LoggedReturns::most), {}};
    for (std::uint32_t i = 0; i < returns_.count; ++i) returns_.at[i] = thread.paths.returned_at(returns_.first + i, now);
    log_.add_returns(returns_);
    last_counters_ = counters;
    standing_ = standing;
}

/// Logs its values only. Begins no log.
void LoopWatch::log_call_beside(Thread& thread, NodeId node) noexcept {
    if (!is_log_whole(thread)) return;
    if (thread.phases.time().polls().site != nullptr) thread.phases.time().end_polls(session_clock.now());
    values_.write();
    values_.begin(thread.phases.row(node));
}

void LoopWatch::add_overhead(Thread& thread, std::uint64_t ns) noexcept {
    if (!is_logging_) return;
    think(thread);
    const EventLog::Cell cell = {static_cast<std::uint32_t>(Metric::Time), ns};
    log_.add_values(thread.tree.overhead(), &cell, 1);
}

void LoopWatch::was_away(Thread& thread, NodeId off_cpu, std::uint64_t ns, std::uint64_t since) noexcept {
    if (!is_logging_) return;
    think(thread);
    log_.add_away(off_cpu, {ns, since > log_began_at_ ? since - log_began_at_ : 0});
}

void LoopWatch::interrupt(Thread& thread) noexcept {
    think(thread);
    notes_left_ = 0;
    is_logging_ = false;
    values_.forget();
}

/// Returns the thread's CPU time at a moment in the log, until when it was known to be off the processor for `away` ns. CPU time used outside events is
/// spread evenly over the other time outside events.
std::uint64_t LoopWatch::cpu_at(std::uint64_t at, const SegmentCounters& counters, std::uint64_t away, std::uint64_t outside_wall,
                                std::uint64_t outside_cpu) const noexcept {
    SegmentCounters inside = counters - log_counters_;
    inside += {away, away, 0};
    const std::uint64_t wall = at - log_began_at_;
    const std::uint64_t outside = wall > inside.wall_ns() ? wall - inside.wall_ns() : 0;
    const std::uint64_t share = outside_wall == 0 ? 0 : static_cast<std::uint64_t>(static_cast<unsigned __int128>(outside_cpu) * outside / outside_wall);
    return log_cpu_start_ + inside.cpu_ns() + share;
}

/// Cuts the logged passes out of the values booked outside all phases.
void LoopWatch::replay(Thread& thread, std::uint64_t now, std::uint64_t cpu_now) noexcept {
    PhaseStack& phases = thread.phases;
    values_.write();
    const SegmentCounters booked = phases.time().booked();
    const SegmentCounters inside = booked - log_counters_;
    const std::uint64_t wall = now - log_began_at_;
    std::uint64_t outside_wall = wall > inside.wall_ns() ? wall - inside.wall_ns() : 0;
    const std::uint64_t used = cpu_now > log_cpu_start_ ? cpu_now - log_cpu_start_ : 0;
    const std::uint64_t outside_cpu = used > inside.cpu_ns() ? used - inside.cpu_ns() : 0;

    const auto apply = [&](EventLog::Reader& reader, LogRecord kind, bool adds) {
        const auto change = [adds](std::uint64_t& value, std::uint64_t by) { value = adds ? value + by : value - by; };
        if (kind == LogRecord::Sample) {
            const std::uint64_t sign = adds ? 1 : std::uint64_t{0} - 1;
            phases.book_samples(reader.node, sign * reader.count, sign * reader.weight);
            return;
        }
        Row& row = phases.row(reader.node);
        if (is_call(thread.tree[row.node].kind)) row.is_event = true;
        for (std::uint32_t i = 0; i < reader.count; ++i) {
            std::uint32_t metric = 0;
            std::uint64_t increment = 0;
            reader.value(metric, increment);
            change(metric == EventLog::chance_visits ? row.chance_visits : row[static_cast<Metric>(metric)], increment);
        }
    };

    const auto is_away = [&](const EventLog::Reader& reader, LogRecord kind) {
        return kind == LogRecord::Values && thread.tree[reader.node].kind == NodeKind::OffCpu;
    };

    SegmentCounters counters = log_counters_;
    SegmentCounters first;
    std::uint64_t away = 0;
    LogRecord kind{};
    bool has_pass = false;
    for (EventLog::Reader reader(log_, log_whole_from_); reader.next(kind);) {
        if (reader.are_returns(kind)) {
            reader.returns(returns_);
            counters += returns_.since;
            continue;
        }
        if (is_away(reader, kind)) {
            const std::uint64_t ns = reader.away().ns;
            away += ns;
            if (has_pass) phases.book_off_cpu_at(reader.node, std::uint64_t{0} - ns);
            continue;
        }
        if (kind != LogRecord::Event) {
            if (has_pass) apply(reader, kind, false);
            continue;
        }
        counters += reader.event.since;
        if (has_pass || !path_.find(thread.tree, reader.event.node)) continue;
        act(thread.tree, path_, reader.event.node, reader.event.common, reader.event.at);
        has_pass = running_.size != 0;
        first = counters;
    }
    running_.cut(0);
    if (!has_pass) return;
    for (std::uint32_t i = 0; i < loop_count_; ++i) loops_[i].recursion.forget();

    IterationOrder* const order = phases.hooks().order;
    if (order != nullptr) order->follow(false);
    EventTrace* const events = phases.hooks().events; // it has cut this time into windows already
    phases.hooks().events = nullptr;
    phases.iterations().miss_iterations(); // an existing snapshot has these values already, in the rest
    phases.time().go_back(first);
    counters = log_counters_;
    outside_wall -= std::min(away, outside_wall);
    away = 0;
    std::uint64_t cpu_then = 0;
    // An absence is known when it is over only.
    const auto cpu_until = [&](std::uint64_t at) {
        cpu_then = std::max(cpu_then, cpu_at(at, counters, away, outside_wall, outside_cpu));
        return cpu_then;
    };
    const bool has_recursion = std::any_of(loops_, loops_ + loop_count_, [](const Found& loop) { return loop.is_recursion; });
    bool is_in = false;
    for (EventLog::Reader reader(log_, log_whole_from_); reader.next(kind);) {
        if (reader.are_returns(kind)) {
            reader.returns(returns_);
            counters += returns_.since;
            if (is_in) phases.time().book(returns_.since);
            leave_returned(
                phases, returns_.first - 1, [this](std::uint32_t level) { return returns_.of(level); }, cpu_until);
            continue;
        }
        if (is_away(reader, kind)) {
            const EventLog::Away absence = reader.away();
            away += absence.ns;
            // Else a part of it lies in an earlier pass: it stays off the processor at an unknown place.
            if (is_in && log_began_at_ + absence.since >= phases.time().began_at()) phases.book_off_cpu_at(reader.node, absence.ns);
            continue;
        }
        if (kind != LogRecord::Event) {
            if (is_in) apply(reader, kind, true);
            continue;
        }
        const LoggedEvent& event = reader.event;
        counters += event.since;
        if (is_in) phases.time().book(event.since);
        // In the functions of the running passes, a call that stays in them once always does; recursions learn from each call. (So the CPU time is
        // asked for where phases change only.)
        if (!has_recursion && running_.size != 0 && event.common > loops_[running_.innermost()].level && known_staying(event.node) != nullptr) continue;
        const bool is_path = path_.find(thread.tree, event.node);
        const std::uint32_t staying = is_path ? act(thread.tree, path_, event.node, event.common, event.at) : leave_recursion();
        is_in = is_in || running_.size != 0;
        if (!is_unchanged(staying))
            perform(thread, staying, event.at, cpu_until(event.at));
        else if (std::uint32_t while_stands = 0; is_path && running_.size != 0 && stays_in_passes(thread.tree, event.node, while_stands))
            keep_staying(event.node, while_stands);
    }
    phases.time().book(booked - counters);
    phases.time().look(now, cpu_now, never); // what was looked at before lies in passes that are over
    if (order != nullptr) order->follow(true);
    phases.hooks().events = events;
}

} // namespace libprofile
