// In which of an application's waits the work of an iteration that has ended is done.
// Contract: plain data of one thread's phase stack, used with the in-tool flag set; integers only.
//
// Why: what a rank does at the end of an iteration makes it late for the next synchronisation, and then everybody waits for it,
// unless it would have waited there itself. Merely doing it on entering a synchronisation changes nothing: the rank that comes last
// comes even later. So it is done where the rank usually waits long enough for it, as it knows from how long this call has
// lasted before; if it waits so long nowhere, in the longest wait of an iteration; and if the iteration has none, at its end.
#pragma once

#include <cstdint>

namespace libprofile {

class WaitChoice {
  public:
    /// A blocking synchronisation begins that usually takes `typical_ns`. True: work that is pending is to be done before it.
    bool is_place_for_work(std::uint32_t typical_ns) {
        if (typical_ns > longest_now_) longest_now_ = typical_ns;
        // Three quarters: the typical time of a call moves from one iteration to the next.
        const std::uint32_t good = longest_before_ - longest_before_ / 4;
        return typical_ns >= (work_ns_ < good ? work_ns_ : good);
    }
    /// The work took so long.
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
