// The kernel's software events of one thread, opened as one group: one system call reads them all.
// Contract: belongs to its thread, but any thread of the process may call open() and read() for it. Async-signal-safe; never allocates. The
// files have high numbers. Each reading first asks whether the file is still ours: an application that closes all files and opens its own
// must not lose bytes to us.
#pragma once

#include "format/counters.hpp"
#include "format/metrics.hpp"

#include <cstdint>
#include <sys/types.h>

namespace libprofile {

/// Returns 0 if the event can be counted here, else errno.
int try_software_event(const SoftwareEventRow& event) noexcept;

/// Explains why perf_event_open() failed with `error` and what to do about it, as the end of a sentence.
void describe_refusal(int error, char* text, std::size_t size) noexcept;

class SoftwareEvents {
  public:
    /// Opens those of the chosen events that are not refused. Returns false if none is open.
    bool open(pid_t thread) noexcept;
    /// Stores counts since open(), by index in the choice; leaves other elements alone. Returns false if they can no longer be read.
    bool read(std::uint64_t* values) noexcept;
    void close() noexcept;
    bool is_open() const { return count_ != 0; }
    std::uint8_t mask() const { return mask_; } // bit i: counter i of the choice is read

  private:
    bool is_own() const noexcept;
    void forget() noexcept;
    int files_[most_counters] = {};
    std::uint8_t indexes_[most_counters] = {};
    std::uint32_t count_ = 0;
    std::uint8_t mask_ = 0;
    std::uint64_t id_ = 0; // of the first
};

} // namespace libprofile
