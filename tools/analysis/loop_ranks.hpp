// The locations that made iterations of a phase, and how many all of them made.
// Contract: thread-safe (no state); allocates its result; throws std::bad_alloc only.
#pragma once

#include "tools/analysis/totals.hpp"
#include "tools/reader/model.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace libprofile::tools {

struct LoopRanks {
    std::vector<const Location*> locations; // in the order of the list; none is null
    std::uint64_t fewest = 0, most = 0;     // iterations of one of them
};

/// @param locations null for a rank without data
inline LoopRanks loop_ranks(const std::vector<const Location*>& locations, std::uint32_t phase) {
    LoopRanks ranks;
    ranks.fewest = std::numeric_limits<std::uint64_t>::max();
    for (const Location* location : locations) {
        const PhaseData* data = find_phase(location, phase);
        if (data == nullptr || data->cluster_of_iteration.empty()) continue;
        ranks.fewest = std::min<std::uint64_t>(ranks.fewest, data->cluster_of_iteration.size());
        ranks.most = std::max<std::uint64_t>(ranks.most, data->cluster_of_iteration.size());
        ranks.locations.push_back(location);
    }
    if (ranks.locations.empty()) ranks.fewest = 0;
    return ranks;
}

} // namespace libprofile::tools
