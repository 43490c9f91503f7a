#include "libprofile/loops/loop_calls.hpp"

namespace libprofile {

LoopCalls::LoopCalls(const EventList& events, const CallTree& tree, const LoopCandidate& candidate, const FunctionTraits& functions) noexcept
    : events_(&events), tree_(&tree), candidate_(&candidate), functions_(&functions), nodes_(static_cast<NodeId>(tree.size())),
      known_from_(std::max(events.known_from(candidate.level), candidate.entries.first_at)), calls_(nodes_), entries_(nodes_), own_calls_(nodes_) {}

void LoopCalls::count(const ListedEvent& event, const SitePath& path, const Moment& moment, NodeId& entered_before) noexcept {
    const NodeId site = path.at(candidate_->level);
    const auto add = [&](Calls& calls, bool is_inner) {
        calls.is_inner = calls.count != 0 && (calls.is_inner || is_inner);
        calls.enter(site, event.at, moment.activation);
        calls.entry = moment.entry;
    };
    if (event.common <= candidate_->level) {
        ++entries_[site];
        if (path.size == candidate_->level) ++own_calls_[site];
    }
    if (calls_[site].entry != moment.entry && !functions_->is_poll((*tree_)[event.node].a)) {
        add(calls_[site], entered_before == site);
        entered_before = site;
    }
    add(calls_[event.node], calls_[event.node].entry == moment.entry);
    calls_[event.node].is_inner = calls_[event.node].is_inner || event.comes_again;
}

std::uint64_t LoopCalls::next_group(std::uint64_t count) const noexcept {
    std::uint64_t largest = 0;
    for (NodeId node = 0; node < nodes_; ++node)
        if (calls_[node].count < count && !is_in_group(calls_[node].count, count)) largest = std::max<std::uint64_t>(largest, calls_[node].count);
    return largest;
}

/// Compares places in the code, which are the same on all ranks. The order of first calls is not: it depends on where in a pass the log begins.
bool LoopCalls::comes_before(NodeId one, NodeId other, std::uint64_t at, std::uint64_t other_at) const noexcept {
    const Node& own = (*tree_)[one];
    const Node& its = (*tree_)[other];
    const bool is_known = are_in_one_code(own, its) && place_in_code(own) != place_in_code(its);
    return is_known ? place_in_code(own) < place_in_code(its) : at < other_at;
}

/// Returns where their paths part: the first call site or call of each that the other has not.
std::pair<NodeId, NodeId> LoopCalls::parting(NodeId one, NodeId other) const noexcept {
    const auto parent = [&](NodeId node) { return (*tree_)[node].parent; };
    while (parent(one) != parent(other)) (one > other ? one : other) = parent(one > other ? one : other); // children have greater numbers
    return {one, other};
}

/// Collective calls come first: all ranks make them.
unsigned LoopCalls::preference(NodeId node) const noexcept {
    if (is_entry(node)) return 0;
    return functions_->is_collective((*tree_)[node].a) ? 2 : 1;
}

bool LoopCalls::is_better(NodeId one, NodeId other) const noexcept {
    const unsigned rank = preference(one), other_rank = preference(other);
    if (rank != other_rank) return rank > other_rank;
    const bool is_one_site = calls_[one].site == calls_[other].site && one != other && !is_entry(one) && !is_entry(other);
    const auto [own, its] = is_one_site ? parting(one, other) : std::pair(calls_[one].site, calls_[other].site);
    return comes_before(own, its, calls_[one].first_at, calls_[other].first_at);
}

bool LoopCalls::is_better_site(NodeId one, NodeId other) const noexcept {
    const NodeId call = best_at(one), its = best_at(other);
    if (call != 0 && its != 0) return is_better(call, its);
    return call != 0 || (its == 0 && comes_before(one, other, one, other));
}

} // namespace libprofile
