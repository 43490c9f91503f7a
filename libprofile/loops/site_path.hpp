// The call sites that lead to an MPI call.
// Contract: belongs to one thread, used with its in-tool flag set; async-signal-safe, allocates nothing.
#pragma once

#include "libprofile/callpath/call_tree.hpp"

#include <cstdint>

namespace libprofile {

/// The path of call sites to an MPI call, from the outermost; the MPI function itself is not in it.
struct SitePath {
    static constexpr std::uint32_t most = 512;
    NodeId site[most]; // of level i + 1
    std::uint32_t size = 0;
    NodeId end = no_node; // it leads to

    /// False: it is longer than that.
    bool find(const CallTree& tree, NodeId function) noexcept;
    /// The call site in the function at `level`, which the call sites of the levels before lead to; level >= 1.
    NodeId at(std::uint32_t level) const { return site[level - 1]; }
    NodeId caller_of(std::uint32_t level) const { return level == 1 ? 0 : site[level - 2]; }

  private:
    bool follow(const CallTree& tree, NodeId last) noexcept;
};

} // namespace libprofile
