// How far a time that samples shared out may be off.
// Contract: thread-safe (no state); allocates nothing; throws nothing.
#pragma once

#include <algorithm>
#include <cmath>

namespace libprofile::tools {

/// The larger half of the 95 % interval of `part` of an exactly known `all`, of which `samples` samples hit this part in proportion. Zero for the
/// whole, which is exact; what no sample hit has an error, too.
/// Source: E. B. Wilson, "Probable inference, the law of succession, and statistical inference", JASA 22 (1927).
/// @param part, all in ns  @param samples their number; not necessarily whole
/// @return ns; `all` if there are no samples
inline double sampling_error(double part, double all, double samples) {
    constexpr double z = 1.959964; // of the normal distribution: 95 % within
    if (part >= all) return 0;
    if (samples <= 0) return all;
    const double p = part / all, z2 = z * z / samples;
    const double centre = (p + z2 / 2) / (1 + z2), half = std::sqrt(p * (1 - p) * z2 + z2 * z2 / 4) / (1 + z2);
    return all * std::max(centre + half - p, p - centre + half);
}

} // namespace libprofile::tools
