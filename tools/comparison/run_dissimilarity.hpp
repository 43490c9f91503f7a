// How much two runs differ in what they call, iteration by iteration.
// Contract: thread-safe (no state); works on all processors; memory as that of iteration_structures() of both runs; throws std::bad_alloc only.
//
// Source: M. Weber, "Structural Performance Comparison of Parallel Software Applications" (TU Dresden, 2016), chapter 3: the dissimilarity timeline. There
// it is of single events; here of iterations, without the order of the calls inside.
#pragma once

#include "tools/comparison/sequence_pairs.hpp"

#include <span>
#include <vector>

namespace libprofile::tools {

/// By pair: calls without a partner in the other run's iteration, as a share of all of both, 0 to 1; mean over the ranks that both runs have. NaN: of no
/// rank known.
/// @param before after: with equally many places
/// @param common of the call paths of both runs
std::vector<float> run_dissimilarities(const OrderedRun& before, const OrderedRun& after, const CommonPaths& common, std::span<const AlignedPair> pairs);

} // namespace libprofile::tools
