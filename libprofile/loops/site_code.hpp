// What the machine code of a function says of its call sites: CodeLoops, asked about nodes of the call tree.
//
// Contract: as CodeLoops. Call sites in no module, in one that is not loaded any more, or in different modules are not understood.
#pragma once

#include "libprofile/callpath/call_tree.hpp"
#include "libprofile/code/code_loops.hpp"
#include "libprofile/loops/loop.hpp"
#include "libprofile/loops/mpi_traits.hpp"

namespace libprofile {

/// Call sites of a function of which each pass of a loop enters one.
using AlternativeSites = NodeList<Loop::most_alternatives + 1>;

class SiteCode {
  public:
    SiteCode(const CallTree& tree, const FunctionTraits& functions) noexcept : tree_(&tree), functions_(&functions), loops_(functions.find_code) {}

    bool is_understood(NodeId site) noexcept;
    /// Whether the innermost loop with the call site lies in another one. False, too, if it is not known.
    bool is_nested(NodeId site) noexcept;
    /// Where the function begins that makes the call at `site`; 0: not known.
    std::uintptr_t function_of(NodeId site) const noexcept { return function_at(address_of(site)); }
    /// Where the function begins that is called at `site`; 0: it is in another module, or known at run time only.
    std::uintptr_t called_function(NodeId site) noexcept;
    NestingAnswer nesting(NodeId often, NodeId seldom) noexcept;
    /// Whether `inner` is in a loop of its own, each pass of the loop around which enters `outer`. False, too, if that is not certain.
    bool lies_around(NodeId outer, NodeId inner) noexcept {
        const NestingAnswer answer = nesting(inner, outer);
        return answer.nesting == Nesting::Around && answer.is_certain;
    }
    /// Whether passes of the innermost loop with the call site `in` may enter neither of two others. True, too, if it is not known.
    bool may_leave_out(NodeId in, NodeId one, NodeId other) noexcept;
    /// Whether passes of the innermost loop with the first of `sites` may enter none of them. True, too, if it is not known.
    bool may_leave_out(const AlternativeSites& sites) noexcept;
    /// Whether a pass of that loop may enter `site` and none of `sites`. False, too, if it is not known.
    bool may_enter_instead(NodeId site, const AlternativeSites& sites) noexcept;
    /// Whether the function that has these call sites may end and have entered none of them. True, too, if it is not known.
    bool may_end_without(const AlternativeSites& sites) noexcept;
    /// Whether what is called at `site` may return before it has come to `function`, which begins there (0: outside the module): where it
    /// goes on in that by a jump at its end. False where nothing says so.
    bool may_return_before(NodeId site, std::uintptr_t function) noexcept;
    /// Whether the two are in the same innermost loop, and no pass of it enters both.
    bool are_apart(NodeId one, NodeId other) noexcept;

  private:
    std::uintptr_t function_at(std::uintptr_t address) const noexcept;
    std::uintptr_t address_of(NodeId site) const noexcept { return functions_->address_of((*tree_)[site]); }
    bool find_addresses(const AlternativeSites& sites, std::uintptr_t (&address)[AlternativeSites::most]) const noexcept;

    const CallTree* tree_;
    const FunctionTraits* functions_;
    CodeLoops loops_;
};

} // namespace libprofile
