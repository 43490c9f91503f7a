// libprofile's own share of a job's time: the booked time, and the share of samples.
// Contract: no allocation, no floating point; usable anywhere.
//
// The booked time includes what was calibrated (libprofile/base/unseen_cost.hpp): entering and leaving a call, the kernel's work for a sample. The
// samples that hit libprofile are counted independently, so they are used, too.
#pragma once

#include <cstdint>

namespace libprofile {

/// Whether the booked time is a lower bound. It is if something was done that is not calibrated: regions, constructs of OpenMP, calls while recording was
/// off. And it never includes caches that libprofile has emptied, and waits of other ranks for this: from half a percent on, real programs lost up to
/// four times as much. Below that, paired runs were too noisy to say (docs/overhead.md).
constexpr bool is_lower_bound(std::uint64_t booked_ns, std::uint64_t wall_ns, bool is_partly_seen) noexcept {
    return is_partly_seen || booked_ns >= wall_ns / 200;
}

/// The time that samples represent, at most the wall time. Sleep has no samples.
constexpr std::uint64_t sampled_time(std::uint64_t samples, std::uint64_t per_second, std::uint64_t wall_ns) noexcept {
    if (per_second == 0) return 0;
    const auto ns = static_cast<unsigned __int128>(samples) * 1'000'000'000 / per_second;
    return ns < wall_ns ? static_cast<std::uint64_t>(ns) : wall_ns;
}

/// Returns true if a share of `hits` in `samples` is known to a tenth: half the width of Wilson's interval of two standard deviations (E. B.
/// Wilson, Probable inference, the law of succession, and statistical inference, 1927).
constexpr bool is_share_known(std::uint64_t hits, std::uint64_t samples) noexcept {
    if (samples >= 96) return true; // for any share
    return 400 * (hits * (samples - hits) + samples) <= samples * (samples + 4) * (samples + 4);
}

/// Returns true if `inside` of `samples`, which hit libprofile itself, are significantly more than `booked_ns` out of the represented `sampled_ns`
/// would cause: by over two standard deviations, with enough samples to know their share.
constexpr bool do_samples_say_more(std::uint64_t inside, std::uint64_t samples, std::uint64_t booked_ns, std::uint64_t sampled_ns) noexcept {
    if (sampled_ns == 0 || samples == 0 || !is_share_known(inside, samples)) return false;
    const auto expected = static_cast<unsigned __int128>(booked_ns) * samples / sampled_ns;
    if (inside <= expected) return false;
    const auto excess = inside - expected;
    return excess * excess > static_cast<unsigned __int128>(inside) * 4;
}

} // namespace libprofile
