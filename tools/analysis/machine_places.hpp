// Machines as hwloc saw them, with the ranks that were last seen on their parts.
// Contract: thread-safe (no state); allocates its results, which refer to the profile; throws std::bad_alloc only.
#pragma once

#include "tools/analysis/affinity.hpp"

#include <cstdint>
#include <vector>

namespace libprofile::tools {

struct PlacedMachine {
    UsedMachine used;
    const MachineTree* tree = nullptr;             // nullptr: no rank of it was started by `libprofile run`, or there was no hwloc
    std::vector<std::vector<std::uint32_t>> ranks; // by node of the tree: whose main threads were last seen there or inside, ascending
};

/// In the order of used_machines().
std::vector<PlacedMachine> placed_machines(const Profile& profile);

/// Whether two parts of a machine have the same shape: types, sizes and kinds of all that lies in them.
bool are_alike(const MachineTree& tree, std::uint32_t a, std::uint32_t b);

} // namespace libprofile::tools
