// The time series of a job: clusters of threads that do alike, and one tree that is the mean of all.
// Contract: uses several threads; the result does not depend on how many. Trees of threads are made when they are needed, so that few are in memory at a
// time. Throws what the source throws, and std::bad_alloc.
//
// Source: Wei and Mellor-Crummey (ICS 2018), section 4.2.
// Decisions: threads of one call are clustered together, so main threads and others should be two calls: waiting for a region is no imbalance between ranks.
// The period of a job is the longest of its threads.
#pragma once

#include "tools/timeseries/thread_tree.hpp"

#include <functional>
#include <vector>

namespace libprofile::tools {

struct SeriesInput {
    const Profile& profile;
    std::vector<const Location*> threads;                                         // those without a trace are left out
    const LoopSource* loops = nullptr;                                            // may be null
    std::function<std::vector<KnownIterations>(const Location&)> known = nullptr; // may be empty: no iterations are known
};

/// All runs of a loop on all threads.
struct LoopTotals {
    ContextId context = 0;
    std::uint64_t threads = 0; // that ran it
    std::uint64_t runs = 0;
    std::uint64_t profiles = 0; // runs of which only a profile remains
    std::uint64_t accepted = 0; // iterations
    std::uint64_t rejected = 0;
    double duration = 0; // ns, of all runs on all threads
};

struct JobSeries {
    Contexts contexts;
    std::vector<const Location*> threads; // members of clusters are positions here
    double period = 0;
    std::vector<TimeCluster> clusters;
    TimeNode mean;
    std::vector<LoopTotals> loops; // with most time first
    std::uint64_t samples = 0;
    std::uint64_t unknown_ancestors = 0; // of samples, not counting the first of a thread
    std::vector<KnownLoops> known;       // by thread
};

/// The profile must outlive the result.
JobSeries job_series(const SeriesInput& input, const TimeSeriesParameters& parameters);

} // namespace libprofile::tools
