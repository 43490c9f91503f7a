// In which of an application's waits the work of iterations that have ended is done.
// Contract: plain data of one thread's phase stack, used with the in-tool flag set; integers only.
//
// Why: work at the end of an iteration makes the rank late for the next synchronisation, and all others wait for it, unless it would have
// waited there itself. Doing the work on entering any synchronisation does not help: the rank that comes last comes even later. So the
// work is done in a call in which the rank usually waits long enough, judged by how long that call took before; if there is none, in
// the longest wait of an iteration; if the iteration has no wait, at its end.
#pragma once

#include <cstdint>

namespace libprofile {

class WaitChoice {
  public:
    /// A blocking synchronisation begins that usually takes `typical_ns`. `pending`: iterations whose work is not done; when `most` are pending, the
    /// next end does it. Returns true if it is to be done now: a wait that is long enough is good for half of them, the longest one for all.
    bool is_time_for_work(std::uint32_t typical_ns, std::uint32_t pending, std::uint32_t most) {
        if (typical_ns > longest_now_) longest_now_ = typical_ns;
        if (pending == 0 || pending * 2 < most) return false;
        const std::uint64_t work = std::uint64_t{work_ns_} * pending;
        // Three quarters: the typical time of a call moves from one iteration to the next.
        const std::uint32_t good = longest_before_ - longest_before_ / 4;
        return typical_ns >= work || (pending >= most && typical_ns >= good);
    }
    /// The work of an iteration took so long.
    void learn(std::uint64_t ns) {
        const auto sample = static_cast<std::int64_t>(ns < UINT32_MAX ? ns : UINT32_MAX);
        work_ns_ = static_cast<std::uint32_t>(work_ns_ == 0 ? sample : work_ns_ + (sample - work_ns_) / 8);
    }
    /// Another iteration has ended.
    void next_iteration() {
        longest_before_ = longest_now_;
        longest_now_ = 0;
    }

  private:
    std::uint32_t work_ns_ = 0;        // on average
    std::uint32_t longest_before_ = 0; // typical time of the longest wait in the iteration before
    std::uint32_t longest_now_ = 0;    // and in the running one, so far
};

} // namespace libprofile
