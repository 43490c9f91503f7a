// Regions: how often each was visited and how long that took, and which functions are too small to be instrumented.
// Contract: thread-safe (no state); allocates its results; throws std::bad_alloc only.
#pragma once

#include "tools/reader/model.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace libprofile::tools {

/// A region, or an instrumented function, over all of its call paths.
struct RegionRow {
    NodeKind kind = NodeKind::Region;
    RegionClass region_class = RegionClass::User;
    std::string name;       // as label_of()
    std::string source;     // "file:line"; empty if unknown
    std::uint32_t site = 0; // FunctionRegion: index of the site
    std::uint64_t visits = 0;
    std::uint64_t inclusive_ns = 0;
    std::uint64_t exclusive_ns = 0;
    std::vector<std::uint64_t> counted; // Region: what RegionCounters came to, from entry to exit
    std::uint64_t visits_inside = 0;    // FunctionRegion: to instrumented functions that it called, directly or not
    double mean_ns() const { return visits == 0 ? 0 : static_cast<double>(inclusive_ns) / static_cast<double>(visits); }
};

/// The counters that named regions have: positions in Profile::metrics, and the names of the counters themselves.
struct RegionCounters {
    std::vector<std::size_t> metrics;
    std::vector<std::string> names;
};
RegionCounters region_counters(const Profile& profile);

/// Those of all threads, by inclusive time, longest first.
std::vector<RegionRow> region_rows(const Profile& profile);

/// Losses and repairs over all ranks; pair_ps is the highest of a rank. Empty if the job had no regions.
std::optional<RegionsRecord> region_losses(const Profile& profile);

/// What a visit to an instrumented function cost, in ns.
double visit_cost_ns(const Profile& profile);

/// Functions whose instrumentation costs too much, the costliest first.
struct TinyFunctions {
    std::vector<RegionRow> chosen;
    double cost_ns = 0;      // of all instrumentation
    double cost_left_ns = 0; // without theirs
    double computing_ns = 0; // of the threads that have instrumented functions, without what instrumentation costs
    double share() const { return cost_ns / computing_ns; }
    double share_left() const { return cost_left_ns / computing_ns; }
};
/// @param target what instrumentation may cost at most, as a share of the computing time without it
/// A function is chosen if its visits, without the cost of instrumentation inside, are shorter than ten times their cost; then
/// those with the shortest visits until the rest costs no more than `target`.
TinyFunctions choose_tiny(const Profile& profile, double target);

} // namespace libprofile::tools
