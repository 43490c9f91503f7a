// The parameters of the analysis of time series. Defaults are those of the paper, where it has them.
// Contract: plain data; thread-safe.
//
// Source: Lai Wei and John Mellor-Crummey, "Automated Analysis of Time Series Data to Understand Parallel Program Behaviors", ICS 2018.
#pragma once

#include <cstdint>

namespace libprofile::tools {

struct TimeSeriesParameters {
    // Section 3.2. A period is that of the samples that are there: of a thinned trace, times its stride.
    std::uint32_t child_num_acc = 5;  // CHILD_NUM_ACC: so many children accept an iteration
    double child_dur_acc = 5;         // CHILD_DUR_ACC in periods: so long a child accepts it, too
    double most_rejected_share = 0.5; // of a loop's time; above, all of the loop becomes a profile
    // Section 4.1
    double gap_tolerance = 2; // in periods: what a difference of two times is reduced by
    // Section 4.2
    double ratio_min = 0.02;           // Ratio_min: closer clusters are one
    double ratio_rel = 0.25;           // Ratio_rel: so are those closer than this share of the largest ratio
    std::uint32_t most_clusters = 0;   // K; 0: ceil(log2 M) for M instances
    std::uint32_t most_nodes = 100000; // ours: a mean of threads with more nodes, and with twice as many as any of them, becomes a profile
    // Section 4.3.2
    double significance_ratio = 0.001; // of the run time
    double origin_depth_ratio = 0.7;   // of what all inside comes to
    // Section 4.3.3 says high and low without a number; these are ours.
    double high_share = 0.01; // of the run time
    double high_part = 0.25;  // imb(S) is high only if it is also at least this part of the sum of imb(N)
    // How many threads work. No result depends on it. 0: as many as there are processors.
    std::uint32_t workers = 0;
};

} // namespace libprofile::tools
