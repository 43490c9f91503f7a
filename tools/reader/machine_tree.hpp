// A machine as hwloc saw it: what lies in what, from packages to hardware threads.
// Contract: plain data, as model.hpp.
#pragma once

#include "format/machine.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace libprofile::tools {

struct MachineNode {
    MachineObject type = MachineObject::Other;
    std::uint32_t end = 0;               // position behind the last one in it: children follow their parent
    std::optional<std::uint32_t> number; // the kernel's; of a core, package or NUMA node its own
    std::uint64_t size = 0;              // bytes of a cache or a node's memory
    std::uint32_t kind = 0;              // of cores that differ: by efficiency, from 1; 0: all are alike
};

struct MachineTree {
    std::string source;                                // "hwloc 2.9.0"
    std::vector<MachineNode> nodes;                    // the first one is the machine
    std::vector<std::vector<std::uint64_t>> distances; // of NUMA nodes in the order of `nodes`; empty: not known
};

/// "L3 cache", "NUMA node", "core".
const char* machine_part(MachineObject type);

} // namespace libprofile::tools
