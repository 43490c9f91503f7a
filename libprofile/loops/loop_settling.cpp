// The part of a LoopWatch that settles on loops: when, on which, with which loops inside and around, and under what name.
#include "libprofile/loops/loop_watch.hpp"

#include "libprofile/base/function_records.hpp"
#include "libprofile/callpath/load_map.hpp"
#include "libprofile/callpath/python_names.hpp"
#include "libprofile/loops/event_list.hpp"
#include "libprofile/loops/log_folding.hpp"
#include "libprofile/loops/loop_levels.hpp"
#include "libprofile/loops/other_sites.hpp"
#include "libprofile/loops/site_code.hpp"
#include "libprofile/loops/start_choice.hpp"
#include "libprofile/thread/checkpoint_time.hpp"
#include "libprofile/thread/thread.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace libprofile {

namespace {

constexpr std::uint64_t second = 1000000000;  // ns
constexpr std::uint64_t most_calls = 1600000; // without another loop: the search pauses

/// Whether a loop that goes on may be taken for the time loop before the job is over. Waiting longer makes a loop around it less likely. But a job
/// that is killed keeps only iterations that were closed by then.
bool has_lasted(const LoopCandidate& loop, std::uint64_t now, std::uint64_t searched_ns) {
    const std::uint64_t lasted = now - loop.entries.first_at;
    if (lasted < searched_ns / 4) return false;
    const std::uint32_t passes = loop.entries.count;
    return lasted >= (passes >= 64 ? 5 : passes >= 16 ? 20 : 60) * second;
}

/// Whether it may be taken at once if the code proves that it is the time loop.
bool has_shown(const LoopCandidate& loop, std::uint64_t now, std::uint64_t searched_ns) {
    const std::uint64_t lasted = now - loop.entries.first_at;
    return !loop.is_recursion && loop.entries.count >= 16 && lasted >= second / 4 && lasted >= searched_ns / 4;
}

/// Whether no function on the way to the loop may come to its call again: in a loop, by calling itself, or after a long jump or an exception. Nor may
/// the loop's own function be left and entered again in these ways.
bool is_outermost(const CallTree& tree, const LoopCandidate& loop) {
    SiteCode code(tree, mpi_traits);
    // To read more costs more than an early answer saves: some 70 ns a byte.
    constexpr std::uint64_t most_code = 48 << 10;
    std::uint64_t size = code.size_around(loop.entries.site);
    for (NodeId site = loop.caller; site != 0; site = tree[site].parent) size += code.size_around(site);
    if (size > most_code) return false;
    const auto may_come_again = [&](NodeId site) { return code.may_begin_again(site) || code.may_catch_before(site); };
    if (may_come_again(loop.entries.site)) return false;
    for (NodeId site = loop.caller; site != 0; site = tree[site].parent)
        if (may_come_again(site) || code.is_in_loop(site)) return false;
    return true;
}

} // namespace

void LoopWatch::name(Thread& thread, Found& loop) noexcept {
    char text[192];
    const Node& site = thread.tree[loop.site];
    if (site.kind == NodeKind::Python) {
        const Text file = python_names.file(site.b);
        std::size_t name = file.size; // where it begins in the path
        while (name != 0 && file.data[name - 1] != '/') --name;
        const auto size = static_cast<int>(std::min<std::size_t>(128, file.size - name));
        std::snprintf(text, sizeof text, "loop at %.*s:%u", size, size == 0 ? "" : file.data + name, site.a);
    } else if (site.kind == NodeKind::Frame) {
        const char* module = load_map[site.a].path;
        const char* slash = std::strrchr(module, '/');
        std::snprintf(text, sizeof text, "loop at %.128s+0x%llx", slash == nullptr ? module : slash + 1, static_cast<unsigned long long>(site.b));
    } else {
        std::snprintf(text, sizeof text, "loop at 0x%llx", static_cast<unsigned long long>(site.b));
    }
    loop.phase = thread.arena.copy_text(text);
}

bool LoopWatch::settle_on(Thread& thread, const EventList& events, const LoopCandidate& candidate, Found& loop, bool is_by_entries) noexcept {
    ExcludedCalls excluded;
    for (std::uint32_t i = 0; i < loop_count_; ++i)
        if (loops_[i].start != 0) excluded.add(loops_[i].start);
    loop = {};
    if (candidate.is_recursion)
        loop.set_recursion(candidate);
    else if (is_by_entries && !begin_by_entries(events, thread.tree, candidate, mpi_traits, loop))
        return false;
    else if (!is_by_entries && !choose_start(events, thread.tree, candidate, mpi_traits, excluded, loop))
        return false;
    // The log may have begun anew, or lack calls of some passes.
    loop.around.for_each([&](Entries& known) {
        const Entries all = search_.entries_of(loop.caller, loop.level, known.site);
        if (all.count > known.count) known = all;
    });
    // Each pass of a recursion has calls of its own: none of them may have been folded.
    loop.known_from = log_.known_from(loop.is_recursion ? ~0u : loop.level);
    name(thread, loop);
    return loop.phase != nullptr;
}

/// Settles on the loop with those inside and around it; outer ones come first. Returns their number, at most `room`; 0 if no start was found.
std::uint32_t LoopWatch::settle(Thread& thread, const EventList& events, const LoopCandidate& candidate, Found* found, std::uint32_t room) noexcept {
    refused_ = candidate;
    Found loop;
    if (room == 0 || !settle_on(thread, events, candidate, loop)) return 0;
    const LoopLevels levels = find_levels(events, thread.tree, candidate);
    std::uint32_t position[LoopLevels::most + 1] = {none}; // of levels by their number + 1
    std::uint32_t count = 0;
    for (std::uint32_t i = 0; i < levels.count; ++i) {
        const LoopLevel& level = levels.level[i];
        position[i + 1] = position[level.around];
        const auto is_known = [&](const Found& known) { return known.caller == level.candidate.caller && known.level == level.candidate.level; };
        if (i == levels.found)
            found[count] = loop;
        else if (count + (i < levels.found ? 1 : 0) >= room || std::any_of(loops_, loops_ + loop_count_, is_known) ||
                 !settle_on(thread, events, level.candidate, found[count], i < levels.found))
            continue;
        found[count].inside = position[level.around];
        position[i + 1] = count++;
    }
    return settle_here(thread, events, found, count, room);
}

/// Adds loops inside the found ones in the same functions. Returns the new number.
std::uint32_t LoopWatch::settle_here(Thread& thread, const EventList& events, Found* found, std::uint32_t count, std::uint32_t room) noexcept {
    const CallTree& tree = thread.tree;
    for (std::uint32_t i = 0, known = count; i < known && count < room; ++i) {
        Found& inner = found[count];
        inner = {};
        if (!find_level_here(events, tree, found[i], mpi_traits, shortest_pass_ns(found[i].inside != none), inner)) continue;
        inner.known_from = found[i].known_from;
        name(thread, inner);
        if (inner.phase == nullptr) continue;
        inner.inside = i;
        for (std::uint32_t k = 0; k < count; ++k) { // called in its passes
            if (k == i || found[k].inside != i) continue;
            NodeId site = found[k].caller;
            for (std::uint32_t level = found[k].level - 1; level > inner.level; --level) site = tree[site].parent;
            if (inner.sites.has(site)) found[k].inside = count;
        }
        ++count;
    }
    return count;
}

/// Settles on loops that have taken most of the time until now, and do not go on.
void LoopWatch::settle_ended(Thread& thread, std::uint64_t now, std::uint64_t cpu_now) noexcept {
    if (!has_begun_ || loop_count_ == most_loops || open_.size != 0 || !is_log_whole(thread)) return;
    thread.phases.time().end_polls(now);
    LoopCandidate candidates[most_loops];
    std::uint64_t covered = 0; // by loops that are known
    for (std::uint32_t i = 0; i < loop_count_; ++i)
        if (loops_[i].inside == none) covered += loops_[i].until - std::min(loops_[i].until, loops_[i].first_at);
    std::uint32_t count = search_.find(now, candidates, most_loops - loop_count_, covered);
    for (std::uint32_t i = 1; i < count; ++i) // in the order of time
        for (std::uint32_t k = i; k != 0 && candidates[k].entries.first_at < candidates[k - 1].entries.first_at; --k)
            std::swap(candidates[k], candidates[k - 1]);
    if (count == 0) return;
    const EventList events(log_);
    Found* const found = fresh_;
    std::uint32_t settled = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
        const LoopCandidate& candidate = candidates[i];
        if (loop_count_ != 0 && candidate.entries.first_at < log_began_at_) continue;
        // The last call of its function, after the last pass of the loop that calls it: counted with the others.
        if (std::any_of(found, found + settled, [&](const Found& known) {
                return known.caller == candidate.caller && known.level == candidate.level && candidate.entries.first_at <= known.last_at;
            }))
            continue;
        const std::uint32_t more = settle(thread, events, candidate, found + settled, most_loops - loop_count_ - settled);
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

/// Folds the log, which is nearly full. A loop that has come back once may be around those that already have passes.
bool LoopWatch::make_room(Thread& thread, std::uint64_t now) noexcept {
    LoopCandidate outermost;
    const bool is_there = search_.find_running(now, outermost, 1, LoopSearch::Measure::Calls);
    return fold(log_, thread.tree, is_there ? outermost.level : 1, log_whole_from_);
}

/// Settles on a loop that runs, if the machine code proves that it is the outermost one, and that each of its passes is seen. One of which that is not
/// proved is asked about again when it has had many more passes.
std::uint32_t LoopWatch::settle_if_certain(Thread& thread, const LoopCandidate& candidate) noexcept {
    const LoopCandidate refused = refused_;
    doubted_.add(candidate.entries.site, candidate.entries.count);
    std::uint32_t count = is_outermost(thread.tree, candidate) ? settle(thread, EventList(log_), candidate, fresh_, most_loops - loop_count_) : 0;
    // The running call must be in it: else it may be over, and what the log has of the next loop would be lost.
    const auto is_certain = [this](const Found& loop) {
        return loop.inside != none || (loop.is_certain() && loop.is_on(path_) && loop.sites.has(path_.at(loop.level)));
    };
    if (!std::all_of(fresh_, fresh_ + count, is_certain)) count = 0;
    if (count == 0) refused_ = refused;
    return count;
}

/// Decides while the job goes on.
void LoopWatch::decide(Thread& thread, std::uint64_t now) noexcept {
    LoopCandidate candidate;
    const bool is_found =
        loop_count_ < most_loops && search_.find_running(now, candidate) && std::none_of(loops_, loops_ + loop_count_, [&](const Found& known) {
            return known.caller == candidate.caller && known.level == candidate.level &&
                   (known.sites.has(candidate.entries.site) || known.around.has(candidate.entries.site));
        });
    const bool is_last = calls_ - calls_at_window_ >= most_calls && running_.size == 0;
    const bool is_full = is_last || (log_.is_nearly_full() && !make_room(thread, now));
    const bool is_around = is_found && std::any_of(loops_, loops_ + loop_count_, [&](const Found& known) {
                               return may_be_around(candidate, known.level) && now - candidate.entries.first_at >= (now - known.first_at) / 2;
                           });
    const bool was_refused =
        refused_.caller == candidate.caller && refused_.entries.site == candidate.entries.site && candidate.entries.count / 2 < refused_.entries.count;
    const std::uint64_t searched = now - search_.began_at();
    const bool has_time = is_found && (is_full || (!was_refused && (is_around || has_lasted(candidate, now, searched))));
    const bool was_doubted = doubted_.has(candidate.entries.site, candidate.entries.count);
    const bool may_be_certain = is_found && !has_time && !was_refused && !was_doubted && has_shown(candidate, now, searched);
    std::uint64_t cpu = 0;
    if (has_time || may_be_certain) thread.mark_cpu(now, cpu = thread_cpu_time()); // what follows is our own work, and long
    std::uint32_t count = 0;
    if (has_time)
        count = settle(thread, EventList(log_), candidate, fresh_, most_loops - loop_count_);
    else if (may_be_certain)
        count = settle_if_certain(thread, candidate);
    if (count != 0) {
        calls_at_window_ = calls_;
        add(thread, fresh_, count, now, cpu);
        want_checkpoint(); // readers of live data see in the block of loops which are the same on all ranks
        return;
    }
    if (is_last)
        pause(thread, now, thread_cpu_time());
    else if (is_full)
        is_logging_ = false;
}

/// Whether a loop seems to run, with a quarter of the time since the window began.
bool LoopWatch::is_passing(std::uint64_t now) const noexcept {
    LoopCandidate candidate;
    return search_.find_running(now, candidate, 2, LoopSearch::Measure::Calls) && candidate.entries.span() >= (now - window_began_at_) / 4;
}

/// The search has spent its budget, and no loop seems to run. Loops that are known may come again, and are followed.
void LoopWatch::pause(Thread& thread, std::uint64_t now, std::uint64_t cpu_now) noexcept {
    read_notes(thread);
    settle_ended(thread, now, cpu_now); // the log ends here
    is_searching_ = false;
    interrupt(thread);
    log_.release();
    search_.pause(now);
    watch_returns(thread, now);
    budget_.pause(cpu_now);
    wakes_at_ = now + (budget_.wakes_at() - cpu_now);
}

/// Its function was on the stack already when the last pause was over.
bool LoopWatch::may_have_begun_in_pause(const CallTree& tree, const Found& loop) const noexcept {
    SitePath path;
    return has_paused_ && path.find(tree, woken_by_) && loop.level <= path.size && path.caller_of(loop.level) == loop.caller;
}

void LoopWatch::go_on(Thread& thread, std::uint64_t now) noexcept {
    const std::uint64_t cpu = thread_cpu_time();
    if (cpu < budget_.wakes_at()) { // it has waited without the processor
        wakes_at_ = now + (budget_.wakes_at() - cpu);
        return;
    }
    wakes_at_ = never;
    is_searching_ = has_paused_ = true;
    woken_by_ = 0;
    search_.go_on(now);
    decided_at_ = window_began_at_ = now;
    calls_until_decision_ = calls_between_decisions;
    calls_at_window_ = calls_;
    thread.phases.forget_rows(); // calls on known paths are looked at, too
}

void LoopWatch::set_depths() noexcept {
    ++loops_version_;
    for (std::uint32_t i = 0; i < loop_count_; ++i) {
        loops_[i].depth = 0;
        for (std::uint32_t k = loops_[i].inside; k != none; k = loops_[k].inside) ++loops_[i].depth;
        has_levels_ = has_levels_ || loops_[i].depth != 0;
    }
}

/// Puts a loop known before those from `first` on inside the innermost of them that calls its function. Other loops around it replace it.
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

/// Adds found loops, in the order of time; `inside` counts from the first of them. Values until now have been booked. Iterations that are found
/// after their end have no counters, which nobody read in time.
void LoopWatch::add(Thread& thread, const Found* found, std::uint32_t count, std::uint64_t now, std::uint64_t cpu_now) noexcept {
    const std::uint32_t first = loop_count_;
    for (std::uint32_t n = 0; n < count && loop_count_ < most_loops; ++n) {
        Found& loop = loops_[loop_count_] = found[n];
        if (loop.inside != none) loop.inside += first;
        loop.is_late =
            !is_log_whole(thread) || may_have_begun_in_pause(thread.tree, loop) || (loop.inside != none && loop.known_from > loops_[loop.inside].known_from);
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
    for (std::uint32_t i = 0; i < loop_count_; ++i) {
        Found& loop = loops_[i];
        // Where the log has all passes, one more may be the last call of the function, behind the loop.
        if (loop.missed == 0 && loop.passes > loop.iterations + (loop.is_late ? 0 : 1)) loop.missed = loop.passes - loop.iterations;
    }
    interrupt(thread);
    log_.release();
}

/// Settles on a loop around `inner`, in its function. `inner` has been left.
void LoopWatch::settle_around(Thread& thread, Found& inner, std::uint64_t now) noexcept {
    const Entries entries = around_;
    around_ = {};
    if (loop_count_ == most_loops) return;
    Found outer;
    static_cast<Loop&>(outer) = loop_around(thread.tree, inner, entries, mpi_traits);
    name(thread, outer);
    if (outer.phase == nullptr) return;
    Entries passes = entries; // of the inner one
    passes.count = static_cast<std::uint32_t>(std::min<std::uint64_t>(inner.iterations + inner.missed, UINT32_MAX));
    passes.activations = entries.count;
    const bool is_level = passes.count > entries.count && are_inner_passes(passes, shortest_followed_pass_ns);
    inner.is_replaced = !is_level;
    add(thread, &outer, 1, now, thread_cpu_time());
    const auto before = static_cast<std::uint32_t>(&inner - loops_), added = loop_count_ - 1; // loops inside and around it stay so
    for (std::uint32_t i = 0; i < added && !is_level; ++i)
        if (loops_[i].inside == before) loops_[i].inside = added;
    loops_[added].inside = inner.inside;
    if (is_level) inner.inside = added;
    set_depths();
    want_checkpoint();
}

} // namespace libprofile
