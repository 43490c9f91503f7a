#include "libprofile/loops/loop_levels.hpp"

#include "libprofile/base/scratch.hpp"
#include "libprofile/loops/certain_calls.hpp"
#include "libprofile/loops/loop_calls.hpp"
#include "libprofile/loops/site_path.hpp"

#include <algorithm>

namespace libprofile {

namespace {

constexpr std::uint32_t most_stages = 4; // of a step: passes in each activation

/// The entries of all call sites in the list, by node.
class Sites {
  public:
    Sites(const EventList& events, const CallTree& tree) noexcept : events_(events), tree_(tree), entries_(tree.size()), activation_(tree.size()) {}
    bool is_there() const { return entries_.is_there() && activation_.is_there(); }

    void count() noexcept {
        SitePath path;
        for (const ListedEvent& event : events_) {
            if (!path.find(tree_, event.node)) continue;
            // The function at `common` has gone on and entered a call site; those further inside were called.
            const std::uint32_t common = std::min(event.common, path.size);
            if (common != 0) enter(path.at(common), path.caller_of(common), event.at, common);
            for (std::uint32_t level = common + 1; level <= path.size; ++level) {
                ++activation_[path.caller_of(level)];
                enter(path.at(level), path.caller_of(level), event.at, level);
            }
        }
    }
    const Entries& operator[](NodeId site) const noexcept { return entries_[site]; }
    NodeId size() const { return static_cast<NodeId>(tree_.size()); }

  private:
    void enter(NodeId site, NodeId function, std::uint64_t at, std::uint32_t level) noexcept {
        if (at < events_.known_from(level)) return;
        entries_[site].enter(site, at, activation_[function]);
    }

    const EventList& events_;
    const CallTree& tree_;
    Scratch<CountedEntries> entries_;
    Scratch<std::uint32_t> activation_; // of functions, by the call site that leads to them
};

class Levels {
  public:
    Levels(const EventList& events, const CallTree& tree, const LoopCandidate& loop, const Sites& sites, LoopLevels& levels) noexcept
        : events_(events), tree_(tree), loop_(loop), sites_(sites), levels_(levels) {}

    void find() const noexcept {
        levels_.count = 0;
        if (loop_.entries.activations > 1) add_outer();
        levels_.found = levels_.count;
        levels_.level[levels_.count++] = {loop_, levels_.found};
        add_inner();
    }

  private:
    std::uint32_t level_of(NodeId site) const noexcept { return tree_[site].depth; }
    bool is_below(NodeId node, NodeId site) const noexcept {
        while (node != site && node != 0) node = tree_[node].parent;
        return node == site;
    }
    LoopCandidate candidate(NodeId site) const noexcept { return {tree_[site].parent, level_of(site), sites_[site]}; }

    /// Returns the first in the code of the call sites that the function enters as often as `site`. It is the same on all ranks.
    NodeId first_of_pass(NodeId site) const noexcept {
        NodeId first = site;
        for (NodeId node = 1; node < sites_.size(); ++node)
            if (tree_[node].parent == tree_[site].parent && sites_[node].count == sites_[site].count &&
                place_in_code(tree_[node]) < place_in_code(tree_[first]))
                first = node;
        return first;
    }

    /// Adds call sites on the way to the loop's function that were entered repeatedly, nearly each time with a call of that function.
    void add_outer() const noexcept {
        constexpr std::uint32_t most_outer = 2;
        NodeId around[most_outer];
        std::uint32_t count = 0;
        std::uint64_t inner = loop_.entries.activations;
        for (NodeId site = loop_.caller; site != 0 && count < most_outer; site = tree_[site].parent) {
            const Entries& entries = sites_[site];
            if (entries.repeats() == 0 || entries.count > inner + inner / 4) continue;
            around[count++] = first_of_pass(site);
            inner = entries.activations;
            if (inner < 2) break;
        }
        while (count != 0) {
            levels_.level[levels_.count] = {candidate(around[--count]), levels_.count};
            ++levels_.count;
        }
    }

    const LoopCandidate& outermost() const noexcept { return levels_.level[0].candidate; }
    /// How long a loop went on, with the last pass of each activation, as a share of the known time of its level, in 1/1024.
    std::uint64_t share_of(NodeId site) const noexcept {
        const Entries &entries = sites_[site], &all = outermost().entries;
        const std::uint64_t from = std::max(events_.known_from(level_of(site)), all.first_at);
        const std::uint64_t known = all.last_at > from ? all.last_at - from : 0;
        const std::uint64_t wall = std::max<std::uint64_t>(all.last_at - all.first_at, 1);
        const unsigned __int128 time = static_cast<unsigned __int128>(known) * all.span() / wall * all.count / std::max(all.repeats(), 1u);
        const unsigned __int128 passes = static_cast<unsigned __int128>(entries.span()) * entries.count / std::max(entries.repeats(), 1u);
        return time == 0 ? 0 : static_cast<std::uint64_t>(passes * 1024 / time);
    }
    bool may_be_level(NodeId site) const noexcept {
        const Entries& entries = sites_[site];
        return are_inner_passes(entries, shortest_followed_pass_ns) && entries.first_at <= outermost().entries.last_at &&
               is_below(tree_[site].parent, outermost().caller);
    }
    bool is_known(NodeId function) const noexcept {
        return std::any_of(levels_.level, levels_.level + levels_.count, [&](const LoopLevel& level) { return level.candidate.caller == function; });
    }

    /// Orders call sites of one function by their position in the code, which is the same on all call paths. A site that goes on half as long
    /// belongs to a loop of less time; disturbed passes stay below that factor.
    bool stands_better(NodeId one, NodeId other) const noexcept {
        const std::uint64_t span = sites_[one].span(), its = sites_[other].span();
        if (span > its * 2 || its > span * 2) return span > its;
        return place_in_code(tree_[one]) < place_in_code(tree_[other]);
    }

    /// Adds loops that have half of the outermost loop's time, on all call paths together, outermost first. A call site stands for its function's loop.
    void add_inner() const noexcept {
        constexpr std::uint32_t most_sites = 64;
        NodeId site[most_sites];
        std::uint32_t count = 0;
        for (NodeId node = 1; node < sites_.size() && count < most_sites; ++node) {
            if (sites_[node].count == 0 || !may_be_level(node) || share_of(node) < 1024 / 32) continue;
            NodeId* const same = std::find_if(site, site + count, [&](NodeId other) { return tree_[other].parent == tree_[node].parent; });
            if (same == site + count)
                site[count++] = node;
            else if (stands_better(node, *same))
                *same = node;
        }
        std::sort(site, site + count, [&](NodeId one, NodeId other) {
            const std::uint32_t a = level_of(one), b = level_of(other);
            return a != b ? a < b : one < other;
        });
        for (std::uint32_t i = 0; i < count && levels_.count < LoopLevels::most; ++i) {
            std::uint64_t share = 0;
            bool is_recursive = false;
            for (std::uint32_t k = 0; k < count; ++k) {
                if (!is_same_site(tree_, site[i], site[k])) continue; // several call paths may lead to it
                share += share_of(site[k]);
                is_recursive = is_recursive || (k != i && (is_below(site[i], site[k]) || is_below(site[k], site[i])));
            }
            if (share < 1024 / 2 || is_recursive || is_known(tree_[site[i]].parent)) continue;
            std::uint32_t around = 0;
            for (std::uint32_t k = 0; k < levels_.count; ++k)
                if (is_below(tree_[site[i]].parent, levels_.level[k].candidate.caller)) around = k + 1;
            const bool is_further = around != 0 && levels_.level[around - 1].around != 0;
            if (are_inner_passes(sites_[site[i]], shortest_pass_ns(is_further))) levels_.level[levels_.count++] = {candidate(site[i]), around};
        }
    }

    const EventList& events_;
    const CallTree& tree_;
    const LoopCandidate& loop_;
    const Sites& sites_;
    LoopLevels& levels_;
};

/// Entries of a loop's function into its call sites, by pass.
class EntriesInPasses {
  public:
    EntriesInPasses(const EventList& events, const CallTree& tree, const Loop& outer) noexcept : events_(events), tree_(tree), outer_(outer) {}

    /// Calls visit(site, at, pass) for each.
    template <class Visit> void for_each(Visit visit) const noexcept {
        std::uint64_t pass = 0;
        SitePath path;
        for (const ListedEvent& event : events_) {
            if (event.at < events_.known_from(outer_.level)) continue;
            if (!path.find(tree_, event.node) || !outer_.is_on(path)) continue;
            if (outer_.begins_pass(tree_, path, event.node, event.common)) ++pass;
            if (pass != 0 && event.common <= outer_.level) visit(path.at(outer_.level), event.at, pass);
        }
    }

  private:
    const EventList& events_;
    const CallTree& tree_;
    const Loop& outer_;
};

} // namespace

bool are_inner_passes(const Entries& entries, std::uint64_t shortest_ns) noexcept {
    return entries.repeats() >= LoopSearch::least_passes && entries.count > entries.activations * most_stages &&
           entries.span() / entries.repeats() >= shortest_ns;
}

bool find_level_here(const EventList& events, const CallTree& tree, const Loop& outer, const FunctionTraits& functions, std::uint64_t shortest_ns,
                     Loop& inner) noexcept {
    Scratch<CountedEntries> entries(tree.size());
    if (outer.is_recursion || !entries.is_there()) return false;
    const EntriesInPasses passes(events, tree, outer);
    CountedEntries all;
    passes.for_each([&](NodeId site, std::uint64_t at, std::uint64_t pass) {
        entries[site].enter(site, at, pass);
        all.enter(site, at, 1);
    });
    SiteCode code(tree, functions);
    const auto is_confirmed = [&](NodeId site) { return !code.may_leave_out(site, site, site) && CertainCalls(tree, functions, code).are_made_at(site); };
    NodeId chosen = 0;
    inner = {};
    for (const NodeId site : outer.sites) {
        const Entries& its = entries[site];
        const bool has_half = its.count != 0 && its.repeats() != 0 && its.span() / its.repeats() * its.count >= all.span() / 2;
        const bool is_better = chosen == 0 || its.count > entries[chosen].count || (its.count == entries[chosen].count && tree[site].b < tree[chosen].b);
        if (!has_half || !are_inner_passes(its, shortest_ns) || !code.lies_around(outer.site, site)) continue;
        const bool is_certain = is_confirmed(site);
        if (chosen != 0 && (is_certain != inner.is_confirmed ? inner.is_confirmed : !is_better)) continue;
        chosen = site;
        inner.is_confirmed = is_certain;
    }
    if (chosen == 0) return false;
    inner.begin_at_entries(outer.caller, outer.level, entries[chosen]);
    inner.may_miss = !inner.is_confirmed;
    // Sites entered between two of its passes are in the loop, or in one inside it.
    NodeList<64> between;
    std::uint64_t last_pass = 0;
    passes.for_each([&](NodeId site, std::uint64_t, std::uint64_t pass) {
        if (site != chosen) return (void)between.add(site);
        inner.sites.add(chosen);
        if (pass == last_pass)
            for (const NodeId each : between) inner.sites.add(each);
        last_pass = pass;
        between = {};
    });
    return true;
}

LoopLevels find_levels(const EventList& events, const CallTree& tree, const LoopCandidate& loop) noexcept {
    LoopLevels levels;
    levels.level[0].candidate = loop;
    levels.count = 1;
    if (loop.is_recursion) return levels;
    Sites sites(events, tree);
    if (!sites.is_there()) return levels;
    sites.count();
    Levels(events, tree, loop, sites, levels).find();
    return levels;
}

bool begin_by_entries(const EventList& events, const CallTree& tree, const LoopCandidate& candidate, const FunctionTraits& functions, Loop& loop) noexcept {
    LoopCalls calls(events, tree, candidate, functions);
    if (!calls.is_there()) return false;
    calls.count(loop.sites);
    loop.sites.add(candidate.entries.site);
    loop.begin_at_entries(candidate.caller, candidate.level, candidate.entries);
    return true;
}

} // namespace libprofile
