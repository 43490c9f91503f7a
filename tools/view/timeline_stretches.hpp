// What threads did in iterations whose events were not kept: sums, of which the order is not known.
// Contract: one thread; allocates in proportion to the iterations; throws std::bad_alloc only.
#pragma once

#include "tools/reader/model.hpp"
#include "tools/timeline/timeline_states.hpp"
#include "tools/view/timeline_parts.hpp"

#include <cstdint>
#include <vector>

namespace libprofile::tools {

/// Iterations of one phase that follow each other, on one thread.
struct SummedStretch {
    std::uint64_t begin_ns = 0, end_ns = 0; // since the clock of the rank began
    std::uint32_t phase = 0;
    std::uint64_t first = 0, count = 0; // iterations
    TimelineSums sums = {};             // computing too: what is left of the iterations
    bool is_exact = true;               // none of them has the mean of its cluster instead of its own values
};

/// That a page has room for.
inline constexpr std::size_t most_stretches = 200'000;

/// Spans of time that are shown event by event, on one location's clock, in the order of time.
struct ShownSpan {
    std::uint64_t begin_ns = 0, end_ns = 0;
};

/// By location, in the order of time: the outermost iterations that lie in no chosen part and whose begin is known.
/// @param room stretches of all locations together, if possible; then several iterations make one
std::vector<std::vector<SummedStretch>> summed_stretches(const Profile& profile, const ChosenParts& parts, std::size_t room);
/// @param shown by location
std::vector<std::vector<SummedStretch>> summed_stretches(const Profile& profile, const std::vector<std::vector<ShownSpan>>& shown, std::size_t room);

} // namespace libprofile::tools
