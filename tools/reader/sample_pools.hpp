// Shares the computing time of a phase out over the call paths that samples hit.
// Contract: thread-safe (no state); allocates; throws std::bad_alloc only.
//
// A profile has, per cluster, the exact computing time and the samples: their number, and the processor time that each stands for. A cluster
// with few samples does not say much alone. So the clusters of a phase are divided into pools, the smallest that have enough samples, and each
// cluster's computing time is shared out by the samples of its pool. Each sample counts in one pool, so the shares of all clusters together are
// those that the samples give for the whole phase, stratified by pools: W. G. Cochran, "Sampling Techniques", 3rd edition (1977), 5A.9.
#pragma once

#include "tools/reader/decode_phase.hpp"
#include "tools/reader/model.hpp"
#include "tools/reader/numbering.hpp"

namespace libprofile::tools {

/// A pool has at least so many samples, if its phase has. The standard error of a share is then 16 points at most.
inline constexpr std::uint64_t enough_samples = 10;

/// Turns the cells as they are stored (docs/format.md, "Computing time") into cells with the time of each call path, and with the counters that
/// are shared out likewise. Sums over the call paths of a cluster stay the same. What has no sample in the whole phase stays "(not sampled)".
/// Notes the pools in `data`.
/// @param numbers from the numbers of the cells to those of `profile`
/// @param order in which the cells are, and will be
void share_out_computing_time(const Profile& profile, CellNumbers numbers, PhaseData& data, CellOrder order = CellOrder::Sorted);

} // namespace libprofile::tools
