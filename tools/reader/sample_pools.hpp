// Shares the computing time of a phase out over the call paths that samples hit.
// Contract: thread-safe (no state); allocates; throws std::bad_alloc only.
//
// A profile has, per cluster, the exact computing time and the samples: their number, and the processor time that each stands for. A cluster
// with few samples does not say much alone. So the clusters of a phase are divided into pools, the smallest that have enough samples, and each
// cluster's computing time is shared out by the samples of its pool. Each sample counts in one pool, so the shares of all clusters together are
// those that the samples give for the whole phase, stratified by pools: W. G. Cochran, "Sampling Techniques", 3rd edition (1977), 5A.9.
#pragma once

#include "tools/reader/model.hpp"
#include "tools/reader/numbering.hpp"
#include "tools/reader/path_sums.hpp"
#include "tools/reader/proportional_shares.hpp"

#include <span>
#include <vector>

namespace libprofile::tools {

/// A pool has at least so many samples, if its phase has. The standard error of a share is then 16 points at most.
inline constexpr std::uint64_t enough_samples = 10;

/// What a call path is to the sharing out.
enum class PathUse : std::uint8_t { Other, Computing, NotSampled };

/// The uses of call paths, by the numbers of a file.
/// @param nodes by these numbers, those of `profile`
std::vector<PathUse> uses_of(const Profile& profile, const std::vector<std::uint32_t>& nodes);

/// Turns the cells as they are stored (docs/format.md, "Computing time") into cells with the time of each call path, and with the counters that
/// are shared out likewise. Sums over the call paths of a cluster stay the same. What has no sample in the whole phase stays "(not sampled)".
/// Notes the pools in `data`.
/// @param numbers from the numbers of the cells to those of the profile
/// @param uses uses_of(profile, numbers.nodes)
/// @param data with sorted cells
void share_out_computing_time(CellNumbers numbers, std::span<const PathUse> uses, PhaseData& data);

/// The iterations of the rest may be of any class.
inline constexpr std::uint64_t class_of_rest = ~std::uint64_t{0};

/// The cells of a cluster, or of the rest: in pieces, each by call path.
struct CellList {
    std::vector<std::span<const Cell>> pieces;
    std::uint64_t equivalence_class = 0;
};

/// Memory for the sharing out, which may be used again and again.
struct SharingRoom {
    /// Of a list: what samples stand for, and what else is shared out by them.
    struct Taken {
        std::vector<Weight> sampled;
        std::vector<Cell> others;
    };
    std::vector<Taken> lists;
    std::vector<Weight> weights; // of several lists
    SharesRoom shares;
};

/// Adds what share_out_computing_time() would make of the lists of a phase, the rest last, with the numbers of the profile.
/// Returns false if a cell has a call path or metric without a number.
bool add_shared_out(CellNumbers numbers, std::span<const PathUse> uses, std::span<const CellList> lists, SharingRoom& room, PathSums& to);

} // namespace libprofile::tools
