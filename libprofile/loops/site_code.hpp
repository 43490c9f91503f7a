// What a function's machine code says of its call sites: CodeLoops, asked about nodes of the call tree.
//
// Contract: as CodeLoops. Call sites in no module, in an unloaded one, or in different modules are not understood.
#pragma once

#include "libprofile/callpath/call_tree.hpp"
#include "libprofile/code/code_loops.hpp"
#include "libprofile/code/code_range.hpp"
#include "libprofile/loops/loop.hpp"
#include "libprofile/loops/mpi_traits.hpp"

namespace libprofile {

/// Call sites of a function, of which each pass of a loop enters one.
using AlternativeSites = NodeList<Loop::most_alternatives + 1>;

class SiteCode {
  public:
    SiteCode(const CallTree& tree, const FunctionTraits& functions) noexcept : tree_(&tree), functions_(&functions), loops_(functions.find_code) {}

    bool is_understood(NodeId site) noexcept;
    /// Whether the call site lies in a loop. Returns true if that is unknown.
    bool is_in_loop(NodeId site) noexcept;
    /// Whether the function calls itself or setjmp(). Returns true if that is unknown.
    bool may_begin_again(NodeId site) noexcept;
    /// Whether the function may enter the call site after it has caught an exception. Returns true if that is unknown.
    bool may_catch_before(NodeId site) noexcept;
    /// Whether the innermost loop with the call site lies in another one. Returns false if that is unknown.
    bool is_nested(NodeId site) noexcept;
    /// Returns the beginning of the function that makes the call at `site`, 0 if unknown.
    std::uintptr_t function_of(NodeId site) const noexcept { return function_at(address_of(site)); }
    /// Bytes of the function's code, or of the part that has the site; 0 if unknown. Reads no code.
    std::uint64_t size_around(NodeId site) const noexcept {
        CodeRange range;
        return address_of(site) != 0 && find_function_code(address_of(site), range) ? range.end - range.start : 0;
    }
    /// Returns the beginning of the function called at `site`, through the linker's stubs; 0 if it is ours, or known at run time only.
    std::uintptr_t called_function(NodeId site) noexcept;
    NestingAnswer nesting(NodeId often, NodeId seldom) noexcept;
    /// Whether `inner` is in a loop of its own, and each pass of the loop around that enters `outer`. Returns false if that is not certain.
    bool lies_around(NodeId outer, NodeId inner) noexcept {
        const NestingAnswer answer = nesting(inner, outer);
        return answer.nesting == Nesting::Around && answer.is_certain;
    }
    /// Whether passes of the innermost loop with `in` may enter neither of two others. Returns true if that is unknown.
    bool may_leave_out(NodeId in, NodeId one, NodeId other) noexcept;
    /// Whether passes of the innermost loop with the first of `sites` may enter none of them. Returns true if that is unknown.
    bool may_leave_out(const AlternativeSites& sites) noexcept;
    /// Whether a pass of that loop may enter `site` and none of `sites`. Returns false if that is unknown.
    bool may_enter_instead(NodeId site, const AlternativeSites& sites) noexcept;
    /// Whether the function with these call sites may end without entering any of them. Returns true if that is unknown.
    bool may_end_without(const AlternativeSites& sites) noexcept;
    /// Whether the function called at `site` may return before it reaches the function that begins at `function` (0: a call of MPI), to which it
    /// may jump at its end. Returns false if nothing says so.
    bool may_return_before(NodeId site, std::uintptr_t function) noexcept;
    /// Whether both are in the same innermost loop, and no pass enters both.
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
