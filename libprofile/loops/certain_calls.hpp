// Tells whether each entry of a call site makes an MPI call. If not, a pass may enter the site unseen.
// Contract: as SiteCode. What is unknown counts as not certain. Nothing is certain when memory is short.
#pragma once

#include "libprofile/base/scratch.hpp"
#include "libprofile/loops/site_code.hpp"

namespace libprofile {

class CertainCalls {
  public:
    CertainCalls(const CallTree& tree, const FunctionTraits& functions, SiteCode& code) noexcept;

    /// Asks about the calls that the tree has below `site`.
    bool are_made_at(NodeId site) noexcept {
        nodes_left_ = most_nodes;
        return are_made_at(site, most_levels);
    }

  private:
    static constexpr std::uint64_t most_nodes = 4 << 20; // to look at: a few ms
    static constexpr std::uint32_t most_levels = 12;

    bool are_made_at(NodeId site, std::uint32_t levels) noexcept;
    bool may_look_through_tree() noexcept;
    bool are_made_by(std::uintptr_t function, NodeId site, std::uint32_t levels) noexcept;

    /// Other MPI calls are not counted.
    bool is_call_of_mpi(NodeId node) const { return (*tree_)[node].kind == NodeKind::Mpi && !functions_->is_of_datatypes((*tree_)[node]); }
    /// Returns true for a call site, false for an address where only a sample was taken.
    bool leads_to_call(NodeId node) const { return (*tree_)[node].kind == NodeKind::Frame && leads_[node]; }

    const CallTree* tree_;
    const FunctionTraits* functions_;
    SiteCode* code_;
    Scratch<bool> leads_; // by node: an MPI call lies below
    std::uint64_t nodes_left_ = most_nodes;
};

} // namespace libprofile
