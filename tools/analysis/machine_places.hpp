// Machines as hwloc saw them, with the ranks that were last seen on their parts.
// Contract: thread-safe (no state); allocates its results, which refer to the profile; throws std::bad_alloc only.
#pragma once

#include "tools/analysis/affinity.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace libprofile::tools {

struct PlacedThread {
    std::uint32_t rank = 0, thread = 0;
};

struct PlacedMachine {
    UsedMachine used;
    const MachineTree* tree = nullptr;              // nullptr: no rank of it was started by `libprofile run`, or there was no hwloc
    std::vector<std::vector<std::uint32_t>> ranks;  // by node of the tree: whose main threads were last seen there or inside, ascending
    std::vector<std::vector<PlacedThread>> threads; // by node of the tree, of processors: last seen there, by rank, then thread
};

/// In the order of used_machines().
std::vector<PlacedMachine> placed_machines(const Profile& profile);

/// The machine that a rank ran on, which one of the ranks there has; nullptr: not known.
const MachineTree* machine_of(const Profile& profile, std::uint32_t rank);

/// How far NUMA nodes are from each other, relative to a node's own memory.
class NodeDistances {
  public:
    /// @param tree nullptr: nothing is known
    explicit NodeDistances(const MachineTree* tree);
    /// From a processor on the one node to memory of the other one, such as 2.1; nothing: not known.
    std::optional<double> between(std::uint32_t from, std::uint32_t to) const;

  private:
    const MachineTree* tree_;
    std::map<std::uint32_t, std::size_t> rows_; // by the kernel's number of a node
};

/// Which machines have no tree, and why: a sentence without a full stop; empty if all have one.
std::string unknown_machines(std::span<const PlacedMachine> machines);

/// Whether two parts of a machine have the same shape: types, sizes and kinds of all that lies in them.
bool are_alike(const MachineTree& tree, std::uint32_t a, std::uint32_t b);

} // namespace libprofile::tools
