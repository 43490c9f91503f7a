// What users ask first, answered in sentences from exact numbers: where does the time go, what changes over time, which ranks
// differ, what did libprofile cost. The text report, JSON and the page show these sentences as they are.
// Contract: thread-safe (no state); allocates its results; throws std::bad_alloc only. Text of the profile is made printable.
#pragma once

#include "tools/analysis/finding.hpp"
#include "tools/analysis/trend.hpp"
#include "tools/reader/model.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace libprofile::tools {

/// A share of the time, mean over ranks, and of which rank it is lowest and highest.
struct TimePart {
    const char* name = "";
    double share = 0;
    double lowest = 0;
    double highest = 0;
};

/// The times of Table 1 that exclude each other, the largest first; without those that are 0.
/// @param locations main threads (null for a rank without data)
std::vector<TimePart> time_parts(const Profile& profile, const std::vector<const Location*>& locations);

struct Spot;
/// MPI_Init, MPI_Finalize and the like: one of the parts, and nothing that a program could improve.
bool starts_or_ends_mpi(const Profile& profile, const Spot& spot);

/// A function with much own time, without the parts above (libprofile, off CPU at unknown places, not recorded, MPI init/exit).
struct Hottest {
    double share = 0;           // of the time of all ranks
    double error = 0;           // of the share: half of the 95 % interval; 0 if exact
    bool is_order_open = false; // it may as well have more than the one before
    std::string text;           // "MPI_Waitall in exchange"
};
/// "31.2 +- 1.4 %"
std::string share_text(const Hottest& one);
/// At most three, the hottest first, each with 0.5 % or more.
std::vector<Hottest> hottest_functions(const Profile& profile, const std::vector<const Location*>& locations);

/// Who computes most and least: time on the processor outside MPI.
struct RankSpread {
    std::uint32_t busiest = 0, idlest = 0;
    double most = 0, least = 0;     // ns
    double over_mean = 0;           // the busiest, as a share of the mean
    double gain = 0;                // share of the time that equal work on all ranks would save
    std::vector<std::uint64_t> odd; // unlike the others: over 4 deviations, 5 % and 0.5 % of the run from the median; at most a quarter of all
};
/// Empty for fewer than two ranks.
std::optional<RankSpread> rank_spread(const Profile& profile, const std::vector<const Location*>& locations);

/// Whether the iterations of the phase get longer or shorter, and which are slow.
std::vector<std::string> trend_sentences(const Profile& profile, const Trend& trend);

/// All findings, without those about ranks if no rank has data, and about threads if OpenMP teams hardly wait. For phases with
/// iterations, the two with most time.
/// @param found what trends() gives
std::vector<Finding> findings(const Profile& profile, const std::vector<const Location*>& locations, const std::vector<Trend>& found);
std::vector<Finding> findings(const Profile& profile, const std::vector<const Location*>& locations);

} // namespace libprofile::tools
