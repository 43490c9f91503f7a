#include "libprofile/loops/certain_calls.hpp"

#include <algorithm>

namespace libprofile {

CertainCalls::CertainCalls(const CallTree& tree, const FunctionTraits& functions, SiteCode& code) noexcept
    : tree_(&tree), functions_(&functions), code_(&code), leads_(tree.size()) {
    if (!leads_.is_there()) return;
    for (NodeId node = static_cast<NodeId>(tree.size()); node-- > 1;) { // children come after their parents
        if (is_call_of_mpi(node) || leads_[node]) leads_[tree[node].parent] = true;
    }
}

bool CertainCalls::may_look_through_tree() noexcept {
    const bool may = nodes_left_ >= tree_->size();
    nodes_left_ -= may ? tree_->size() : nodes_left_;
    return may;
}

/// `function` is called at `site`. Returns true if it cannot end without entering a call site that makes an MPI call each time.
bool CertainCalls::are_made_by(std::uintptr_t function, NodeId site, std::uint32_t levels) noexcept {
    AlternativeSites certain;
    for (NodeId node = 0; node < tree_->size() && !certain.is_full(); ++node) {
        const bool is_its = (*tree_)[node].parent == site && leads_to_call(node) && code_->function_of(node) == function;
        if (is_its && are_made_at(node, levels - 1)) certain.add(node);
    }
    return certain.size() != 0 && !code_->may_return_before(site, function) && !code_->may_end_without(certain);
}

bool CertainCalls::are_made_at(NodeId site, std::uint32_t levels) noexcept {
    if (!leads_.is_there() || levels == 0 || !may_look_through_tree()) return false;
    bool is_any = false;
    constexpr std::uint32_t most_functions = 4; // called at one site
    std::uintptr_t functions[most_functions];
    std::uintptr_t* const begin = functions;
    std::uint32_t count = 0;
    for (NodeId node = 1; node < tree_->size(); ++node) {
        if ((*tree_)[node].parent != site) continue;
        is_any = is_any || is_call_of_mpi(node);
        if (!leads_to_call(node)) continue;
        const std::uintptr_t function = code_->function_of(node);
        if (std::find(begin, begin + count, function) != begin + count) continue;
        if (function == 0 || count == most_functions) return false;
        functions[count++] = function;
    }
    std::uintptr_t* const end = begin + count;
    const std::uintptr_t called = code_->called_function(site);
    if (called != 0 && std::find(begin, end, called) != end) return are_made_by(called, site, levels); // at its end it may jump to others
    if (is_any && code_->may_return_before(site, 0)) return false;
    return (is_any || count != 0) && std::all_of(begin, end, [&](std::uintptr_t each) { return are_made_by(each, site, levels); });
}

} // namespace libprofile
