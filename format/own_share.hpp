// libprofile's own share of a job's time: what it has booked, and what its samples say.
// Contract: no allocation, no floating point; usable anywhere.
//
// What is booked is the least: entering and leaving a call, the kernel's work for a sample, caches that were emptied are not in it. The
// samples that hit libprofile are counted apart from all that, so they are asked, too.
#pragma once

#include <cstdint>

namespace libprofile {

/// Whether `inside` of `samples`, those that hit libprofile itself, are more than `booked_ns` of `wall_ns` would bring by chance: by over
/// two standard deviations.
constexpr bool do_samples_say_more(std::uint64_t inside, std::uint64_t samples, std::uint64_t booked_ns, std::uint64_t wall_ns) noexcept {
    if (wall_ns == 0 || samples == 0) return false;
    const auto expected = static_cast<std::uint64_t>(static_cast<unsigned __int128>(booked_ns) * samples / wall_ns);
    if (inside <= expected) return false;
    const auto excess = static_cast<unsigned __int128>(inside - expected);
    return excess * excess > static_cast<unsigned __int128>(inside) * 4;
}

} // namespace libprofile
