// How long it is until a thread's next sample: always the same, or as often as a share of the time allows (LIBPROFILE_SAMPLE=auto).
// Contract: belongs to one thread, used by the thread that starts its clock and then by its signal handler; async-signal-safe, never allocates.
//
// Automatic: an account gets a share of each interval, and what each sample has cost is taken off it. It begins with a credit, so that short runs have
// many samples. The mean interval is what pays for a sample; while much is left it is shorter, in debt longer, so that the account goes to nothing and
// never far below. Each interval is drawn evenly from half to one and a half times the mean, so that samples do not keep step with a program that
// repeats itself.
#pragma once

#include "libprofile/base/hashing.hpp"

#include <algorithm>
#include <cstdint>

namespace libprofile {

class SampleRate {
  public:
    static constexpr std::uint64_t shortest_automatic = 1000000; // ns; above 1000 a second the kernel may let samples go without a trace
    static constexpr std::uint64_t longest_automatic = 400000000;
    // One part in 1333 for what is measured of a sample. It costs at least as much again: the timer's interrupt, and caches that the kernel and the
    // handler have emptied (about 20 us a sample on a virtual machine, of which 5 to 20 are measured). And ranks that compute in step wait for each
    // other's samples: two lose both. Together that is some 0.3 % of a job of two ranks, and more where samples seem so cheap that only the clock's
    // ticks limit them.
    static constexpr std::uint64_t samples_of_share = 1333;
    static constexpr std::uint64_t first_credit = 5000000; // ns of a thread: 0.25 % of two seconds

    /// All intervals are `period` ns.
    void fix(std::uint64_t period) noexcept {
        is_fixed_ = true;
        mean_ = interval_ = period;
    }
    /// Intervals follow the cost of samples, `cost` ns at first. `seed` differs between threads.
    void adapt(std::uint64_t cost, std::uint64_t seed) noexcept {
        is_fixed_ = false;
        cost_ = cost;
        random_ = seed * golden;
        choose_mean();
        interval_ = mean_;
    }
    /// The clock cannot keep shorter intervals. For automatic ones only.
    void limit(std::uint64_t shortest) noexcept {
        if (is_fixed_) return;
        shortest_ = std::max(shortest_, shortest);
        choose_mean();
        interval_ = mean_;
    }

    bool is_fixed() const noexcept { return is_fixed_; }
    /// The mean of the intervals, in ns.
    std::uint64_t mean() const noexcept { return mean_; }
    /// The one that runs, in ns.
    std::uint64_t interval() const noexcept { return interval_; }

    /// A sample took `cost` ns of the thread's time, the kernel's work included.
    void learn(std::uint64_t cost) noexcept {
        if (is_fixed_) return;
        constexpr std::uint64_t dearest = 1000000; // something else has taken the rest
        cost = std::min(cost, dearest);
        cost_ = cost_ == 0 ? cost : (15 * cost_ + cost + 8) / 16;
        account_ -= static_cast<std::int64_t>(cost * samples_of_share);
    }

    /// The running interval has ended. Returns the length of the next, in ns.
    std::uint64_t next() noexcept {
        if (is_fixed_) return interval_;
        account_ = std::min(account_ + static_cast<std::int64_t>(interval_), first_account);
        choose_mean();
        random_ += golden;
        return interval_ = mean_ / 2 + (mix(random_) >> 32) * mean_ / 0xffffffffu;
    }

  private:
    void choose_mean() noexcept {
        constexpr std::int64_t samples = 16; // that balance the account
        const std::int64_t wanted = static_cast<std::int64_t>(cost_ * samples_of_share) - account_ / samples;
        mean_ = static_cast<std::uint64_t>(std::clamp(wanted, static_cast<std::int64_t>(shortest_), static_cast<std::int64_t>(longest_automatic)));
    }

    static constexpr std::int64_t first_account = first_credit * samples_of_share;
    bool is_fixed_ = true;
    std::uint64_t mean_ = 0;
    std::uint64_t interval_ = 0;
    std::uint64_t shortest_ = shortest_automatic;
    std::uint64_t cost_ = 0;               // ns of one sample, a mean that forgets
    std::int64_t account_ = first_account; // ns of the thread's time: what is left, as the time whose share it is
    std::uint64_t random_ = 0;
};

} // namespace libprofile
