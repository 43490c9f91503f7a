// What is different between runs of one program in which of their iterations: aligned by what they did, compared by how long that took.
// Contract: thread-safe (no state); works on all processors; allocates; throws ExportError, FrameError with a sentence, std::bad_alloc.
//
// All runs are aligned with the first one of the baseline (tools/structure/iteration_alignment.hpp). What is compared are iterations that all runs of
// both groups have; those that only one has are told apart.
#pragma once

#include "tools/comparison/changed_calls.hpp"
#include "tools/comparison/run.hpp"
#include "tools/comparison/segment_change.hpp"
#include "tools/comparison/typical_events.hpp"
#include "tools/structure/iteration_alignment.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace libprofile::tools {

struct ProfiledRun {
    std::string place;
    const Profile* profile = nullptr; // with names and series
};
struct ProfiledGroup {
    std::string name;
    std::vector<ProfiledRun> runs;
};

/// A group against the first one.
struct GroupOverTime {
    std::size_t group = 0;
    std::uint64_t made = 0;                   // iterations, by all ranks of its first run
    IterationAlignment alignment;             // of its first run
    double least_change = 0;                  // as a share of an iteration: what is less on average is no change
    double equal_pairs = 0;                   // share of all iterations of these two that have an equal partner
    Change iterations;                        // ns of the pairs, mean over ranks
    Change alone;                             // the same, of iterations without a partner
    double alone_before = 0, alone_after = 0; // their number, mean over runs
    Change outside;                           // the rest of the run: ns of main threads, mean over ranks
    std::vector<SegmentChange> segments;      // in the order of time, all together the pairs
    std::vector<AlignedPair> pairs;
    ChangedCalls calls;    // of the first run of both groups
    TypicalEvents typical; // the same
};

struct RunsOverTime {
    std::string phase;                 // of the baseline
    std::uint64_t iterations = 0;      // of its first run
    std::vector<GroupOverTime> groups; // all but the first
    std::vector<std::string> remarks;  // sentences
};

/// @param choice of time; its iterations are those of the baseline's first run
/// @throws ExportError if a run has no iterations; FrameError if the runs have nothing in common
RunsOverTime compare_over_time(const std::vector<ProfiledGroup>& groups, const RunChoice& choice, std::optional<AlignBy> forced);

/// Which iterations of two runs are the same.
IterationAlignment align_runs(const ProfiledRun& a, const ProfiledRun& b, const RunChoice& choice, std::optional<AlignBy> forced);

} // namespace libprofile::tools
