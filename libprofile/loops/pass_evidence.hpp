// What the code of a loop's function and the calls of its passes say of whether a place comes in each pass.
//
// Contract: belongs to one thread, for the length of one decision; async-signal-safe; the code is read at the first question about it (CodeLoops).
#pragma once

#include "libprofile/loops/alternatives.hpp"
#include "libprofile/loops/certain_calls.hpp"
#include "libprofile/loops/loop.hpp"
#include "libprofile/loops/loop_calls.hpp"

namespace libprofile {

class PassEvidence {
  public:
    explicit PassEvidence(const LoopCalls& calls) noexcept
        : calls_(&calls), code_(calls.tree(), calls.functions()), certain_(calls.tree(), calls.functions(), code_) {}

    SiteCode& code() noexcept { return code_; }
    /// Where a pass may leave out `place`, what it enters instead, of the sites that were entered.
    const Alternatives& alternatives_of(const Loop& loop, NodeId site) noexcept;
    std::uint64_t entries_of(const AlternativeSites& sites) const noexcept;
    /// What is called at each of them makes a call each time.
    bool are_certain(const AlternativeSites& sites) noexcept;
    /// Whether something confirms that the group `frequent` misses no pass: the function itself makes the call, and cannot leave it out; or others do.
    bool is_confirmed(const Loop& loop, std::uint64_t frequent) noexcept;
    /// Another of the function's call sites cannot be left out and makes a call each time, and was entered as often as there are passes with `place`;
    /// or two of them together cannot be left out, and came as often (a step with a new neighbour list, and one without).
    bool is_confirmed_by_others(const Loop& loop, NodeId site, std::uint64_t passes) noexcept;
    /// No pass of the innermost loop with `site` leaves it out, and what is called there makes a call each time: so many entries, so many passes.
    bool is_in_each_pass(NodeId site) noexcept { return !code_.may_leave_out(site, site, site) && certain_.are_made_at(site); }
    /// Of the call sites in `sites` that are in the same innermost loop as `place` and come in each pass, `place` first, the one to begin passes
    /// with. It was entered `least` times or more. 0: there is none.
    NodeId best_in_each_pass(const NodeList<64>& sites, NodeId chosen, std::uint64_t least) noexcept;
    /// In the code of the function `seldom` lies in no loop around that of `often`.
    bool is_in_loop_of(NodeId often, NodeId seldom) noexcept { return code_.nesting(often, seldom).nesting == Nesting::Same; }

  private:
    static constexpr std::uint32_t most_asked = 16; // call sites: a few ms
    bool are_own(const AlternativeSites& sites) const noexcept;

    const LoopCalls* calls_;
    SiteCode code_; // of the function
    CertainCalls certain_;
    Alternatives alternatives_; // those that were asked for last
};

} // namespace libprofile
