// The kernel's software events of one thread, opened as one group, so that one system call reads them all.
// Contract: belongs to its thread, but open() and read() may be called by any thread of the process for it; async-signal-safe, never
// allocates. The files have high numbers, and before each reading it is asked whether the file is still ours: an application that closes
// all files and opens its own must not lose bytes of them to us.
#pragma once

#include "format/counters.hpp"
#include "format/metrics.hpp"

#include <cstdint>
#include <sys/types.h>

namespace libprofile {

/// 0: the event can be counted here; else errno.
int try_software_event(const SoftwareEventRow& event) noexcept;

/// Why perf_event_open says `error`, and what can be done about it, as the end of a sentence.
void describe_refusal(int error, char* text, std::size_t size) noexcept;

class SoftwareEvents {
  public:
    /// Opens those of the chosen events that are not refused. False: none is open.
    bool open(pid_t thread) noexcept;
    /// Counts since open(), by place in the choice; others are left alone. False: they can no longer be read.
    bool read(std::uint64_t* values) noexcept;
    void close() noexcept;
    bool is_open() const { return count_ != 0; }
    std::uint8_t mask() const { return mask_; } // bit i: the counter in place i is read

  private:
    bool is_own() const noexcept;
    void forget() noexcept;
    int files_[most_counters] = {};
    std::uint8_t places_[most_counters] = {};
    std::uint32_t count_ = 0;
    std::uint8_t mask_ = 0;
    std::uint64_t id_ = 0; // of the first
};

} // namespace libprofile
