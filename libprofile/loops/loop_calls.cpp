#include "libprofile/loops/loop_calls.hpp"

namespace libprofile {

LoopCalls::LoopCalls(const EventLog& log, const CallTree& tree, const LoopCandidate& candidate, const FunctionTraits& functions) noexcept
    : log_(&log), tree_(&tree), candidate_(&candidate), functions_(&functions), nodes_(static_cast<NodeId>(tree.size())),
      known_from_(std::max(log.known_from(candidate.level), candidate.entries.first_at)), calls_(nodes_), entries_(nodes_), own_calls_(nodes_) {}

void LoopCalls::count(const LoggedEvent& event, const SitePath& path, const Moment& moment, NodeId& entered_before) noexcept {
    const NodeId site = path.at(candidate_->level);
    const auto add = [&](Calls& calls, bool is_inner) {
        if (calls.count == 0) {
            calls.begin(site, event.at, 0);
        } else {
            calls.activation == moment.activation ? calls.add(event.at, 0) : calls.resume(event.at, 0);
            calls.is_inner = calls.is_inner || is_inner;
        }
        calls.entry = moment.entry;
        calls.activation = moment.activation;
    };
    if (event.common <= candidate_->level) {
        ++entries_[site];
        if (path.size == candidate_->level) ++own_calls_[site];
    }
    if (calls_[site].entry != moment.entry && !functions_->is_chance((*tree_)[event.node].a)) {
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

/// By the place in the code of the function, which is the same on all ranks. Which came first is not: it depends on where in a pass
/// the log begins.
bool LoopCalls::comes_before(const Calls& one, const Calls& other) const noexcept {
    const Node& place = (*tree_)[one.site];
    const Node& its = (*tree_)[other.site];
    const bool have_places = place.kind == NodeKind::Frame && its.kind == NodeKind::Frame && place.a == its.a;
    return have_places && place.b != its.b ? place.b < its.b : one.first_at < other.first_at;
}

/// All ranks make calls that are collective.
unsigned LoopCalls::preference(NodeId node) const noexcept {
    if (is_entry(node)) return 0;
    return functions_->is_collective((*tree_)[node].a) ? 2 : 1;
}

NodeId LoopCalls::best_of(std::uint64_t group) const noexcept {
    NodeId best = 0;
    for (NodeId node = 0; node < nodes_; ++node) {
        if (!has_in_group(node, group)) continue;
        if (best == 0) {
            best = node;
            continue;
        }
        const unsigned rank = preference(node), best_rank = preference(best);
        if (rank != best_rank ? rank > best_rank : comes_before(calls_[node], calls_[best])) best = node;
    }
    return best;
}

} // namespace libprofile
