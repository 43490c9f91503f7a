// The call sites that lead to an MPI call.
// Contract: belongs to one thread, used with its in-tool flag set; async-signal-safe, allocates nothing.
#pragma once

#include "libprofile/callpath/call_tree.hpp"

#include <cstdint>

namespace libprofile {

/// The call sites on the path to an MPI call, from the outermost. The MPI function itself is not included.
struct SitePath {
    static constexpr std::uint32_t most = 512;
    NodeId site[most]; // of level i + 1
    std::uint32_t size = 0;
    NodeId end = no_node; // the node that the path leads to

    /// Returns false if the path is longer than that.
    bool find(const CallTree& tree, NodeId function) noexcept;
    /// The call site in the function at `level`, reached through those of the levels before; level >= 1.
    NodeId at(std::uint32_t level) const { return site[level - 1]; }
    NodeId caller_of(std::uint32_t level) const { return level == 1 ? 0 : site[level - 2]; }
};

} // namespace libprofile
