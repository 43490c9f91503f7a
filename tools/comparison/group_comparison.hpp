// What is different between two groups of runs: by function and call, by call path, by what threads do.
// Contract: plain data. Values are means over ranks and runs.
#pragma once

#include "tools/comparison/activity.hpp"
#include "tools/comparison/interval.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace libprofile::tools {

struct ActivityChange {
    Activity activity;
    Change change;                          // mean over all ranks
    Change visits, bytes;                   // the same; 0 and 0 if they are not counted
    std::vector<std::uint32_t> ranks;       // that have nearly all of the difference; empty: no part of the ranks does, or it is not known
    std::vector<std::uint32_t> ranks_after; // the same ones; or those of the other group, if it has other numbers of ranks (rank_parts.hpp)
    Change there;                           // mean over these ranks
    bool is_everywhere = false;             // every rank has a difference of this sign
    bool waits = false;                     // other rows tell what it waits for
    bool is_waited_for = false;
};

struct PathChange {
    std::uint32_t node = 0;
    TimeUse use = TimeUse::Computing;
    Change change; // exclusive; mean over all ranks
};

/// A group against the first one.
struct GroupComparison {
    std::size_t group = 0;
    Change whole;                              // of time: of the rank that takes longest; else the mean over ranks
    double spread = 0;                         // the larger one of the two groups, of the same
    Change mean;                               // over ranks, of everything
    std::array<Change, time_use_count> by_use; // the same by what the threads do
    std::vector<ActivityChange> activities;    // the largest difference first, those without any left out
    std::vector<PathChange> paths;             // the same
    double matched = 0;                        // share of the time on call paths that both have
    std::size_t ranks_before = 0, ranks_after = 0;
    std::vector<std::string> remarks; // sentences

    /// How much more the group has than the first one, as a share; 0 if that has nothing.
    double share() const { return whole.before == 0 ? 0 : whole.difference() / whole.before; }
};

} // namespace libprofile::tools
