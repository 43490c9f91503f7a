#include "libprofile/loops/loop_watch.hpp"

#include "libprofile/callpath/load_map.hpp"
#include "libprofile/counters/counting.hpp"
#include "libprofile/loops/boundary_choice.hpp"
#include "libprofile/loops/log_folding.hpp"
#include "libprofile/loops/other_sites.hpp"
#include "libprofile/output/checkpoint.hpp"
#include "libprofile/session/mpi_events.hpp"
#include "libprofile/session/thread.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <new>

namespace libprofile {

namespace {

constexpr std::uint64_t second = 1000000000;
constexpr std::uint64_t calls_between_decisions = 256;
constexpr std::uint64_t most_calls = 1600000; // without another loop: there is none

std::uint64_t log_limit() { return memory_quota.limit() / 64; }

/// Whether a loop that goes on may be taken for the time loop before the job is over. The longer one waits, the less likely it is
/// that one around it shows; but a job that is killed has its iterations from then on only.
bool has_lasted(const LoopCandidate& loop, std::uint64_t now, std::uint64_t searched_ns) {
    const std::uint64_t lasted = now - loop.entries.first_at;
    if (lasted < searched_ns / 4) return false;
    const std::uint32_t passes = loop.entries.count;
    return lasted >= (passes >= 64 ? 5 : passes >= 16 ? 20 : 60) * second;
}

} // namespace

LoopWatch* LoopWatch::create() noexcept {
    if (sizeof(LoopWatch) > memory_quota.limit() / 8) return nullptr;
    void* place = memory_quota.map((sizeof(LoopWatch) + 4095) & ~std::size_t{4095});
    return place == nullptr ? nullptr : new (place) LoopWatch();
}

void LoopWatch::name(Thread& thread, Found& loop) noexcept {
    char text[192];
    const Node& place = thread.tree[loop.place];
    if (place.kind == NodeKind::Frame) {
        const char* module = load_map[place.a].path;
        const char* slash = std::strrchr(module, '/');
        std::snprintf(text, sizeof text, "loop at %.128s+0x%llx", slash == nullptr ? module : slash + 1,
                      static_cast<unsigned long long>(place.b));
    } else {
        std::snprintf(text, sizeof text, "loop at 0x%llx", static_cast<unsigned long long>(place.b));
    }
    loop.phase = thread.arena.copy_text(text);
}

/// A pass of a known loop may begin with this call.
bool LoopWatch::may_begin_pass(const CallTree& tree, const SitePath& path, NodeId node) const noexcept {
    return std::any_of(loops_, loops_ + loop_count_, [&](const Found& loop) {
        return !loop.is_replaced && (loop.is_recursion ? loop.is_on(path) : loop.begins_pass(tree, path, node, 0));
    });
}

/// What a call means for the loops that are known.
LoopWatch::Act LoopWatch::act(const CallTree& tree, const SitePath& path, NodeId node, std::uint32_t common, std::uint64_t at) noexcept {
    const auto passes = [&](Found& loop) {
        if (loop.is_replaced || at < loop.known_from) return false;
        const bool begins = loop.begins_pass(tree, path, node, common);
        loop.note_entry(common, begins);
        if (loop.is_recursion && loop.is_on(path) && (begins || !loop.recursion.is_known())) loop.recursion.follow(tree, path, common < loop.level);
        return begins;
    };
    Act what = Act::None;
    if (running_ != none) {
        Found& loop = loops_[running_];
        if (passes(loop)) return Act::Pass;
        if (loop.is_recursion) {
            if (loop.recursion.is_innermost(path)) return Act::None;
        } else if (loop.is_on(path)) {
            const NodeId site = path.at(loop.level);
            if (loop.sites.is_full() || loop.sites.has(site)) return Act::None;
            const bool was_ambiguous = loop.is_ambiguous;
            if (const Entries* entries = enter_other_site(tree, loop, site, at, mpi_traits)) around_ = *entries;
            if (loop.is_ambiguous != was_ambiguous) want_checkpoint(); // live data say what was known then
        }
        what = Act::Leave;
        running_ = none;
    }
    for (std::uint32_t i = 0; i < loop_count_; ++i) {
        if (!passes(loops_[i])) continue;
        running_ = i;
        return Act::Pass;
    }
    return what;
}

/// A call lies too deep for its path to be known: of a recursion all further passes do.
LoopWatch::Act LoopWatch::leave_recursion() noexcept {
    if (running_ == none || !loops_[running_].is_recursion) return Act::None;
    running_ = none;
    return Act::Leave;
}

void LoopWatch::perform(Thread& thread, Act what, std::uint64_t now, std::uint64_t cpu_now) noexcept {
    if (what == Act::None) return;
    if (open_ != none && open_ == running_) ask_witnesses(thread, loops_[open_]);
    if (open_ != none && open_ != running_) thread.phases.end_if_open(PhaseKind::Iterations, loops_[open_].phase, now, cpu_now);
    open_ = running_;
    if (running_ == none) return;
    thread.phases.next_iteration(loops_[running_].phase, now, cpu_now);
    ++loops_[running_].iterations;
    loops_[running_].until = now;
}

/// What the call that begins at `now` means.
void LoopWatch::perform_now(Thread& thread, Act what, std::uint64_t now) noexcept {
    if (what == Act::None) return;
    const std::uint64_t cpu = thread_cpu_time();
    thread.mark_cpu(now, cpu);
    if (open_ == none && is_logging_) {
        values_.write();
        is_logging_ = false; // from here on the values belong to the loop
    }
    thread.place.look();
    count_until_now(thread);
    perform(thread, what, now, cpu);
    count_own(thread);
}

/// Ends the running pass, if there is one.
void LoopWatch::leave(Thread& thread, std::uint64_t now, std::uint64_t cpu_now) noexcept {
    running_ = none;
    perform(thread, Act::Leave, now, cpu_now);
}

/// At the end of a pass: whether its boundary was missed. Several witnesses from different places who say so are believed at once,
/// a single one when it says so again.
void LoopWatch::ask_witnesses(Thread& thread, Found& loop) noexcept {
    Accumulator& rows = thread.phases.top().rows;
    std::uint32_t agreeing = 0;
    Loop::Witness* best = nullptr;
    for (std::uint32_t i = 0; i < loop.witnesses; ++i) {
        Loop::Witness& witness = loop.witness[i];
        const Row* row = rows.find(witness.node);
        const std::uint64_t visits = row == nullptr ? 0 : (*row)[Metric::Visits];
        if (visits == 0) ++witness.absent;
        if (visits < 2) continue;
        ++witness.twice;
        ++agreeing;
        if (witness.absent == 0 && (best == nullptr || witness.twice > best->twice)) best = &witness;
    }
    SitePath path;
    if (best == nullptr || agreeing + best->twice < 3 || !path.find(thread.tree, best->node)) return;
    loop.boundary = best->node;
    loop.place = path.at(loop.level);
    loop.witnesses = 0; // nothing bears witness against it
    ++loop.moves;
    want_checkpoint();
}

/// A loop around `inner`, which has been left, has shown in its function.
void LoopWatch::settle_around(Thread& thread, Found& inner, std::uint64_t now) noexcept {
    Found outer;
    static_cast<Loop&>(outer) = loop_around(thread.tree, inner, around_, mpi_traits);
    around_ = {};
    if (loop_count_ == most_loops) return;
    name(thread, outer);
    if (outer.phase == nullptr) return;
    inner.is_replaced = true;
    add(thread, &outer, 1, now, thread_cpu_time());
    want_checkpoint();
}

bool LoopWatch::begin_call(Thread& thread, NodeId node, std::uintptr_t frame, std::uint64_t now) noexcept {
    if (!is_on_) return false;
    if (!has_begun_) {
        has_begun_ = true;
        search_.start(now);
        decided_at_ = now;
        calls_until_decision_ = calls_between_decisions;
    }
    if (is_beside(thread.tree[node])) {
        if (!is_searching_ || running_ != none) return false;
        log_call_beside(thread, node);
        return true;
    }
    if (!path_.find(thread.tree, node)) {
        const bool goes_on = running_ != none && !loops_[running_].is_recursion;
        if (running_ != none && !goes_on) loops_[running_].is_cut_short = true;
        perform_now(thread, leave_recursion(), now);
        if (goes_on || !is_searching_) return true;
        search_.miss_event();
        log_call(thread, node, 0, now);
        return true;
    }
    if (running_ != none && loops_[running_].stays_in_pass(thread.tree, path_, node)) return false;
    if (!is_searching_ && running_ == none && !may_begin_pass(thread.tree, path_, node)) return false;
    std::uint32_t common = path_.size;
    const std::uint64_t bounded = thread.paths.bounded_calls();
    if (!thread.paths.is_same_activation(node, frame)) thread.paths.at_followed_call(frame, common);
    if (common > path_.size) common = path_.size;
    if (running_ != none && loops_[running_].is_again_in_entry(path_, node, common) && thread.paths.bounded_calls() == bounded) return true;
    const std::uint32_t before = running_;
    around_ = {};
    const Act what = act(thread.tree, path_, node, common, now);
    perform_now(thread, what, now);
    if (around_.count != 0) {
        settle_around(thread, loops_[before], now);
        perform_now(thread, act(thread.tree, path_, node, common, now), now);
    }
    // Calls inside a loop that is known tell nothing of those around it, but that of a pass in a new activation of its function.
    const bool goes_on = before != none && running_ == before && common >= loops_[before].level;
    if (goes_on || !is_searching_) return true;
    search_.event(thread.tree, path_, common, now);
    ++calls_;
    log_call(thread, node, common, now);
    if (--calls_until_decision_ == 0 || now - decided_at_ > second || log_.is_nearly_full()) {
        count_until_now(thread);
        decide(thread, now);
        count_own(thread);
        decided_at_ = now;
        calls_until_decision_ = loop_count_ == 0 ? calls_between_decisions : calls_between_decisions / 16;
    }
    return true;
}

void LoopWatch::begin_log(Thread& thread, std::uint64_t now) noexcept {
    // What it has of the time before a loop ran still tells of loops around that one.
    if (loop_count_ == 0 || log_.is_nearly_full()) log_.start(log_limit(), now);
    log_whole_from_ = log_.end();
    log_generation_ = thread.phases.row_generation();
    log_began_at_ = now;
    log_cpu_start_ = thread_cpu_time();
    log_counters_ = last_counters_ = thread.phases.booked();
    values_.forget();
    is_logging_ = true;
}

bool LoopWatch::is_log_whole(Thread& thread) const noexcept {
    return is_logging_ && !log_.is_full() && thread.phases.row_generation() == log_generation_ && thread.phases.is_outside();
}

void LoopWatch::begin_nested_call(Thread& thread, NodeId node, std::uint32_t level) noexcept {
    if (!is_logging_) return;
    if (level != 1 || !is_log_whole(thread)) return interrupt();
    values_.begin_nested(thread.phases.row(node));
}

void LoopWatch::log_call(Thread& thread, NodeId node, std::uint32_t common, std::uint64_t now) noexcept {
    thread.phases.end_polls(now);
    if (running_ == none && !is_log_whole(thread))
        begin_log(thread, now);
    else if (running_ == none)
        values_.write();
    const SegmentCounters counters = thread.phases.booked();
    log_.add_event({node, common, now, counters - last_counters_});
    last_counters_ = counters;
    if (running_ != none) return;
    values_.begin(thread.phases.row(node));
}

/// Only its values. It begins no log.
void LoopWatch::log_call_beside(Thread& thread, NodeId node) noexcept {
    if (!is_log_whole(thread)) return;
    if (thread.phases.polls().site != nullptr) thread.phases.end_polls(session_clock.now());
    values_.write();
    values_.begin(thread.phases.row(node));
}

void LoopWatch::add_overhead(Thread& thread, std::uint64_t ns) noexcept {
    if (!is_logging_) return;
    log_.begin_values(thread.tree.overhead(), 1);
    log_.add_value(static_cast<std::uint32_t>(Metric::Time), ns);
}

void LoopWatch::interrupt() noexcept {
    is_logging_ = false;
    values_.forget();
}

bool LoopWatch::settle_on(Thread& thread, const LoopCandidate& candidate, Found& loop) noexcept {
    ExcludedCalls excluded;
    for (std::uint32_t i = 0; i < loop_count_; ++i)
        if (loops_[i].boundary != 0) excluded.add(loops_[i].boundary);
    loop = {};
    refused_ = candidate;
    if (candidate.is_recursion)
        loop.set_recursion(candidate);
    else if (!choose_boundary(log_, thread.tree, candidate, mpi_traits, excluded, loop))
        return false;
    // Of a recursion each pass has calls of its own: none of them may have been folded.
    loop.known_from = log_.known_from(loop.is_recursion ? ~0u : loop.level);
    name(thread, loop);
    return loop.phase != nullptr;
}

/// In the log that is nearly full. What has come back once may be a loop around those that have passes already.
bool LoopWatch::make_room(Thread& thread, std::uint64_t now) noexcept {
    LoopCandidate outermost;
    const bool is_there = search_.find_running(now, outermost, 1, LoopSearch::Measure::Calls);
    return fold(log_, thread.tree, is_there ? outermost.level : 1, log_whole_from_);
}

/// While the job goes on.
void LoopWatch::decide(Thread& thread, std::uint64_t now) noexcept {
    LoopCandidate candidate;
    const bool is_found = loop_count_ < most_loops && search_.find_running(now, candidate) &&
                          std::none_of(loops_, loops_ + loop_count_, [&](const Found& known) {
                              return known.caller == candidate.caller && known.level == candidate.level &&
                                     (known.sites.has(candidate.entries.site) || known.around.has(candidate.entries.site));
                          });
    const bool is_last = calls_ - calls_at_loop_ >= most_calls && running_ == none;
    const bool is_full = is_last || (log_.is_nearly_full() && !make_room(thread, now));
    const bool is_around = is_found && std::any_of(loops_, loops_ + loop_count_, [&](const Found& known) {
        return may_be_around(candidate, known.level) && now - candidate.entries.first_at >= (now - known.first_at) / 2;
    });
    const bool was_refused = refused_.caller == candidate.caller && refused_.entries.site == candidate.entries.site &&
                             candidate.entries.count / 2 < refused_.entries.count;
    const bool is_due = is_found && (is_full || (!was_refused && (is_around || has_lasted(candidate, now, now - search_.began_at()))));
    Found loop;
    if (is_due && settle_on(thread, candidate, loop)) {
        calls_at_loop_ = calls_;
        const std::uint64_t cpu = thread_cpu_time();
        thread.mark_cpu(now, cpu);
        add(thread, &loop, 1, now, cpu);
        want_checkpoint(); // readers of live data tell by the block of loops which are the same on all ranks
        return;
    }
    if (!is_full) return;
    is_logging_ = false;
    if (!is_last) return;
    if (loop_count_ == 0) return end();
    is_searching_ = false; // the loops that are known may come again, and are followed
    interrupt();
    log_.release();
}

/// Loops that were found; `found` in the order of time. What was counted until then has been booked: iterations that are found when they
/// are over have no counters of their own, since nobody read them then.
void LoopWatch::add(Thread& thread, const Found* found, std::uint32_t count, std::uint64_t now, std::uint64_t cpu_now) noexcept {
    for (std::uint32_t n = 0; n < count && loop_count_ < most_loops; ++n) {
        for (std::uint32_t i = 0; i < loop_count_; ++i)
            if (may_be_around(found[n], loops_[i].level) && loops_[i].last_at >= found[n].first_at) loops_[i].is_replaced = true;
        loops_[loop_count_] = found[n];
        loops_[loop_count_].is_late = !is_log_whole(thread);
        loops_[loop_count_].until = found[n].last_at;
        ++loop_count_;
    }
    if (open_ != none && loops_[open_].is_replaced) {
        leave(thread, now, cpu_now);
    } else if (open_ == none && is_log_whole(thread)) {
        replay(thread, now, cpu_now);
    }
    for (std::uint32_t i = 0; i < loop_count_; ++i)
        if (loops_[i].missed == 0 && loops_[i].passes > loops_[i].iterations + 1)
            loops_[i].missed = loops_[i].passes - loops_[i].iterations;
    interrupt();
    log_.release();
}

/// The thread's CPU time at a moment in the log: what was used outside events is spread evenly over the time outside events.
std::uint64_t LoopWatch::cpu_at(std::uint64_t at, const SegmentCounters& counters, std::uint64_t outside_wall,
                                std::uint64_t outside_cpu) const noexcept {
    const SegmentCounters inside = counters - log_counters_;
    const std::uint64_t wall = at - log_began_at_;
    const std::uint64_t outside = wall > inside.wall_ns() ? wall - inside.wall_ns() : 0;
    const std::uint64_t share =
        outside_wall == 0 ? 0 : static_cast<std::uint64_t>(static_cast<unsigned __int128>(outside_cpu) * outside / outside_wall);
    return log_cpu_start_ + inside.cpu_ns() + share;
}

/// Cuts the passes that are in the log out of what was booked outside all phases.
void LoopWatch::replay(Thread& thread, std::uint64_t now, std::uint64_t cpu_now) noexcept {
    PhaseStack& phases = thread.phases;
    values_.write();
    const SegmentCounters booked = phases.booked();
    const SegmentCounters inside = booked - log_counters_;
    const std::uint64_t wall = now - log_began_at_;
    const std::uint64_t outside_wall = wall > inside.wall_ns() ? wall - inside.wall_ns() : 0;
    const std::uint64_t used = cpu_now > log_cpu_start_ ? cpu_now - log_cpu_start_ : 0;
    const std::uint64_t outside_cpu = used > inside.cpu_ns() ? used - inside.cpu_ns() : 0;

    const auto apply = [&](EventLog::Reader& reader, LogRecord kind, bool adds) {
        const auto change = [adds](std::uint64_t& value, std::uint64_t by) { value = adds ? value + by : value - by; };
        Row& row = phases.row(reader.node);
        if (kind == LogRecord::Sample) {
            change(row[Metric::Samples], reader.count);
            change(row.weight, reader.weight);
            return;
        }
        if (is_call(thread.tree[row.node].kind)) row.is_event = true;
        for (std::uint32_t i = 0; i < reader.count; ++i) {
            std::uint32_t metric = 0;
            std::uint64_t increment = 0;
            reader.value(metric, increment);
            change(metric == EventLog::chance_visits ? row.chance_visits : row[static_cast<Metric>(metric)], increment);
        }
    };

    SegmentCounters counters = log_counters_;
    SegmentCounters first;
    LogRecord kind{};
    bool has_pass = false;
    for (EventLog::Reader reader(log_, log_whole_from_); reader.next(kind);) {
        if (kind != LogRecord::Event) {
            if (has_pass) apply(reader, kind, false);
            continue;
        }
        counters += reader.event.since;
        if (has_pass || !path_.find(thread.tree, reader.event.node)) continue;
        has_pass = act(thread.tree, path_, reader.event.node, reader.event.common, reader.event.at) == Act::Pass;
        first = counters;
    }
    running_ = none;
    if (!has_pass) return;
    for (std::uint32_t i = 0; i < loop_count_; ++i) loops_[i].recursion.forget();

    phases.miss_iterations(); // a snapshot that there is has these values already, in the rest
    phases.go_back(first);
    counters = log_counters_;
    bool is_in = false;
    for (EventLog::Reader reader(log_, log_whole_from_); reader.next(kind);) {
        if (kind != LogRecord::Event) {
            if (is_in) apply(reader, kind, true);
            continue;
        }
        const LoggedEvent& event = reader.event;
        counters += event.since;
        if (is_in) phases.book(event.since);
        const Act what = path_.find(thread.tree, event.node) ? act(thread.tree, path_, event.node, event.common, event.at) : leave_recursion();
        is_in = is_in || what == Act::Pass;
        perform(thread, what, event.at, cpu_at(event.at, counters, outside_wall, outside_cpu));
    }
    phases.book(booked - counters);
}

void LoopWatch::end() noexcept {
    is_on_ = false;
    interrupt();
    log_.release();
}

void LoopWatch::stop(Thread& thread, std::uint64_t now, std::uint64_t cpu_now) noexcept {
    if (!is_on_) return;
    leave(thread, now, cpu_now);
    is_stopped_ = true;
    end();
}

void LoopWatch::finish(Thread& thread, std::uint64_t now, std::uint64_t cpu_now) noexcept {
    if (has_begun_) searched_ns_ = now - search_.began_at();
    if (!is_on_) return;
    if (has_begun_ && loop_count_ < most_loops && open_ == none && is_log_whole(thread)) {
        thread.phases.end_polls(now);
        LoopCandidate candidates[most_loops];
        std::uint32_t count = search_.find(now, candidates, most_loops - loop_count_);
        for (std::uint32_t i = 1; i < count; ++i) // in the order of time
            for (std::uint32_t k = i; k != 0 && candidates[k].entries.first_at < candidates[k - 1].entries.first_at; --k)
                std::swap(candidates[k], candidates[k - 1]);
        Found found[most_loops];
        std::uint32_t settled = 0;
        for (std::uint32_t i = 0; i < count; ++i) {
            if (loop_count_ != 0 && candidates[i].entries.first_at < log_began_at_) continue;
            if (!settle_on(thread, candidates[i], found[settled])) continue;
            if (settled != 0 && found[settled - 1].continues_in(found[settled]))
                found[settled - 1].include(found[settled]);
            else
                ++settled;
        }
        if (settled != 0) add(thread, found, settled, now, cpu_now);
    }
    leave(thread, now, cpu_now);
    end();
}

} // namespace libprofile
