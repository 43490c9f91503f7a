// The chosen counters of one thread.
// Contract: belongs to its thread, used with the in-tool flag set; async-signal-safe but for open_own(); never allocates (PAPI may, in
// open_own()). Whatever a counter does, what it is said to have come to never goes back: increments are not negative.
#pragma once

#include "libprofile/counters/counter_choice.hpp"
#include "libprofile/counters/os_counters.hpp"
#include "libprofile/counters/software_events.hpp"

#include <cstdint>
#include <sys/types.h>

namespace libprofile {

class ThreadCounters {
  public:
    bool is_on() const { return on_; }
    /// Begins to count for thread `id`, by any thread. `whole`: from the thread's own start on, not from now on.
    /// `is_main`: the location has what belongs to the whole process.
    void open(pid_t id, bool whole, bool is_main) noexcept;
    /// What only the thread itself can begin (PAPI); not in a signal handler.
    void open_own() noexcept;
    /// What has been counted since the last call, by place in the choice. Not `is_own`: by another thread, what can be read from there.
    /// False: nothing.
    bool read(std::uint64_t* increments, bool is_own) noexcept;
    /// The same without taking it: the next read() has it all. For of_program(), at the borders of regions.
    void look(bool is_own) noexcept;
    /// What counter `i` had come to when it was read or looked at last, without what was set apart; since when is not told.
    std::uint64_t of_program(std::size_t i) const { return counted_[i] - apart_[i]; }
    /// What read() has given is libprofile's own, or belongs to a time that is not recorded.
    void set_apart(const std::uint64_t* increments) noexcept {
        for (std::size_t i = 0; i < most_counters; ++i) apart_[i] += increments[i];
    }
    pid_t id() const { return id_; } // of the thread
    /// The location is closed.
    void close() noexcept;
    /// Bit i: the counter in place i was read.
    std::uint8_t mask() const { return mask_; }

  private:
    void see(std::uint32_t place, std::uint64_t value) noexcept {
        if (value > counted_[place]) counted_[place] = value;
    }

    bool on_ = false;
    bool is_main_ = false;
    bool reads_os_ = false;
    bool reads_energy_ = false;
    bool reads_papi_ = false;
    bool tried_papi_ = false;
    std::uint8_t mask_ = 0;
    pid_t id_ = 0;
    int papi_set_ = -1;
    SoftwareEvents software_;
    OsCounts os_;
    std::uint64_t counted_[most_counters] = {};
    std::uint64_t taken_[most_counters] = {}; // of that, by read()
    std::uint64_t apart_[most_counters] = {}; // of that, by set_apart()
};

} // namespace libprofile
