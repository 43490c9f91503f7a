// The MPI calls made in a loop, and the call sites of its function that were entered for them: how often and when.
//
// Contract: belongs to one thread, for one decision; async-signal-safe; scratch memory under the quota; integers only. The list and the tree
// must not change.
#pragma once

#include "libprofile/base/scratch.hpp"
#include "libprofile/loops/event_list.hpp"
#include "libprofile/loops/loop_search.hpp"
#include "libprofile/loops/mpi_traits.hpp"
#include "libprofile/loops/site_path.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace libprofile {

class LoopCalls {
  public:
    /// The occurrences of one MPI call path in the loop, with `site`, the call site of the loop's function. Or the entries of such a site that
    /// made a call other than tests and probes.
    struct Calls : CountedEntries {
        std::uint64_t entry = 0; // number of the last occurrence's entry of the function into a call site
        bool is_inner = false;   // came more than once in one entry; of a call site: twice in a row
    };

    LoopCalls(const EventList& events, const CallTree& tree, const LoopCandidate& candidate, const FunctionTraits& functions) noexcept;

    bool is_there() const { return calls_.is_there() && entries_.is_there() && own_calls_.is_there(); }
    /// Counts the events of the loop. Adds its call sites to `sites`.
    template <class Sites> void count(Sites& sites) noexcept {
        NodeId entered_before = 0;
        const bool is_one = candidate_->entries.activations == 1;
        for_each_event([&](const ListedEvent& event, const SitePath& path, const Moment& moment) {
            if (is_one) sites.add(path.at(candidate_->level));
            count(event, path, moment, entered_before);
        });
        for (NodeId node = 0; node < nodes_ && !is_one; ++node)
            if (calls_[node].count != 0 && is_entry(node) && may_come_again(node)) sites.add(node);
    }
    /// Numbers from 1.
    struct Moment {
        std::uint64_t entry;      // of the function into one of its call sites
        std::uint64_t activation; // of the function
    };
    /// Calls visit(event, path, moment) for the events of the loop.
    template <class Visit> void for_each_event(Visit visit) const noexcept {
        SitePath path;
        Moment moment{0, 1};
        for (const ListedEvent& event : *events_) {
            if (event.common <= candidate_->level) ++moment.entry;
            if (event.common < candidate_->level) ++moment.activation;
            if (event.at < known_from_ || event.at > candidate_->entries.last_at) continue;
            if (!path.find(*tree_, event.node) || path.size < candidate_->level || path.caller_of(candidate_->level) != candidate_->caller) continue;
            visit(event, path, moment);
        }
    }

    // By node number.
    NodeId size() const { return nodes_; }
    Calls& operator[](NodeId node) noexcept { return calls_[node]; }
    const Calls& operator[](NodeId node) const noexcept { return calls_[node]; }
    std::uint64_t entries(NodeId site) const noexcept { return entries_[site]; }
    /// Entries at which the function itself makes the call.
    std::uint64_t own_calls(NodeId site) const noexcept { return own_calls_[site]; }
    /// Whether the node is a call site of the function, not an MPI call.
    bool is_entry(NodeId node) const noexcept { return !is_call((*tree_)[node].kind); }

    /// The log has all passes, from the first one on.
    bool is_known_from_begin() const { return known_from_ == candidate_->entries.first_at; }
    /// For how many ns it knows of passes.
    std::uint64_t span() const {
        const Entries& all = candidate_->entries;
        const std::uint64_t known = all.last_at > known_from_ ? all.last_at - known_from_ : 0;
        if (all.apart_ns == 0 || known == 0) return known;
        return static_cast<std::uint64_t>(static_cast<unsigned __int128>(known) * all.span() / (all.last_at - all.first_at));
    }
    /// If the function was called several times: whether the call came again within one activation. Else it comes before or after the loop.
    bool may_come_again(NodeId node) const noexcept { return candidate_->entries.activations == 1 || calls_[node].repeats() != 0; }

    // A group is the set of calls that came equally often; the count names it. Each activation cuts off one pass, so a call that comes once in a pass
    // may have one less for each.
    bool is_in_group(std::uint64_t count, std::uint64_t group) const { return count + candidate_->entries.activations >= group && count <= group; }
    bool has_in_group(NodeId node, std::uint64_t group) const noexcept { return calls_[node].count != 0 && is_in_group(calls_[node].count, group); }
    /// Whether it came as often as there are passes; the first or the last may be missing on either side.
    bool is_once_a_pass(std::uint64_t count, std::uint64_t passes) const {
        const std::uint32_t cut_off = candidate_->entries.activations;
        return count != 0 && count + cut_off >= passes && count <= passes + cut_off;
    }
    /// Returns the largest count below the group of `count`, 0 if there is none.
    std::uint64_t next_group(std::uint64_t count) const noexcept;
    /// Returns the call of a group to start passes with.
    NodeId best_of(std::uint64_t group) const noexcept {
        return best_if([&](NodeId node) { return has_in_group(node, group); });
    }
    /// Whether it is a call that comes once in each entry of `site`.
    bool is_in_each_entry(NodeId node, NodeId site) const noexcept {
        return calls_[node].site == site && !is_entry(node) && has_in_group(node, entries_[site]);
    }
    /// Returns the best such call, 0 if there is none.
    NodeId best_at(NodeId site) const noexcept {
        return best_if([&](NodeId node) { return is_in_each_entry(node, site); });
    }
    /// Returns the best call for which applies(node), 0 if there is none. All ranks choose the same one.
    template <class Applies> NodeId best_if(Applies applies) const noexcept {
        NodeId best = 0;
        for (NodeId node = 0; node < nodes_; ++node)
            if (applies(node) && (best == 0 || is_better(node, best))) best = node;
        return best;
    }
    /// Compares call sites that each pass enters. The one whose calls make a better start wins.
    bool is_better_site(NodeId one, NodeId other) const noexcept;
    /// A function called there ends by jumping to MPI: that call looks like another entry.
    bool is_jumped_from(NodeId site) const noexcept { return own_calls_[site] != 0 && own_calls_[site] != entries_[site]; }

    const CallTree& tree() const { return *tree_; }
    const LoopCandidate& candidate() const { return *candidate_; }
    const FunctionTraits& functions() const { return *functions_; }

  private:
    void count(const ListedEvent& event, const SitePath& path, const Moment& moment, NodeId& entered_before) noexcept;
    bool comes_before(NodeId one, NodeId other, std::uint64_t at, std::uint64_t other_at) const noexcept;
    std::pair<NodeId, NodeId> parting(NodeId one, NodeId other) const noexcept;
    unsigned preference(NodeId node) const noexcept;
    bool is_better(NodeId one, NodeId other) const noexcept;

    const EventList* events_;
    const CallTree* tree_;
    const LoopCandidate* candidate_;
    const FunctionTraits* functions_;
    NodeId nodes_;
    std::uint64_t known_from_;         // before that the log lacks events of the loop
    Scratch<Calls> calls_;             // by node
    Scratch<std::uint64_t> entries_;   // by call site of the function
    Scratch<std::uint64_t> own_calls_; // the same
};

} // namespace libprofile
