// The Machine block of the profile file: the machine as hwloc saw it before the program started. Written by ranks for which `libprofile run` took it.
// Contract: plain data; no allocation; `describe` runs with an Encoder or a Decoder.
//
// `libprofile run` leaves the payload in a file, which the runtime copies: machine_file_magic, the CRC-32 of the payload as 4 bytes of this machine,
// the kernel's boot_id, the payload. So nothing of hwloc comes into the job. The boot_id says of which machine the file is: launchers hand its name
// on to other machines, which may have the same folder.
#pragma once

#include "format/codec.hpp"

#include <cstdint>

namespace libprofile {

inline constexpr char machine_file_magic[8] = {'L', 'P', 'M', 'A', 'C', 'H', '2', '\n'};
inline constexpr const char* boot_id_file = "/proc/sys/kernel/random/boot_id";
inline constexpr std::size_t boot_id_size = 36, boot_id_at = sizeof machine_file_magic + 4; // its length, and where it is in the file
inline constexpr std::size_t machine_file_head = boot_id_at + boot_id_size, machine_file_most = 1u << 20;

/// Of number and kind of an object; readers refuse more.
inline constexpr std::uint64_t most_machine_number = 1u << 20;

enum class MachineObject : std::uint64_t { Machine = 1, Package, Group, Die, NumaNode, L5Cache, L4Cache, L3Cache, L2Cache, L1Cache, Core, Processor, Other };

/// Followed by MachineObjectRecord*, each before what lies in it, and distances * distances values: of NUMA nodes in the order of the objects, from
/// the one of the row to that of the column, as the firmware tells them.
struct MachineRecord {
    Text source; // "hwloc 2.9.0"
    std::uint64_t objects = 0;
    std::uint64_t distances = 0; // NUMA nodes that have some; 0: not known
};
template <class Codec> void describe(Codec& c, MachineRecord& r) {
    c.text(r.source);
    c.number(r.objects);
    c.number(r.distances);
}

struct MachineObjectRecord {
    std::uint64_t type = 0;     // MachineObject
    std::uint64_t children = 0; // that lie in it
    std::uint64_t number = 0;   // the kernel's, + 1; 0: none
    std::uint64_t size = 0;     // bytes of a cache or a node's memory
    std::uint64_t kind = 0;     // of cores that differ: its rank by efficiency, + 1; 0: all are alike
};
template <class Codec> void describe(Codec& c, MachineObjectRecord& r) {
    c.number(r.type);
    c.number(r.children);
    c.number(r.number);
    c.number(r.size);
    c.number(r.kind);
}

} // namespace libprofile
