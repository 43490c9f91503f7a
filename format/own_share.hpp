// libprofile's own share of a job's time: what it has booked, and what its samples say.
// Contract: no allocation, no floating point; usable anywhere.
//
// What is booked is the least: entering and leaving a call, the kernel's work for a sample, caches that were emptied are not in it. The
// samples that hit libprofile are counted apart from all that, so they are asked, too.
#pragma once

#include <cstdint>

namespace libprofile {

/// The time that samples stand for: no more than there was. What a program sleeps has none.
constexpr std::uint64_t sampled_time(std::uint64_t samples, std::uint64_t per_second, std::uint64_t wall_ns) noexcept {
    if (per_second == 0) return 0;
    const auto ns = static_cast<unsigned __int128>(samples) * 1'000'000'000 / per_second;
    return ns < wall_ns ? static_cast<std::uint64_t>(ns) : wall_ns;
}

/// Whether a share of `hits` in `samples` is known to a tenth: half the width of Wilson's interval of two standard deviations (E. B. Wilson,
/// Probable inference, the law of succession, and statistical inference, 1927).
constexpr bool is_share_known(std::uint64_t hits, std::uint64_t samples) noexcept {
    if (samples >= 96) return true; // whatever the share
    return 400 * (hits * (samples - hits) + samples) <= samples * (samples + 4) * (samples + 4);
}

/// Whether `inside` of `samples`, those that hit libprofile itself, are more than `booked_ns` of the `sampled_ns` that the samples stand for would
/// bring by chance: by over two standard deviations, of samples enough to tell their share.
constexpr bool do_samples_say_more(std::uint64_t inside, std::uint64_t samples, std::uint64_t booked_ns, std::uint64_t sampled_ns) noexcept {
    if (sampled_ns == 0 || samples == 0 || !is_share_known(inside, samples)) return false;
    const auto expected = static_cast<unsigned __int128>(booked_ns) * samples / sampled_ns;
    if (inside <= expected) return false;
    const auto excess = inside - expected;
    return excess * excess > static_cast<unsigned __int128>(inside) * 4;
}

} // namespace libprofile
