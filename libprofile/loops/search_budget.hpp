// What the search for the time loop may take of the thread's processor time: a share, and a credit at the start. Once that is spent, the search
// looks at windows of consecutive calls only. Each window may take twice as much as the one before: the search cannot know how many calls make a
// pass. The pause before a window lasts until the share has paid for it, so pauses double, too.
// Contract: plain data of one thread. All times in ns; `cpu` is the thread's processor time, which only grows.
#pragma once

#include <algorithm>
#include <cstdint>

namespace libprofile {

class SearchBudget {
  public:
    static constexpr std::uint64_t share = 200; // one in so many
    /// The loops of short runs are found at their end, from the log of all calls. 0.1 s are 200,000 to 300,000 calls: LAMMPS and
    /// hpcc needed 10 to 20 ms. It is half a percent of 20 s.
    static constexpr std::uint64_t credit = 100000000;
    static constexpr std::uint64_t first_window = 4000000, longest_window = 256000000;

    void spend(std::uint64_t ns) { spent_ += ns; }
    std::uint64_t spent() const { return spent_; }
    bool may_be_spent() const { return spent_ > credit; }
    bool is_spent(std::uint64_t cpu) const { return spent_ > allowed(cpu); }
    /// A pause begins. It is over when the thread has used wakes_at() of processor time.
    void pause(std::uint64_t cpu) {
        const std::uint64_t wanted = spent_ + window_;
        wakes_at_ = std::max(cpu, wanted > credit ? (wanted - credit) * share : 0);
        window_ = std::min(window_ * 2, longest_window);
    }
    std::uint64_t wakes_at() const { return wakes_at_; }

  private:
    static std::uint64_t allowed(std::uint64_t cpu) { return credit + cpu / share; }

    std::uint64_t spent_ = 0;
    std::uint64_t window_ = first_window; // what the next one may take
    std::uint64_t wakes_at_ = 0;
};

} // namespace libprofile
