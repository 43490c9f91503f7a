// Which iterations to compare with which, so that a report shows what a cause of single iterations or of many did.
// Contract: thread-safe (no state); pure. Iterations are numbers from 0, in order.
#pragma once

#include <cstdint>
#include <span>

namespace libprofile::tools {

struct Stretch {
    std::uint64_t begin = 0;
    std::uint64_t end = 0; // the last iteration is in front of it
    std::uint64_t length() const { return end - begin; }
};

/// The longest stretch of a cause's iterations, which must not be empty. A tenth of it may be others: those that another disturbance
/// hit.
Stretch longest_stretch(std::span<const std::uint64_t> iterations);

/// Iterations beside `own`, as many or fewer, of which a tenth at most are the cause's; on the side where there are more.
/// @param all those that may be taken
/// @return an empty one if there are none
Stretch stretch_beside(const Stretch& own, std::span<const std::uint64_t> iterations, const Stretch& all);

} // namespace libprofile::tools
