// Where ranks ran: machines, NUMA nodes, cores, and what their bindings mean. All reports take these words from here.
// Contract: thread-safe (no state); allocates its results; throws std::bad_alloc only. Text of the profile is made printable.
#pragma once

#include "tools/reader/model.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace libprofile::tools {

/// A core of a machine and the ranks whose main threads were last seen there.
struct UsedCore {
    std::optional<std::uint32_t> numa_node;
    std::optional<std::uint32_t> core; // lowest number of its processors; nothing: it is not known which
    std::vector<std::uint64_t> ranks;  // ascending
};

struct UsedMachine {
    std::string host; // of its first rank
    MachineInfo info;
    std::vector<std::uint64_t> ranks; // with a known affinity, ascending
    std::vector<UsedCore> cores;      // by NUMA node, then core
    std::uint64_t fewest_allowed = 0; // processors that the main thread of a rank might use
    std::uint64_t most_allowed = 0;
};

/// The same for ranks of one machine, whose affinity is known: host names are not always different, and containers have their own.
std::string machine_key(const RankInfo& info);

/// Machines of the ranks with a known affinity, by their first rank.
std::vector<UsedMachine> used_machines(const Profile& profile);

/// "Intel Xeon, 2 sockets, 4 NUMA nodes, 64 cores, 128 processors, 256 GiB".
std::string machine_words(const MachineInfo& info);
/// "each rank was allowed 1 processor of 128", "ranks were not bound: each was allowed all 128 processors".
std::string binding_words(const UsedMachine& machine);

/// What ought to be otherwise: ranks that must have shared cores. Only what follows from the numbers whatever the kernel did: more ranks
/// than cores in all they might use.
std::vector<std::string> affinity_warnings(const Profile& profile);

/// Counters of the job that a rank or thread does not have. One sentence each.
std::vector<std::string> counter_warnings(const Profile& profile);
/// Whether a thread of a rank had the counter that is a position in Profile::metrics (of regions, too); true if unknown. The machine's
/// energy counts for all, whichever rank has read it.
bool had_counter(const Profile& profile, std::uint32_t rank, std::uint32_t thread, std::size_t metric);
/// The same of any rank's main thread.
bool had_counter(const Profile& profile, std::size_t metric);

} // namespace libprofile::tools
