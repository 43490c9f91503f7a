#include "libprofile/loops/loop_search.hpp"

#include <algorithm>

namespace libprofile {

void LoopSearch::start(std::uint64_t now) noexcept {
    began_at_ = last_at_ = now;
    apart_ns_ = 0;
    depth_ = ended_count_ = 0;
    short_ = {};
    recursion_ = {};
}

void LoopSearch::Activation::enter(NodeId site, std::uint64_t at, std::uint32_t call) noexcept {
    for (std::uint32_t i = 0; i < used; ++i)
        if (entries[i].site == site) return entries[i].add(at, call);
    if (used < children) return entries[used++].begin(site, at, call);
    // A site that was entered once, long ago, is hardly a loop.
    Entries* oldest = nullptr;
    for (Entries& each : entries)
        if (each.count == 1 && (oldest == nullptr || each.last_at < oldest->last_at)) oldest = &each;
    if (oldest != nullptr) oldest->begin(site, at, call);
}

void LoopSearch::keep(LoopCandidate* kept, std::uint32_t& count, std::uint32_t most, const LoopCandidate& candidate) noexcept {
    if (count < most) {
        kept[count++] = candidate;
        return;
    }
    LoopCandidate* shortest = kept;
    for (std::uint32_t i = 1; i < count; ++i)
        if (kept[i].entries.span() < shortest->entries.span()) shortest = &kept[i];
    if (shortest->entries.span() < candidate.entries.span()) *shortest = candidate;
}

/// Returns where the loop of an earlier activation is kept, ended_count_ if there is none.
std::uint32_t LoopSearch::ended_at(const Activation& activation, std::uint32_t level, NodeId site) const noexcept {
    std::uint32_t i = 0;
    while (i < ended_count_ && (ended_[i].is_recursion || ended_[i].level != level || ended_[i].caller != activation.caller || ended_[i].entries.site != site))
        ++i;
    return i;
}

/// Calls visit(entries) for the call sites of the function at `level`, earlier activations included.
template <class Visit> void LoopSearch::for_each_loop(std::uint32_t level, Visit visit) const noexcept {
    const Activation& activation = activations_[level - 1];
    const bool has_earlier =
        std::any_of(ended_, ended_ + ended_count_, [&](const LoopCandidate& loop) { return loop.level == level && loop.caller == activation.caller; });
    for (std::uint32_t i = 0; i < activation.used; ++i) {
        const Entries& own = activation.entries[i];
        const std::uint32_t before = has_earlier ? ended_at(activation, level, own.site) : ended_count_;
        if (before == ended_count_) {
            visit(own);
            continue;
        }
        Entries all = ended_[before].entries;
        all.append(own);
        visit(all);
    }
}

Entries LoopSearch::entries_of(NodeId caller, std::uint32_t level, NodeId site) const noexcept {
    Entries found;
    if (level > depth_ || activations_[level - 1].caller != caller) return found;
    for_each_loop(level, [&](const Entries& entries) {
        if (entries.site == site) found = entries;
    });
    return found;
}

void LoopSearch::end(std::uint32_t level) noexcept {
    constexpr std::uint32_t least_repeats = 2; // the next activation may bring others
    const Activation& activation = activations_[level - 1];
    const Entries* best = nullptr; // all call sites of one loop tell the same
    LoopCandidate* known = nullptr;
    const auto is_kept = [&](const Entries& entries) {
        if (known != nullptr)
            known->entries.append(entries);
        else if (entries.repeats() >= least_repeats)
            keep(ended_, ended_count_, most_candidates, {activation.caller, level, entries});
    };
    for (std::uint32_t i = 0; i < activation.used; ++i) {
        const Entries& entries = activation.entries[i];
        if (entries.repeats() == 0) continue;
        if (entries.are_too_short(least_passes) && entries.span() > short_.entries.span()) short_ = {activation.caller, level, entries};
        const bool follows = best != nullptr && entries.first_at >= best->last_at; // a loop after another
        if (follows) is_kept(*best);
        const std::uint32_t at = ended_at(activation, level, entries.site);
        LoopCandidate* const before = at == ended_count_ ? nullptr : &ended_[at];
        const bool is_better = best == nullptr || follows || (known == nullptr && (before != nullptr || entries.span() > best->span()));
        if (!is_better) continue;
        best = &entries;
        known = before;
    }
    if (best != nullptr) is_kept(*best);
}

void LoopSearch::end_recursion() noexcept {
    const LoopCandidate ended = recursion();
    if (ended.entries.are_passes(least_passes)) keep(ended_, ended_count_, most_candidates, ended);
    recursion_ = {};
}

void LoopSearch::pause(std::uint64_t now) noexcept {
    paused_at_ = now;
    if (recursion_.level != 0) end_recursion();
    while (depth_ != 0) end(depth_--);
}

/// Runs before the tables of returned functions are dropped: they know when the first two activations began.
void LoopSearch::follow_recursion(const CallTree& tree, const SitePath& path, std::uint32_t common, std::uint64_t at) noexcept {
    if (recursion_.level != 0 && (common < recursion_.level || !recursion_.is_on(path))) end_recursion(); // all have returned
    if (recursion_.level == 0) {
        // The function was called from the site that it calls from now: this is the third activation.
        if (common < 2 || common > depth_ || path.size <= common || !is_same_site(tree, path.at(common), path.at(common - 1))) return;
        const Activation &first = activations_[common - 2], &second = activations_[common - 1];
        if (second.caller != path.caller_of(common)) return;
        recursion_.begin(first.caller, common - 1, path.at(common - 1));
        recursion_.follow(tree, path, true);
        depths_.begin(recursion_.site, first.began_at, first.first_call);
        depths_.add(second.began_at, second.first_call);
        depths_.add(at, calls_);
        is_tree_walk_ = recursion_.deepest != common + 1;
        is_cut_short_ = false;
        return;
    }
    if (is_tree_walk_) return;
    is_tree_walk_ = common < recursion_.deepest || !recursion_.is_innermost(path);
    if (is_tree_walk_ || !recursion_.grows(tree, path)) return;
    recursion_.grow(path);
    depths_.add(at, calls_);
    is_tree_walk_ = recursion_.grows(tree, path);
}

void LoopSearch::event(const CallTree& tree, const SitePath& path, std::uint32_t common, std::uint64_t at) noexcept {
    ++calls_;
    last_at_ = at;
    follow_recursion(tree, path, common, at);
    std::uint32_t same = std::min({common, path.size, depth_, levels});
    // Less of the stack may be known than stands, but never of another function.
    while (same != 0 && activations_[same - 1].caller != path.caller_of(same)) --same;
    while (depth_ > same) end(depth_--);
    // Below the last level that is followed every call looks like an entry; only a return to it is one.
    const bool is_entry = same != levels || std::min(common, path.size) == levels;
    if (same != 0 && is_entry) activations_[same - 1].enter(path.at(same), at, calls_);
    const std::uint32_t depth = std::min(path.size, levels);
    while (depth_ < depth) {
        Activation& fresh = activations_[depth_++];
        fresh.caller = path.caller_of(depth_);
        fresh.used = 1;
        fresh.began_at = at;
        fresh.first_call = calls_;
        fresh.entries[0].begin(path.at(depth_), at, calls_);
    }
}

std::uint32_t LoopSearch::find(std::uint64_t now, LoopCandidate* found, std::uint32_t most, std::uint64_t covered) const noexcept {
    LoopCandidate all[most_candidates * 4];
    std::uint32_t count = 0;
    const auto is_loop = [](const Entries& entries) {
        return entries.are_passes(least_passes) && (entries.activations == 1 || entries.repeats() >= entries.activations * 2);
    };
    for (std::uint32_t i = 0; i < ended_count_; ++i)
        if (is_loop(ended_[i].entries)) all[count++] = ended_[i];
    if (recursion_.level != 0 && recursion().entries.are_passes(least_passes)) all[count++] = recursion();
    for (std::uint32_t level = 1; level <= depth_; ++level)
        for_each_loop(level, [&](const Entries& entries) {
            if (is_loop(entries)) keep(all, count, most_candidates * 4, {activations_[level - 1].caller, level, entries});
        });
    const std::uint64_t total = now - began_at_ - apart_ns_;
    std::uint32_t chosen = 0;
    while (chosen < most) {
        // The outermost, and there the longest, that has a tenth of the time and does not overlap the others.
        const LoopCandidate* best = nullptr;
        for (std::uint32_t i = 0; i < count; ++i) {
            const LoopCandidate& candidate = all[i];
            if (candidate.entries.span() < total / 10) continue;
            const bool is_apart = std::none_of(found, found + chosen, [&](const LoopCandidate& other) {
                const std::uint64_t from = std::max(candidate.entries.first_at, other.entries.first_at);
                const std::uint64_t to = std::min(candidate.entries.last_at, other.entries.last_at);
                return from < to && to - from > std::min(candidate.entries.span(), other.entries.span()) / 10;
            });
            if (!is_apart) continue;
            if (best == nullptr || candidate.level < best->level || (candidate.level == best->level && candidate.entries.span() > best->entries.span()))
                best = &candidate;
        }
        if (best == nullptr) break;
        found[chosen++] = *best;
        covered += best->entries.span();
    }
    return covered >= total / 4 ? chosen : 0; // as for loops that go on (LoopWatch)
}

bool LoopSearch::find_short(LoopCandidate& found) const noexcept {
    const auto is_it = [&](const Entries& entries) { return entries.are_too_short(least_passes) && entries.span() >= (last_at_ - began_at_ - apart_ns_) / 4; };
    if (is_it(short_.entries)) found = short_;
    for (std::uint32_t level = depth_; level != 0; --level) {
        const Activation& activation = activations_[level - 1];
        for (std::uint32_t i = 0; i < activation.used; ++i)
            if (is_it(activation.entries[i])) found = {activation.caller, level, activation.entries[i]};
    }
    return found.level != 0;
}

bool LoopSearch::Activation::is_in(const Entries& loop) const noexcept {
    return std::none_of(entries, entries + used, [&](const Entries& each) { return each.first_at > loop.last_at; });
}

bool LoopSearch::find_running(std::uint64_t now, LoopCandidate& found, std::uint32_t least, Measure measure) const noexcept {
    const auto goes_on = [&](const Entries& entries, const Activation& activation) {
        if (!entries.are_passes(least)) return false;
        return entries.go_on(now) || (measure == Measure::Calls && entries.go_on_by_calls(calls_) && activation.is_in(entries));
    };
    for (std::uint32_t level = 1; level <= depth_; ++level) {
        if (level == recursion_.level && goes_on(recursion().entries, activations_[level - 1])) {
            found = recursion();
            return true;
        }
        const Activation& activation = activations_[level - 1];
        bool is_found = false;
        for_each_loop(level, [&](const Entries& entries) {
            if (!goes_on(entries, activation) || (is_found && entries.span() <= found.entries.span())) return;
            found = {activation.caller, level, entries};
            is_found = true;
        });
        if (is_found) return true;
    }
    return false;
}

} // namespace libprofile
