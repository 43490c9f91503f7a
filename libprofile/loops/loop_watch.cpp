#include "libprofile/loops/loop_watch.hpp"

#include "format/loops.hpp"
#include "libprofile/callpath/load_map.hpp"
#include "libprofile/counters/counting.hpp"
#include "libprofile/loops/boundary_choice.hpp"
#include "libprofile/loops/log_folding.hpp"
#include "libprofile/loops/loop_levels.hpp"
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

/// `one` is called in passes of `other`.
bool LoopWatch::is_inside(std::uint32_t one, std::uint32_t other) const noexcept {
    while (one != none && one != other) one = loops_[one].inside;
    return one == other && one != none;
}

/// In the running passes, and no other may begin with such calls.
bool LoopWatch::stays_in_passes(const CallTree& tree, NodeId node) const noexcept {
    for (std::uint32_t i = running_.size; i-- != 0;)
        if (!loops_[running_.loop[i]].stays_in_pass(tree, path_, node)) return false;
    if (!has_levels_) return true;
    return std::none_of(loops_, loops_ + loop_count_, [&](const Found& loop) {
        return !loop.is_replaced && loop.inside != none && &loop != &loops_[running_.innermost()] && is_inside(loop.inside, running_.innermost()) &&
               loop.begins_pass(tree, path_, node, 0);
    });
}

bool LoopWatch::begins_pass(const CallTree& tree, const SitePath& path, NodeId node, std::uint32_t common, std::uint64_t at, Found& loop) const noexcept {
    if (loop.is_replaced || at < loop.known_from) return false;
    const bool begins = loop.begins_pass(tree, path, node, common);
    loop.note_entry(common, begins);
    if (loop.is_recursion && loop.is_on(path) && (begins || !loop.recursion.is_known())) loop.recursion.follow(tree, path, common < loop.level);
    return begins;
}

/// A pass that runs, where no other begins.
bool LoopWatch::goes_on(const CallTree& tree, const SitePath& path, std::uint32_t common, std::uint64_t at, Found& loop) noexcept {
    if (loop.is_recursion) return loop.recursion.is_innermost(path);
    const bool has_returned = loop.inside != none && common < loop.level;
    if (has_returned || !loop.is_on(path)) return false;
    const NodeId site = path.at(loop.level);
    if (loop.sites.is_full() || loop.sites.has(site)) return true;
    const bool was_ambiguous = loop.is_ambiguous;
    if (const Entries* entries = enter_other_site(tree, loop, site, at, mpi_traits)) {
        around_ = *entries;
        around_inner_ = &loop;
    }
    if (loop.is_ambiguous != was_ambiguous) want_checkpoint(); // live data say what was known then
    return false;
}

/// What a call means for the loops that are known: running_ is what runs from then on. Returns how many of its passes, from the outermost, have run before.
std::uint32_t LoopWatch::act(const CallTree& tree, const SitePath& path, NodeId node, std::uint32_t common, std::uint64_t at) noexcept {
    std::uint32_t beginning[most_loops];
    std::uint32_t count = 0;
    std::uint32_t staying = 0;
    const auto begins = [&](std::uint32_t i) { return std::find(beginning, beginning + count, i) != beginning + count; };
    // Those around come first: what lies inside begins in their new pass.
    for (std::uint32_t depth = 0, left = loop_count_; depth < most_levels && left != 0; ++depth)
        for (std::uint32_t i = 0; i < loop_count_; ++i)
            if (loops_[i].depth == depth && left-- != 0 && begins_pass(tree, path, node, common, at, loops_[i])) beginning[count++] = i;
    while (staying < running_.size && !begins(running_.loop[staying]) && goes_on(tree, path, common, at, loops_[running_.loop[staying]])) ++staying;
    running_.cut(staying);
    for (std::uint32_t k = 0; k < count; ++k) {
        const std::uint32_t one = beginning[k];
        std::uint32_t outside = 0; // so many that run may be around it
        while (outside < running_.size && is_inside(one, running_.loop[outside])) ++outside;
        const bool is_around = outside < running_.size && is_inside(running_.loop[outside], one);
        if (outside < running_.size && !is_around) continue; // another loop goes on
        running_.cut(outside);
        running_.add(one);
        staying = std::min(staying, outside);
    }
    return staying;
}

/// A call lies too deep for its path to be known: of a recursion all further passes do.
std::uint32_t LoopWatch::leave_recursion() noexcept {
    if (running_.size != 0 && loops_[running_.innermost()].is_recursion) running_.cut(running_.size - 1);
    return running_.size;
}

/// So many of the phases that are open stay; all others give way to those of running_.
void LoopWatch::perform(Thread& thread, std::uint32_t staying, std::uint64_t now, std::uint64_t cpu_now) noexcept {
    while (open_.size > staying) {
        Found& loop = loops_[open_.innermost()];
        const bool comes_again = running_.size >= open_.size && running_.loop[open_.size - 1] == open_.innermost();
        if (comes_again) ask_witnesses(thread, loop);
        thread.phases.end_if_open(PhaseKind::Iterations, loop.phase, now, cpu_now);
        open_.cut(open_.size - 1);
    }
    while (open_.size < running_.size) {
        Found& loop = loops_[running_.loop[open_.size]];
        thread.phases.next_iteration(loop.phase, now, cpu_now);
        ++loop.iterations;
        loop.until = now;
        open_.add(running_.loop[open_.size]);
    }
}

/// What the call that begins at `now` means.
void LoopWatch::perform_now(Thread& thread, std::uint32_t staying, std::uint64_t now) noexcept {
    if (staying == open_.size && staying == running_.size) return;
    const std::uint64_t cpu = thread_cpu_time();
    thread.mark_cpu(now, cpu);
    if (open_.size == 0 && is_logging_) {
        values_.write();
        is_logging_ = false; // from here on the values belong to the loop
    }
    thread.place.look();
    count_until_now(thread);
    perform(thread, staying, now, cpu);
    count_own(thread);
}

/// Ends the running pass, if there is one.
void LoopWatch::leave(Thread& thread, std::uint64_t now, std::uint64_t cpu_now) noexcept {
    running_.cut(0);
    perform(thread, 0, now, cpu_now);
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
    const auto replaced = static_cast<std::uint32_t>(&inner - loops_), added = loop_count_ - 1; // what lay inside and around stays so
    for (std::uint32_t i = 0; i < added; ++i)
        if (loops_[i].inside == replaced) loops_[i].inside = added;
    loops_[added].inside = inner.inside;
    set_depths();
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
        if (!is_searching_ || running_.size != 0) return false;
        log_call_beside(thread, node);
        return true;
    }
    if (!path_.find(thread.tree, node)) {
        const bool is_recursion = running_.size != 0 && loops_[running_.innermost()].is_recursion;
        const bool goes_on = running_.size != 0 && !is_recursion;
        if (is_recursion) loops_[running_.innermost()].is_cut_short = true;
        perform_now(thread, leave_recursion(), now);
        if (goes_on || !is_searching_) return true;
        search_.miss_event();
        log_call(thread, node, 0, now);
        return true;
    }
    if (running_.size != 0 && stays_in_passes(thread.tree, node)) return false;
    if (!is_searching_ && running_.size == 0 && !may_begin_pass(thread.tree, path_, node)) return false;
    std::uint32_t common = path_.size;
    const std::uint64_t bounded = thread.paths.bounded_calls();
    if (!thread.paths.is_same_activation(node, frame)) thread.paths.at_followed_call(frame, common);
    if (common > path_.size) common = path_.size;
    const auto is_again_in_entry = [&](std::uint32_t i) { return loops_[i].is_again_in_entry(path_, node, common); };
    if (std::any_of(running_.loop, running_.loop + running_.size, is_again_in_entry) && thread.paths.bounded_calls() == bounded) return true;
    const std::uint32_t before = running_.outermost();
    around_ = {};
    const std::uint32_t staying = act(thread.tree, path_, node, common, now);
    perform_now(thread, staying, now);
    if (around_.count != 0) {
        settle_around(thread, *around_inner_, now);
        const std::uint32_t staying_now = act(thread.tree, path_, node, common, now);
        perform_now(thread, staying_now, now);
    }
    // Calls inside a loop that is known tell nothing of those around it, but that of a pass in a new activation of its function.
    const bool goes_on = before != none && running_.outermost() == before && common >= loops_[before].level;
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
    if (running_.size == 0 && !is_log_whole(thread))
        begin_log(thread, now);
    else if (running_.size == 0)
        values_.write();
    const SegmentCounters counters = thread.phases.booked();
    log_.add_event({node, common, now, counters - last_counters_});
    last_counters_ = counters;
    if (running_.size != 0) return;
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

bool LoopWatch::settle_on(Thread& thread, const LoopCandidate& candidate, Found& loop, bool is_by_entries) noexcept {
    ExcludedCalls excluded;
    for (std::uint32_t i = 0; i < loop_count_; ++i)
        if (loops_[i].boundary != 0) excluded.add(loops_[i].boundary);
    loop = {};
    if (candidate.is_recursion)
        loop.set_recursion(candidate);
    else if (is_by_entries && !begin_by_entries(log_, thread.tree, candidate, mpi_traits, loop))
        return false;
    else if (!is_by_entries && !choose_boundary(log_, thread.tree, candidate, mpi_traits, excluded, loop))
        return false;
    // Of a recursion each pass has calls of its own: none of them may have been folded.
    loop.known_from = log_.known_from(loop.is_recursion ? ~0u : loop.level);
    name(thread, loop);
    return loop.phase != nullptr;
}

/// The loop with those inside and around it; what is around others comes before them. Returns their number, at most `room`; 0: it has no boundary.
std::uint32_t LoopWatch::settle(Thread& thread, const LoopCandidate& candidate, Found* found, std::uint32_t room) noexcept {
    refused_ = candidate;
    Found loop;
    if (room == 0 || !settle_on(thread, candidate, loop)) return 0;
    const LoopLevels levels = find_levels(log_, thread.tree, candidate);
    std::uint32_t position[LoopLevels::most + 1] = {none}; // of levels by their number + 1
    std::uint32_t count = 0;
    for (std::uint32_t i = 0; i < levels.count; ++i) {
        const LoopLevel& level = levels.level[i];
        position[i + 1] = position[level.around];
        const auto is_known = [&](const Found& known) { return known.caller == level.candidate.caller && known.level == level.candidate.level; };
        if (i == levels.found)
            found[count] = loop;
        else if (count + (i < levels.found ? 1 : 0) >= room || std::any_of(loops_, loops_ + loop_count_, is_known) ||
                 !settle_on(thread, level.candidate, found[count], i < levels.found))
            continue;
        found[count].inside = position[level.around];
        position[i + 1] = count++;
    }
    return count;
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
    const bool is_last = calls_ - calls_at_loop_ >= most_calls && running_.size == 0;
    const bool is_full = is_last || (log_.is_nearly_full() && !make_room(thread, now));
    const bool is_around = is_found && std::any_of(loops_, loops_ + loop_count_, [&](const Found& known) {
        return may_be_around(candidate, known.level) && now - candidate.entries.first_at >= (now - known.first_at) / 2;
    });
    const bool was_refused = refused_.caller == candidate.caller && refused_.entries.site == candidate.entries.site &&
                             candidate.entries.count / 2 < refused_.entries.count;
    const bool is_due = is_found && (is_full || (!was_refused && (is_around || has_lasted(candidate, now, now - search_.began_at()))));
    Found found[most_loops];
    if (const std::uint32_t count = is_due ? settle(thread, candidate, found, most_loops - loop_count_) : 0; count != 0) {
        calls_at_loop_ = calls_;
        const std::uint64_t cpu = thread_cpu_time();
        thread.mark_cpu(now, cpu);
        add(thread, found, count, now, cpu);
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

void LoopWatch::set_depths() noexcept {
    for (std::uint32_t i = 0; i < loop_count_; ++i) {
        loops_[i].depth = 0;
        for (std::uint32_t k = loops_[i].inside; k != none; k = loops_[k].inside) ++loops_[i].depth;
        has_levels_ = has_levels_ || loops_[i].depth != 0;
    }
}

/// A loop that was known before those from `first` on: the innermost of them in whose function it is called is around it. Others around it take its place.
void LoopWatch::put_inside(const CallTree& tree, Found& known, std::uint32_t first) noexcept {
    for (std::uint32_t i = first; i < loop_count_; ++i) {
        const Found& loop = loops_[i];
        if (!may_be_around(loop, known.level) || known.last_at < loop.first_at) continue;
        NodeId caller = known.caller;
        for (std::uint32_t level = known.level; level > loop.level; --level) caller = tree[caller].parent;
        const bool is_called_there = !loop.is_recursion && !known.is_recursion && caller == loop.caller;
        if (is_called_there && (known.inside == none || loops_[known.inside].level < loop.level)) known.inside = i;
        known.is_replaced = known.is_replaced || (loop.inside == none && !is_called_there);
    }
}

/// Loops that were found; `found` in the order of time, with numbers of their own for what is around. What was counted until then has been booked:
/// iterations that are found when they are over have no counters of their own, since nobody read them then.
void LoopWatch::add(Thread& thread, const Found* found, std::uint32_t count, std::uint64_t now, std::uint64_t cpu_now) noexcept {
    const std::uint32_t first = loop_count_;
    for (std::uint32_t n = 0; n < count && loop_count_ < most_loops; ++n) {
        Found& loop = loops_[loop_count_] = found[n];
        if (loop.inside != none) loop.inside += first;
        loop.is_late = !is_log_whole(thread) || (loop.inside != none && loop.known_from > loops_[loop.inside].known_from);
        loop.until = found[n].last_at;
        ++loop_count_;
    }
    for (std::uint32_t i = 0; i < loop_count_; ++i)
        if (!loops_[i].is_replaced && loops_[i].inside == none) put_inside(thread.tree, loops_[i], std::max(first, i + 1));
    set_depths();
    if (open_.size != 0 && loops_[open_.outermost()].is_replaced) {
        leave(thread, now, cpu_now);
    } else if (open_.size == 0 && is_log_whole(thread)) {
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
        act(thread.tree, path_, reader.event.node, reader.event.common, reader.event.at);
        has_pass = running_.size != 0;
        first = counters;
    }
    running_.cut(0);
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
        const std::uint32_t staying =
            path_.find(thread.tree, event.node) ? act(thread.tree, path_, event.node, event.common, event.at) : leave_recursion();
        is_in = is_in || running_.size != 0;
        perform(thread, staying, event.at, cpu_at(event.at, counters, outside_wall, outside_cpu));
    }
    phases.book(booked - counters);
}

bool LoopWatch::is_frame(PhaseStack& phases, const Phase& phase) const noexcept {
    for (std::uint32_t i = 0; i < loop_count_; ++i) {
        if (loops_[i].inside == none || std::strcmp(loops_[loops_[i].inside].phase, phase.name) != 0) continue;
        for (std::size_t p = 0; p < phases.phase_count(); ++p) {
            const Phase& inner = phases.phase(p);
            const bool is_its = inner.kind == PhaseKind::Iterations && std::strcmp(inner.name, loops_[i].phase) == 0;
            if (is_its && is_frame_of(inner.wall_inclusive_ns, phase.wall_inclusive_ns)) return true;
        }
    }
    return false;
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
    if (has_begun_ && loop_count_ < most_loops && open_.size == 0 && is_log_whole(thread)) {
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
            const std::uint32_t more = settle(thread, candidates[i], found + settled, most_loops - loop_count_ - settled);
            if (settled != 0 && more == 1 && found[settled - 1].continues_in(found[settled])) {
                found[settled - 1].include(found[settled]);
                continue;
            }
            for (std::uint32_t k = settled; k < settled + more; ++k)
                if (found[k].inside != none) found[k].inside += settled;
            settled += more;
        }
        if (settled != 0) add(thread, found, settled, now, cpu_now);
    }
    leave(thread, now, cpu_now);
    end();
}

} // namespace libprofile
