// What is said of processes: names of groups, of rows, of events, and the sentences about them.
// Contract: thread-safe (no state); allocates; throws std::bad_alloc only. Text of profiles is made printable.
#pragma once

#include "tools/analysis/hot_spots.hpp"
#include "tools/processes/compared_processes.hpp"

#include <span>
#include <string>
#include <vector>

namespace libprofile::tools {

class ProcessWords {
  public:
    ProcessWords(const Profile& profile, const ComparedProcesses& processes, bool are_threads);

    /// "rank 3", "rank 3 thread 1".
    std::string row(const Location& location) const;
    /// "ranks 0-3, 7"; of threads "8 threads of ranks 0-3".
    /// @param all every one, for programs; else some, and how many
    std::string rows(std::span<const std::uint32_t> rows, bool all = false) const;
    /// What a row is compared with in the imbalance map: "the median rank", "the mean of both".
    std::string median() const;
    /// "MPI_Send in exchange (halo.c:12)", "an iteration of timestep".
    std::string event(std::uint32_t event) const;
    /// "4 groups by visits, 2 by call paths".
    std::string levels() const;
    /// Where a shown group parts from the first; empty where that is not known.
    std::string parting(std::size_t group) const;
    /// What a shown group calls else than the first, where the order of calls was recorded:
    /// "in its most frequent iteration (90 of 100): MPI_Send in exchange added".
    std::string changes(std::size_t group) const;
    /// "rank 3 computes 41 % longer than the median rank in iterations 100-200 (9.3 s in all), in f (f.c:12) on node3".
    std::string cell(const PlacedCell& placed) const;
    /// What the numbers cannot tell, or tell by estimates.
    std::vector<std::string> remarks() const;
    /// How far ranks are from the reference; empty if nothing differs.
    std::vector<std::string> distances() const;

  private:
    /// What some iterations call is known in part only: other phases lie inside of which the profile has sums alone.
    bool has_sums_inside() const;

    const Profile& profile_;
    const ComparedProcesses& processes_;
    bool are_threads_;
    SpotTable spots_;
};

/// A to Z, then AA and so on: of a group by its number.
std::string group_name(std::size_t group);

} // namespace libprofile::tools
