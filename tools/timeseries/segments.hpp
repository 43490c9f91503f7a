// Inefficient segments: the significant call paths up to a synchronisation, and what they are a sign of.
// Contract: thread-safe (no state); linear in the paths; throws std::bad_alloc only.
//
// Source: Wei and Mellor-Crummey (ICS 2018), section 4.3.3, Table 2.
// Decisions:
// - Only a significant synchronisation ends a segment. The last segment may end with the run.
// - The body of a loop stands for all iterations of a cluster; what comes after its last synchronisation belongs to the next segment.
// - A path counts for the loss that it was chosen for. The waiting in the synchronisation counts as waiting of the segment.
// - High is what is at least high_share of the run; imb(S) must also be high_part of the sum of imb(N), or else the imbalances trade off.
#pragma once

#include "tools/timeseries/significant_paths.hpp"

#include <optional>
#include <vector>

namespace libprofile::tools {

/// The rows of Table 2, and none of them.
enum class SegmentSign : std::uint8_t {
    None,               // all is low, or only imb(S) is high
    Waiting,            // 1: much waiting
    TradeOff,           // 2: imbalances that may trade off
    Imbalance,          // 3: load imbalance
    TradeOffAndWaiting, // 4: both 1 and 2; waiting may follow from the imbalance
    All,                // 5
};

struct Segment {
    std::vector<SignificantPath> paths;
    std::optional<std::uint32_t> synchronisation; // position among the losses; the last of the paths
    double imb = 0;                               // ns: imb(S)
    double sum_imb = 0;                           // of the other paths
    double sum_wait = 0;                          // of all paths
    SegmentSign sign = SegmentSign::None;
};

std::vector<Segment> segments(const std::vector<NodeLoss>& losses, const std::vector<SignificantPath>& paths, double run_time,
                              const TimeSeriesParameters& parameters);

/// What to look at, in a sentence that ends without a full stop. Empty for None.
const char* advice(SegmentSign sign);

} // namespace libprofile::tools
