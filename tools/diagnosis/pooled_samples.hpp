// The computing samples of one rank's iterations in pools, of which it is known which iterations they are of: the same kind of iteration; or, with a trace,
// the same part of the run.
// Contract: thread-safe (no state); allocates its results; throws std::bad_alloc only.
#pragma once

#include "tools/analysis/sample_strata.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace libprofile::tools {

struct PooledSamples {
    SampledSelection selection;                   // a stratum is a pool
    std::vector<std::uint32_t> pool_of_iteration; // selection.strata.size(): of none
};

PooledSamples samples_by_kind(const Profile& profile, const PhaseData& data);

/// Nothing without a trace (LIBPROFILE_TRACE), or if it is not known when iterations began. Samples of a phase inside count, too, if its call path is one
/// of this phase's.
/// @param by_kind of the same phase: what its samples hit is computing
std::optional<PooledSamples> samples_by_time(const Profile& profile, const Trace& trace, const PhaseData& data, const SampledSelection& by_kind);

} // namespace libprofile::tools
