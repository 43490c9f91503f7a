#include "libprofile/loops/pass_evidence.hpp"

#include <algorithm>

namespace libprofile {

const Alternatives& PassEvidence::alternatives_of(const Loop& loop, NodeId site) noexcept {
    if (alternatives_.sites.size() == 0 || alternatives_.sites[0] != site) alternatives_ = find_alternatives(code_, loop, site, *calls_);
    return alternatives_;
}

std::uint64_t PassEvidence::entries_of(const AlternativeSites& sites) const noexcept {
    std::uint64_t entries = 0;
    for (const NodeId site : sites) entries += calls_->entries(site);
    return entries;
}

/// Whether the function itself makes the call at each of them.
bool PassEvidence::are_own(const AlternativeSites& sites) const noexcept {
    return std::all_of(sites.begin(), sites.end(), [&](NodeId site) { return calls_->own_calls(site) == calls_->entries(site); });
}

bool PassEvidence::are_certain(const AlternativeSites& sites) noexcept {
    return std::all_of(sites.begin(), sites.end(), [&](NodeId site) { return certain_.are_made_at(site); });
}

bool PassEvidence::is_confirmed_by_others(const Loop& loop, NodeId site, std::uint64_t passes) noexcept {
    std::uint32_t asked = 0;
    for (std::uint32_t i = 0; i < loop.sites.size(); ++i) {
        for (std::uint32_t k = i; k < loop.sites.size(); ++k) {
            const NodeId one = loop.sites[i], other = loop.sites[k];
            const std::uint64_t count = calls_->entries(one) + (i == k ? 0 : calls_->entries(other));
            if (one == site || other == site || !calls_->is_once_a_pass(count, passes) || ++asked > most_asked) continue;
            if (!code_.may_leave_out(site, one, other) && (i != k || certain_.are_made_at(one))) return true;
        }
    }
    return false;
}

bool PassEvidence::is_start_certain(NodeId site, NodeId start) noexcept { return is_certain_below(site, start, false); }

/// Whether the functions from that called at `site` on reach the call `start`: none may leave out the next one, or jump at its end to another. `once`: nor
/// make it in a loop, as often as there are neighbours.
bool PassEvidence::is_certain_below(NodeId site, NodeId start, bool once) noexcept {
    if (start == 0) return true;
    const CallTree& tree = calls_->tree();
    NodeId next = start;
    for (NodeId node = tree[start].parent; node != 0; next = node, node = tree[node].parent) {
        if (below_.may_return_before(node, next == start ? 0 : below_.function_of(next))) return false;
        if (node == site) return true;
        AlternativeSites one;
        one.add(node);
        if (below_.may_end_without(one) || (once && below_.is_in_loop(node))) return false;
    }
    return true;
}

NodeId PassEvidence::best_certain_at(NodeId site) noexcept {
    NodeList<most_asked_below> refused;
    while (!refused.is_full()) {
        const NodeId best = calls_->best_if([&](NodeId node) { return calls_->is_in_each_entry(node, site) && !refused.has(node); });
        if (best == 0 || is_certain_below(site, best, true)) return best;
        refused.add(best);
    }
    return 0;
}

/// Returns the best start among those of `sites` that may_be(site), lie in the same innermost loop as `chosen`, and comes(site) in each pass of it.
template <class MayBe, class Comes> NodeId PassEvidence::best_of(const NodeList<64>& sites, NodeId chosen, MayBe may_be, Comes comes) noexcept {
    NodeId best = 0;
    std::uint32_t asked = 0;
    for (const NodeId site : sites) {
        if (!may_be(site) || (best != 0 && !calls_->is_better_site(site, best)) || ++asked > most_asked) continue;
        if (is_in_loop_of(site, chosen) && is_in_loop_of(chosen, site) && comes(site)) best = site;
    }
    return best;
}

NodeId PassEvidence::best_own_in_each_pass(const NodeList<64>& sites, NodeId chosen, std::uint64_t least) noexcept {
    const auto is_own = [&](NodeId site) {
        const std::uint64_t own = calls_->own_calls(site);
        return own == calls_->entries(site) && own + 1 >= least && calls_->best_at(site) != 0;
    };
    return best_of(sites, chosen, is_own, [&](NodeId site) { return !code_.may_leave_out(site, site, site); });
}

NodeId PassEvidence::best_in_each_pass(const NodeList<64>& sites, NodeId chosen, std::uint64_t least) noexcept {
    const auto is_counted = [&](NodeId site) { return calls_->entries(site) + 1 >= least && !calls_->is_jumped_from(site); };
    const auto comes = [&](NodeId site) { return is_in_each_pass(site); };
    if (is_counted(chosen) && comes(chosen)) return chosen;
    return best_of(
        sites, chosen, [&](NodeId site) { return site != chosen && is_counted(site); }, comes);
}

bool PassEvidence::is_confirmed(const Loop& loop, std::uint64_t frequent) noexcept {
    const NodeId call = calls_->best_of(frequent), site = (*calls_)[call].site;
    if (calls_->tree()[call].parent == site && !calls_->is_entry(call) && is_in_each_pass(site)) return true;
    const Alternatives& all = alternatives_of(loop, site);
    if (all.is_exact && all.is_complete && are_own(all.sites) && are_certain(all.sites)) return true;
    return is_confirmed_by_others(loop, site, frequent);
}

} // namespace libprofile
