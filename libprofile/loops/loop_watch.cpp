#include "libprofile/loops/loop_watch.hpp"

#include "format/loops.hpp"
#include "libprofile/base/function_records.hpp"
#include "libprofile/loops/other_sites.hpp"
#include "libprofile/thread/checkpoint_time.hpp"
#include "libprofile/thread/counting.hpp"
#include "libprofile/thread/thread.hpp"

#include <algorithm>
#include <cstring>
#include <new>

namespace libprofile {

LoopWatch* LoopWatch::create() noexcept {
    if (sizeof(LoopWatch) > memory_quota.limit() / 8) return nullptr;
    void* pages = memory_quota.map(in_pages(sizeof(LoopWatch)));
    return pages == nullptr ? nullptr : new (pages) LoopWatch();
}

/// Whether a pass of a known loop may begin with this call.
bool LoopWatch::may_begin_pass(const CallTree& tree, const SitePath& path, NodeId node) const noexcept {
    return std::any_of(loops_, loops_ + loop_count_,
                       [&](const Found& loop) { return !loop.is_replaced && (loop.is_recursion ? loop.is_on(path) : loop.begins_pass(tree, path, node, 0)); });
}

/// Whether `one` is called in passes of `other`.
bool LoopWatch::is_inside(std::uint32_t one, std::uint32_t other) const noexcept {
    while (one != none && one != other) one = loops_[one].inside;
    return one == other && one != none;
}

/// Whether the call stays in the running passes, and calls like it begin no other. `while_stands`: as in Staying.
bool LoopWatch::stays_in_passes(const CallTree& tree, NodeId node, std::uint32_t& while_stands) const noexcept {
    for (std::uint32_t i = 0; i != running_.size; ++i) {
        const Found& loop = loops_[running_.loop[i]];
        if (loop.stays_in_entry(path_))
            while_stands = loop.level + 1;
        else if (!loop.stays_in_pass(tree, path_, node))
            return false;
    }
    // A pass whose end was not seen ends when its function is called again.
    for (std::uint32_t i = 0; i != running_.size && while_stands != 0; ++i)
        if (const Found& loop = loops_[running_.loop[i]]; loop.inside != none) while_stands = std::max(while_stands, loop.level);
    if (!has_levels_) return true;
    return std::none_of(loops_, loops_ + loop_count_, [&](const Found& loop) {
        return !loop.is_replaced && loop.inside != none && &loop != &loops_[running_.innermost()] && is_inside(loop.inside, running_.innermost()) &&
               loop.begins_pass(tree, path_, node, 0);
    });
}

/// Not in a recursion, where it depends on the calls before.
void LoopWatch::keep_staying(NodeId node, std::uint32_t while_stands) noexcept {
    if (std::none_of(running_.loop, running_.loop + running_.size, [this](std::uint32_t i) { return loops_[i].is_recursion; }))
        staying_[node % most_staying] = {node, running_code(), while_stands};
}

const LoopWatch::Staying* LoopWatch::known_staying(NodeId node) const noexcept {
    const Staying& known = staying_[node % most_staying];
    return known.node == node && known.in == running_code() ? &known : nullptr;
}

/// If no function of a watched level has returned, and no phase was left, since the last call: else begin_call() has something to do before it looks at
/// the call.
LoopWatch::Stay LoopWatch::stay_of(const Thread& thread, NodeId node, std::uintptr_t frame) const noexcept {
    const Staying* const known = known_staying(node);
    if (known == nullptr || !is_on_ || PathTracker::has_returned() || thread.phases.has_left()) return Stay::Unknown;
    if (known->while_stands == 0) return Stay::Always;
    return thread.paths.stands_since_followed(known->while_stands, frame) ? Stay::Now : Stay::Unknown;
}

bool LoopWatch::begins_pass(const CallTree& tree, const SitePath& path, NodeId node, std::uint32_t common, std::uint64_t at, Found& loop) const noexcept {
    if (loop.is_replaced || at < loop.known_from) return false;
    const bool begins = loop.begins_pass(tree, path, node, common);
    loop.note_entry(common, begins);
    if (loop.is_recursion && loop.is_on(path) && (begins || !loop.recursion.is_known())) loop.recursion.follow(tree, path, common < loop.level);
    return begins;
}

/// Whether it lies in another loop of the same function.
bool LoopWatch::is_inside_here(const Found& loop) const noexcept {
    return loop.inside != none && loops_[loop.inside].caller == loop.caller && loops_[loop.inside].level == loop.level;
}

/// Whether the running pass goes on, given that no other begins.
bool LoopWatch::goes_on(const CallTree& tree, const SitePath& path, std::uint32_t common, std::uint64_t at, Found& loop) noexcept {
    if (loop.is_recursion) return loop.recursion.is_innermost(path);
    const bool has_returned = loop.inside != none && common < loop.level;
    if (has_returned || !loop.is_on(path)) return false;
    const NodeId site = path.at(loop.level);
    if (loop.sites.is_full() || loop.sites.has(site)) return true;
    if (is_inside_here(loop)) return false; // the loop around it has judged that call site
    const bool was_ambiguous = loop.is_ambiguous;
    if (const Entries* entries = enter_other_site(tree, loop, site, search_.entries_of(loop.caller, loop.level, site), at, mpi_traits)) {
        around_ = *entries;
        around_inner_ = &loop;
    }
    if (loop.is_ambiguous != was_ambiguous) want_checkpoint(); // live data say what was known then
    return false;
}

/// Applies a call to the known loops: running_ becomes what runs from now on. Returns how many of these, from the outermost, ran before.
std::uint32_t LoopWatch::act(const CallTree& tree, const SitePath& path, NodeId node, std::uint32_t common, std::uint64_t at) noexcept {
    std::uint32_t beginning[most_loops];
    std::uint32_t count = 0;
    std::uint32_t staying = 0;
    const auto begins = [&](std::uint32_t i) { return std::find(beginning, beginning + count, i) != beginning + count; };
    // Outer loops come first: what lies inside begins in their new pass.
    for (std::uint32_t depth = 0, left = loop_count_; depth < most_levels && left != 0; ++depth)
        for (std::uint32_t i = 0; i < loop_count_; ++i)
            if (loops_[i].depth == depth && left-- != 0 && begins_pass(tree, path, node, common, at, loops_[i])) beginning[count++] = i;
    while (staying < running_.size && !begins(running_.loop[staying]) && goes_on(tree, path, common, at, loops_[running_.loop[staying]])) ++staying;
    running_.cut(staying);
    for (std::uint32_t k = 0; k < count; ++k) {
        const std::uint32_t one = beginning[k];
        std::uint32_t outside = 0; // number of running loops that may be around it
        while (outside < running_.size && is_inside(one, running_.loop[outside])) ++outside;
        const bool is_around = outside < running_.size && is_inside(running_.loop[outside], one);
        if (outside < running_.size && !is_around) continue; // another loop goes on
        running_.cut(outside);
        running_.add(one);
        staying = std::min(staying, outside);
    }
    return staying;
}

/// A call lies too deep for its path to be known. In a recursion all further passes do, so that ends.
std::uint32_t LoopWatch::leave_recursion() noexcept {
    if (running_.size != 0 && loops_[running_.innermost()].is_recursion) running_.cut(running_.size - 1);
    return running_.size;
}

/// Keeps the `staying` outermost of the open phases, and replaces the others by those of running_.
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

/// Applies the call that begins at `now`.
void LoopWatch::perform_now(Thread& thread, std::uint32_t staying, std::uint64_t now) noexcept {
    if (is_unchanged(staying)) return;
    thread.phases.time().end_polls(now); // until then, its row lacks calls
    const std::uint64_t begin = session_clock.now();
    const std::uint64_t cpu = thread_cpu_time();
    thread.mark_cpu(now, cpu);
    if (open_.size == 0 && is_logging_) {
        values_.write();
        is_logging_ = false; // from here on the values belong to the loop
    }
    thread.affinity.look();
    count_until_now(thread);
    perform(thread, staying, now, cpu);
    count_own(thread);
    if (open_.size != 1) return;
    Found& loop = loops_[open_.outermost()];
    if (loop.ends_from == 0) loop.ends_from = now;
    loop.ends_ns += time_since(thread, begin);
}

/// Of the only loop that runs. Passes may become shorter than when it was found, and on a busy machine they looked longer than they are.
bool LoopWatch::do_ends_cost_too_much(std::uint64_t now) noexcept {
    constexpr std::uint64_t window_ns = 100000000, share = 5; // one in so many; what other ranks wait for this one comes on top
    if (open_.size != 1) return false;
    Found& loop = loops_[open_.outermost()];
    if (loop.ends_ns < window_ns) return false;
    const bool is_much = loop.ends_ns > (now - loop.ends_from) / share;
    loop.ends_from = now;
    loop.ends_ns = 0;
    return is_much;
}

/// Its last pass ends at `now`. There is no search for another loop: it could only be one around this, of which it has known for long.
[[gnu::cold]] void LoopWatch::give_up(Thread& thread, std::uint64_t now) noexcept {
    loops_[open_.outermost()].is_costly = true;
    running_.cut(0);
    perform_now(thread, 0, now);
    thread.paths.watch_returns(nullptr, 0, now);
    want_checkpoint();
    end(thread);
}

/// Returns the innermost running loop if its function has returned; `standing` functions of the path have not. A loop with none around it goes on
/// when its function is called again.
const LoopWatch::Found* LoopWatch::returned_loop(std::uint32_t standing) const noexcept {
    const Found* loop = open_.size == 0 ? nullptr : &loops_[open_.innermost()];
    return loop == nullptr || loop->inside == none || loop->is_recursion || loop->level <= standing ? nullptr : loop;
}

void LoopWatch::follow_returns(Thread& thread, std::uint64_t now, std::uint64_t cpu_now) noexcept {
    think(thread);
    const std::uint32_t standing = thread.paths.see_returns();
    if (is_logging_) return log_returns(thread, standing, now);
    if (open_.size == 0) return;
    const auto time_of = [&](std::uint32_t level) { return thread.paths.returned_at(level, now); };
    leave_returned(thread.phases, standing, time_of, [&](std::uint64_t at) {
        if (cpu_now == 0) cpu_now = thread_cpu_time(); // dear: only if a loop was left
        return thread.cpu_until(at, cpu_now);
    });
}

void follow_returns(Thread& thread) noexcept {
    if (thread.loops != nullptr) thread.loops->follow_returns(thread, session_clock.now(), 0);
}

/// Watches from the call at `now`, which was followed.
void LoopWatch::watch_returns(Thread& thread, std::uint64_t now) noexcept {
    const Found* inner = open_.size == 0 ? nullptr : &loops_[open_.innermost()];
    if (is_logging_)
        thread.paths.watch_returns(ticks_, path_.size, now);
    else if (inner != nullptr && inner->inside != none && !inner->is_recursion)
        thread.paths.watch_returns(ticks_, inner->level, now);
    else
        thread.paths.watch_returns(nullptr, 0, now);
}

/// Ends the running pass, if there is one.
void LoopWatch::leave(Thread& thread, std::uint64_t now, std::uint64_t cpu_now) noexcept {
    running_.cut(0);
    perform(thread, 0, now, cpu_now);
}

/// At the end of a pass: whether its start was missed. Several witnesses from different sites are believed at once, a single one the second time.
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
    loop.start = best->node;
    loop.site = path.at(loop.level);
    loop.witnesses = 0; // no witness is left that could contradict
    ++loops_version_;
    ++loop.moves;
    want_checkpoint();
}

bool LoopWatch::begin_call(Thread& thread, NodeId node, std::uintptr_t frame, std::uint64_t now, bool is_walked) noexcept {
    if (!is_on_ || (wakes_at_ != never && loop_count_ == 0)) return false;
    logged_ = 0;
    if (!is_of_datatypes(thread.tree[node]) && note_call(thread, node, frame, now, is_walked)) return true;
    // What an iteration takes that begins or ends is no part of the search.
    const bool is_search = is_searching_ && open_.size == 0;
    const std::uint64_t begin = is_walked && is_search ? session_clock.now() : now;
    const bool is_followed = examine_call(thread, node, frame, now, is_walked);
    if (is_search && open_.size == 0) budget_.spend(time_since(thread, begin));
    return is_followed;
}

/// Returns our own time since then.
std::uint64_t LoopWatch::time_since(const Thread& thread, std::uint64_t from) const noexcept {
    const std::uint64_t now = session_clock.now();
    return now - from < long_event_ns ? now - from : thread.own_time(from, now, thread_cpu_time());
}

void LoopWatch::pause_if_spent(Thread& thread, std::uint64_t now) noexcept {
    if (!is_searching_ || open_.size != 0 || !budget_.may_be_spent()) return;
    const std::uint64_t cpu = thread_cpu_time();
    if (budget_.is_spent(cpu) && !is_passing(now)) pause(thread, now, cpu);
}

/// As begin_call(), for a call that cannot be noted only.
bool LoopWatch::examine_call(Thread& thread, NodeId node, std::uintptr_t frame, std::uint64_t now, bool is_walked) noexcept {
    read_notes(thread);
    if (!has_begun_) {
        has_begun_ = true;
        search_.start(now);
        decided_at_ = window_began_at_ = now;
        calls_until_decision_ = calls_between_decisions;
        begin_quick();
    }
    if (PathTracker::has_returned()) follow_returns(thread, now, 0);
    thread.phases.close_left();
    if (is_of_datatypes(thread.tree[node])) {
        if (!is_searching_ || running_.size != 0) return false;
        log_call_beside(thread, node);
        if (++calls_beside_ % calls_between_decisions == 0) pause_if_spent(thread, now);
        return true;
    }
    if (!path_.find(thread.tree, node)) {
        const bool is_recursion = running_.size != 0 && loops_[running_.innermost()].is_recursion;
        const bool goes_on = running_.size != 0 && !is_recursion;
        if (is_recursion) loops_[running_.innermost()].is_cut_short = true;
        perform_now(thread, leave_recursion(), now);
        if (goes_on) return watch_returns(thread, now), true; // the functions of running loops are the same as before
        thread.paths.watch_returns(nullptr, 0, now);
        if (!is_searching_) return true;
        search_.miss_event();
        log_call(thread, node, 0, now);
        return true;
    }
    std::uint32_t while_stands = 0;
    const bool stays = running_.size != 0 && stays_in_passes(thread.tree, node, while_stands);
    if (stays) keep_staying(node, while_stands);
    if (stays && while_stands == 0) return false;
    if (!is_searching_ && running_.size == 0 && !may_begin_pass(thread.tree, path_, node)) return false;
    std::uint32_t common = path_.size;
    const std::uint64_t bounded = thread.paths.bounded_calls();
    const bool is_watched = thread.paths.is_same_activation(node, frame); // nothing has returned since that call began
    const std::uint64_t generation = thread.phases.row_generation();
    if (is_walked)
        thread.paths.follow_walked(frame, common);
    else if (!is_watched)
        thread.paths.at_followed_call(frame, common);
    if (common > path_.size) common = path_.size;
    const auto is_again_in_entry = [&](std::uint32_t i) { return loops_[i].is_again_in_entry(path_, node, common); };
    if (std::any_of(running_.loop, running_.loop + running_.size, is_again_in_entry) && thread.paths.bounded_calls() == bounded) return true;
    const std::uint32_t before = running_.outermost();
    around_ = {};
    const std::uint32_t staying = act(thread.tree, path_, node, common, now);
    if (staying < open_.size && do_ends_cost_too_much(now)) return give_up(thread, now), false;
    perform_now(thread, staying, now);
    if (around_.count != 0) {
        settle_around(thread, *around_inner_, now);
        const std::uint32_t staying_now = act(thread.tree, path_, node, common, now);
        perform_now(thread, staying_now, now);
    }
    const auto watch = [&](bool is_new) {
        if (is_new || !is_watched || thread.phases.row_generation() != generation) watch_returns(thread, now);
    };
    // Calls inside a known loop say nothing of those around it, except the first pass in a new activation of its function.
    const bool goes_on = before != none && running_.outermost() == before && common >= loops_[before].level;
    if (goes_on || !is_searching_) return watch(false), true;
    search_.event(thread.tree, path_, common, now);
    ++calls_;
    if (woken_by_ == 0) woken_by_ = node;
    const bool was_logging = is_logging_;
    log_call(thread, node, common, now);
    watch(!was_logging);
    if (--calls_until_decision_ == 0 || is_decision_late(now) || log_.is_nearly_full()) {
        count_until_now(thread);
        decide(thread, now);
        count_own(thread);
        pause_if_spent(thread, now);
        decided_at_ = now;
        calls_until_decision_ = loop_count_ == 0 ? calls_between_decisions : calls_between_decisions / 16;
    }
    return true;
}

bool LoopWatch::is_frame(PhaseStack& phases, const Phase& phase) const noexcept {
    for (std::uint32_t i = 0; i < loop_count_; ++i) {
        if (loops_[i].inside == none || std::strcmp(loops_[loops_[i].inside].phase, phase.name) != 0) continue;
        for (std::size_t p = 0; p < phases.all().size(); ++p) {
            const Phase& inner = phases.all()[p];
            const bool is_its = inner.kind == PhaseKind::Iterations && std::strcmp(inner.name, loops_[i].phase) == 0;
            if (is_its && is_frame_of(inner.wall_inclusive_ns, phase.wall_inclusive_ns)) return true;
        }
    }
    return false;
}

void LoopWatch::end(Thread& thread) noexcept {
    is_on_ = false;
    wakes_at_ = never;
    interrupt(thread);
    log_.release();
    end_quick();
}

void LoopWatch::stop(Thread& thread, std::uint64_t now, std::uint64_t cpu_now) noexcept {
    if (!is_on_) return;
    if (PathTracker::has_returned()) follow_returns(thread, now, cpu_now);
    leave(thread, now, cpu_now);
    thread.paths.watch_returns(nullptr, 0, now);
    is_stopped_ = true;
    end(thread);
}

void LoopWatch::finish(Thread& thread, std::uint64_t now, std::uint64_t cpu_now) noexcept {
    if (has_begun_) searched_ns_ = now - search_.began_at();
    if (!is_on_) return;
    think(thread);
    if (thread.mark == &own_mark() && PathTracker::has_returned()) follow_returns(thread, now, cpu_now);
    settle_ended(thread, now, cpu_now);
    leave(thread, now, cpu_now);
    end(thread);
}

} // namespace libprofile
