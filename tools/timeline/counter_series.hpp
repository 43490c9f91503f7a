// How the durations of tasks and calls go with the increase of the counters that were read at their borders (Drebes et al., ISPASS 2016, section V).
// Contract: function without state; allocates in proportion to the counters that were read; throws std::bad_alloc only.
#pragma once

#include "tools/timeline/duration_series.hpp"

namespace libprofile::tools {

/// For each type of task (what runs) and each function that was called, and each counter that grew in one of them. Of tasks that are there as a whole all
/// stretches, from begin to end, so with tasks and waits inside them: counters contain these, too. The one with the longest sum of durations first.
std::vector<DurationSeries> counters_of_events(const Profile& profile, std::span<const std::uint32_t> ranks,
                                               const std::function<bool(const EventPart&)>& is_chosen, const PassingEvents& passing);

} // namespace libprofile::tools
