// The counters that the user chose (LIBPROFILE_METRICS), the same for all threads of the process.
// Contract: choose() runs once, when the session starts, before other threads count, and outside libprofile's in-tool flag, since it may
// load PAPI. Afterwards constant and thread-safe, but for refused().
#pragma once

#include "format/metrics.hpp"
#include "libprofile/base/memory.hpp"

#include <cstdint>

namespace libprofile {

enum class CounterSource : std::uint8_t { Os, Software, Papi };

struct ChosenCounter {
    const char* name = "";
    const char* unit = "count";
    const char* description = "";
    CounterSource source = CounterSource::Os;
    std::uint8_t row = 0; // of the table in format/counters.hpp
    bool refused = false; // it cannot be had on this machine: its values stay 0
    int papi_code = 0;
    bool is_read_from(CounterSource from) const { return source == from && !refused; }
};

class CounterChoice {
  public:
    /// `list`: names separated by commas. What is unknown, refused or too much is left out and becomes a sentence.
    void choose(const char* list, Arena& arena) noexcept;

    std::uint32_t count() const { return count_; }
    /// Of counters, in cells: each has one more, for regions.
    std::uint32_t metrics() const { return 2 * count_; }
    const ChosenCounter& operator[](std::uint32_t i) const { return chosen_[i]; }
    bool has(CounterSource source) const noexcept;
    /// One line without newline; empty when all is well.
    const char* complaint() const { return complaint_; }

  private:
    void take(const char* name, Arena& arena) noexcept;
    bool take_own(ChosenCounter& counter) const noexcept;
    bool take_papi(ChosenCounter& counter) noexcept;
    void try_software(ChosenCounter& counter) noexcept;
    [[gnu::format(printf, 2, 3)]] void complain(const char* format, ...) noexcept;

    ChosenCounter chosen_[most_counters];
    std::uint32_t count_ = 0;
    char complaint_[1024] = {};
};
extern CounterChoice counter_choice;

} // namespace libprofile
