// Tells from the code of a loop's function and the calls of its passes whether each pass enters a call site.
//
// Contract: belongs to one thread, for one decision; async-signal-safe. The code is read at the first question about it (CodeLoops).
#pragma once

#include "libprofile/loops/alternatives.hpp"
#include "libprofile/loops/certain_calls.hpp"
#include "libprofile/loops/loop.hpp"
#include "libprofile/loops/loop_calls.hpp"

namespace libprofile {

class PassEvidence {
  public:
    explicit PassEvidence(const LoopCalls& calls) noexcept
        : calls_(&calls), code_(calls.tree(), calls.functions()), below_(calls.tree(), calls.functions()), certain_(calls.tree(), calls.functions(), code_) {}

    SiteCode& code() noexcept { return code_; }
    /// Returns what passes enter instead of `site`, among the sites that were entered.
    const Alternatives& alternatives_of(const Loop& loop, NodeId site) noexcept;
    std::uint64_t entries_of(const AlternativeSites& sites) const noexcept;
    /// Whether each entry of each of these sites makes a call.
    bool are_certain(const AlternativeSites& sites) noexcept;
    /// Whether evidence confirms that the group `frequent` misses no pass: the function cannot leave out the call, or others confirm it.
    bool is_confirmed(const Loop& loop, std::uint64_t frequent) noexcept;
    /// Whether another call site confirms that each pass enters `site`. That one cannot be left out, makes a call each time, and was entered once a pass.
    /// Or two of them together cannot be left out and came once a pass (a step with a new neighbour list, and one without).
    bool is_confirmed_by_others(const Loop& loop, NodeId site, std::uint64_t passes) noexcept;
    /// Whether no pass of the innermost loop with `site` leaves it out, and each entry makes a call: then entries count passes.
    bool is_in_each_pass(NodeId site) noexcept { return !code_.may_leave_out(site, site, site) && certain_.are_made_at(site); }
    /// Whether each entry of `site` makes the call `start`; 0: an entry is the start.
    bool is_start_certain(NodeId site, NodeId start) noexcept;
    /// Returns the best call that comes once in each entry of `site`, and which the functions called there neither leave out nor make in a loop. Returns 0
    /// if there is none among the first.
    NodeId best_certain_at(NodeId site) noexcept;
    /// Returns the best among those of `sites` at which the function itself makes a call in each pass of the innermost loop with `chosen`, at least
    /// `least` times. Returns 0 if there is none.
    NodeId best_own_in_each_pass(const NodeList<64>& sites, NodeId chosen, std::uint64_t least) noexcept;
    /// Returns the best start among those of `sites` that each pass enters, in the same innermost loop as `chosen` and at least `least` times.
    /// Prefers `chosen`. Returns 0 if there is none.
    NodeId best_in_each_pass(const NodeList<64>& sites, NodeId chosen, std::uint64_t least) noexcept;
    /// Whether, in the function's code, `seldom` lies in no loop around that of `often`.
    bool is_in_loop_of(NodeId often, NodeId seldom) noexcept { return code_.nesting(often, seldom).nesting == Nesting::Same; }

  private:
    static constexpr std::uint32_t most_asked = 16;      // call sites: a few ms
    static constexpr std::uint32_t most_asked_below = 4; // calls, each with all functions that lead to it
    bool is_certain_below(NodeId site, NodeId start, bool once) noexcept;
    bool are_own(const AlternativeSites& sites) const noexcept;
    template <class MayBe, class Comes> NodeId best_of(const NodeList<64>& sites, NodeId chosen, MayBe may_be, Comes comes) noexcept;

    const LoopCalls* calls_;
    SiteCode code_;  // of the function
    SiteCode below_; // of functions called there; apart, since the code of few functions is kept
    CertainCalls certain_;
    Alternatives alternatives_; // of the last question
};

} // namespace libprofile
