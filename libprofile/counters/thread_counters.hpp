// The chosen counters of one thread.
// Contract: belongs to its thread, used with the in-tool flag set. Async-signal-safe except open_own(). Never allocates, but PAPI may in
// open_own(). Increments are never negative, whatever a counter does.
#pragma once

#include "libprofile/counters/counter_choice.hpp"
#include "libprofile/counters/os_counters.hpp"
#include "libprofile/counters/software_events.hpp"

#include <cstdint>
#include <sys/types.h>
#include <unistd.h>

namespace libprofile {

class ThreadCounters {
  public:
    bool is_on() const { return on_; }
    /// Begins to count for thread `id`; any thread may call it. `whole`: counts from the thread's own start on, not from now on.
    /// `is_main`: the location also gets the counters of the whole process.
    void open(pid_t id, bool whole, bool is_main) noexcept;
    /// Begins what only the thread itself can begin (PAPI). Not in a signal handler.
    void open_own() noexcept;
    /// Stores the counts since the last call, by index in the choice. With `is_own` false, the caller is another thread and gets what can be
    /// read from there. Returns false if all are 0.
    bool read(std::uint64_t* increments, bool is_own) noexcept;
    /// The same; they are libprofile's own, or belong to a time that is not recorded: of_program() stays where it was at the last read().
    bool read_apart(std::uint64_t* increments, bool is_own) noexcept;
    /// Updates the counts without taking them: the next read() still gets all. For of_program(), at the borders of regions.
    void look(bool is_own) noexcept;
    /// Count of counter `i` at the last read() or look(), without what was set apart. Its origin is arbitrary: use differences.
    std::uint64_t of_program(std::size_t i) const { return counted_[i] - apart_[i]; }
    /// Excludes counts that look() has seen: they are libprofile's own.
    void set_apart(const std::uint64_t* increments) noexcept {
        for (std::size_t i = 0; i < most_counters; ++i) apart_[i] += increments[i];
    }
    /// Stores of_program() of all counters.
    void values(std::uint64_t (&values)[most_counters]) const noexcept {
        for (std::size_t i = 0; i < most_counters; ++i) values[i] = of_program(i);
    }
    pid_t id() const { return id_; } // of the thread
    /// Called when the location is closed.
    void close() noexcept;
    /// Bit i is set if counter i of the choice was read.
    std::uint8_t mask() const { return mask_; }

  private:
    void see(std::uint32_t index, std::uint64_t value) noexcept {
        if (value > counted_[index]) counted_[index] = value;
    }

    bool on_ = false;
    bool reads_os_ = false;
    bool reads_papi_ = false;
    bool tried_papi_ = false;
    std::uint8_t mask_ = 0;
    pid_t id_ = 0;
    int papi_set_ = -1;
    SoftwareEvents software_;
    OsCounts os_;
    std::uint64_t counted_[most_counters] = {};
    std::uint64_t taken_[most_counters] = {}; // of that, by read()
    std::uint64_t apart_[most_counters] = {}; // of that, by set_apart() and read_apart()
    std::uint64_t apart_at_read_[most_counters] = {};
};

/// What is counted in this scope is not the program's (of_program()), though the next read() gets it. Nothing if another thread is in it.
class CountsApart {
  public:
    explicit CountsApart(ThreadCounters& counters) noexcept : counters_(counters), is_on_(counters.is_on() && gettid() == counters.id()) {
        if (!is_on_) return;
        counters.look(true);
        counters.values(before_);
    }
    ~CountsApart() noexcept {
        if (!is_on_) return;
        counters_.look(true);
        std::uint64_t grown[most_counters];
        counters_.values(grown);
        for (std::size_t i = 0; i < most_counters; ++i) grown[i] -= before_[i];
        counters_.set_apart(grown);
    }
    CountsApart(const CountsApart&) = delete;
    CountsApart& operator=(const CountsApart&) = delete;

  private:
    ThreadCounters& counters_;
    bool is_on_;
    std::uint64_t before_[most_counters];
};

} // namespace libprofile
