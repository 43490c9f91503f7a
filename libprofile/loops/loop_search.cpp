#include "libprofile/loops/loop_search.hpp"

#include <algorithm>

namespace libprofile {

/// Calls that follow each other are mostly near each other in the tree: then only the inner end changes.
bool SitePath::follow(const CallTree& tree, NodeId last) noexcept {
    constexpr std::uint32_t near = 6;
    NodeId fresh[near];
    const std::uint32_t lowest = size > near ? size - near : 0;
    NodeId node = last;
    for (std::uint32_t count = 0; count < near && node != 0; ++count) {
        for (std::uint32_t i = size; i-- > lowest;) {
            if (site[i] != node) continue;
            if (i + 1 + count > most) return false;
            for (size = i + 1; count != 0;) site[size++] = fresh[--count];
            end = last;
            return true;
        }
        fresh[count] = node;
        node = tree[node].parent;
    }
    return false;
}

bool SitePath::find(const CallTree& tree, NodeId function) noexcept {
    const NodeId last = tree[function].parent;
    if (size != 0 && (last == end || follow(tree, last))) return true;
    std::uint32_t depth = 0;
    for (NodeId node = last; node != 0; node = tree[node].parent) ++depth;
    size = 0;
    end = no_node;
    if (depth == 0 || depth > most) return false;
    size = depth;
    end = last;
    for (NodeId node = last; node != 0; node = tree[node].parent) site[--depth] = node;
    return true;
}

void LoopSearch::start(std::uint64_t now) noexcept {
    began_at_ = now;
    depth_ = ended_count_ = 0;
}

void LoopSearch::Activation::enter(NodeId site, std::uint64_t at) noexcept {
    for (std::uint32_t i = 0; i < used; ++i)
        if (entries[i].site == site) return entries[i].add(at);
    if (used < children) return entries[used++].begin(site, at);
    // What was entered once and long ago will hardly be a loop.
    Entries* oldest = nullptr;
    for (Entries& each : entries)
        if (each.count == 1 && (oldest == nullptr || each.last_at < oldest->last_at)) oldest = &each;
    if (oldest != nullptr) oldest->begin(site, at);
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

void LoopSearch::end(std::uint32_t level) noexcept {
    const Activation& activation = activations_[level - 1];
    const Entries* best = nullptr; // the call sites of one loop tell the same
    for (std::uint32_t i = 0; i < activation.used; ++i) {
        const Entries& entries = activation.entries[i];
        if (!entries.are_passes(least_passes)) continue;
        const bool follows = best != nullptr && entries.first_at >= best->last_at; // a loop behind another
        if (follows) keep(ended_, ended_count_, most_candidates, {activation.caller, level, *best});
        if (best == nullptr || follows || entries.span() > best->span()) best = &entries;
    }
    if (best != nullptr) keep(ended_, ended_count_, most_candidates, {activation.caller, level, *best});
}

void LoopSearch::event(const SitePath& path, std::uint32_t common, std::uint64_t at) noexcept {
    std::uint32_t same = std::min({common, path.size, depth_, levels});
    // What is known of the stack may be less than what is true, never of another function.
    while (same != 0 && activations_[same - 1].caller != path.caller_of(same)) --same;
    while (depth_ > same) end(depth_--);
    // Below the last level that is followed everything looks like an entry; only a return to it is one.
    const bool is_entry = same != levels || std::min(common, path.size) == levels;
    if (same != 0 && is_entry) activations_[same - 1].enter(path.at(same), at);
    const std::uint32_t depth = std::min(path.size, levels);
    while (depth_ < depth) {
        Activation& fresh = activations_[depth_++];
        fresh.caller = path.caller_of(depth_);
        fresh.used = 1;
        fresh.entries[0].begin(path.at(depth_), at);
    }
}

std::uint32_t LoopSearch::find(std::uint64_t now, LoopCandidate* found, std::uint32_t most) const noexcept {
    LoopCandidate all[most_candidates * 4];
    std::uint32_t count = 0;
    for (std::uint32_t i = 0; i < ended_count_; ++i) all[count++] = ended_[i];
    for (std::uint32_t level = 1; level <= depth_; ++level) {
        const Activation& activation = activations_[level - 1];
        for (std::uint32_t i = 0; i < activation.used; ++i)
            if (activation.entries[i].are_passes(least_passes))
                keep(all, count, most_candidates * 4, {activation.caller, level, activation.entries[i]});
    }
    const std::uint64_t total = now - began_at_;
    std::uint32_t chosen = 0;
    std::uint64_t covered = 0;
    while (chosen < most) {
        // The outermost, and there the longest, that has a tenth of the time and is beside the others.
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
            if (best == nullptr || candidate.level < best->level ||
                (candidate.level == best->level && candidate.entries.span() > best->entries.span()))
                best = &candidate;
        }
        if (best == nullptr) break;
        found[chosen++] = *best;
        covered += best->entries.span();
    }
    return covered >= total / 2 ? chosen : 0;
}

bool LoopSearch::find_running(std::uint64_t now, LoopCandidate& found, std::uint32_t least) const noexcept {
    for (std::uint32_t level = 1; level <= depth_; ++level) {
        const Activation& activation = activations_[level - 1];
        const Entries* best = nullptr;
        for (std::uint32_t i = 0; i < activation.used; ++i) {
            const Entries& entries = activation.entries[i];
            if (!entries.are_passes(least)) continue;
            // It goes on: nothing has happened for longer than a few passes together.
            const std::uint64_t idle = now - entries.last_at;
            if (idle > entries.span() / entries.count * 8) continue;
            if (best == nullptr || entries.span() > best->span()) best = &entries;
        }
        if (best == nullptr) continue;
        found = {activation.caller, level, *best};
        return true;
    }
    return false;
}

} // namespace libprofile
