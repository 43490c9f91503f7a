// libprofile's own cost around a cheap event: measured at some events, estimated from these at the others.
// Contract: belongs to one thread, used inside libprofile; async-signal-safe, never allocates.
//
// Why: reading the clock is most of the cost of a cheap event (8-20 ns a read). Two reads bound the MPI call; two more
// would bound our own work around it, which is nearly the same each time.
#pragma once

#include <cstdint>

namespace libprofile {

class OwnCost {
  public:
    /// Returns true if this event is to be measured. That is every 31st: a prime, so a pattern of calls is not always met at the same call.
    bool is_due() noexcept {
        if (left_ != 0) [[likely]] {
            --left_;
            return false;
        }
        left_ = 30;
        return true;
    }

    /// The same in two steps: for a caller that asks first, and passes the event only if it is not to be measured.
    bool is_next_due() const noexcept { return left_ == 0; }
    void pass() noexcept { --left_; }

    /// Makes the next event a measured one.
    void make_due() noexcept { left_ = 0; }

    /// Takes a measured cost in ns. An interrupted measurement counts as an expensive one.
    void learn(std::uint64_t ns) noexcept {
        constexpr std::uint64_t dear = 1000;
        const auto sample = static_cast<int>((ns < dear ? ns : dear) * scale);
        mean_ = static_cast<std::uint16_t>(mean_ == 0 ? sample : mean_ + (sample - mean_) / 8);
    }

    /// The cost of an event that is not measured, in ns.
    std::uint64_t typical() const noexcept { return mean_ / scale; }

  private:
    static constexpr std::uint64_t scale = 16;
    std::uint16_t left_ = 0;
    std::uint16_t mean_ = 0; // ns x scale
};

} // namespace libprofile
