// The counters that the user chose (LIBPROFILE_METRICS), the same for all threads of the process.
// Contract: filled once, when the session starts (choosing.hpp); afterwards constant and thread-safe.
#pragma once

#include "format/metrics.hpp"

#include <cstdint>

namespace libprofile {

enum class CounterSource : std::uint8_t { Os, Software, Papi };

struct ChosenCounter {
    const char* name = "";
    const char* unit = "count";
    const char* description = "";
    CounterSource source = CounterSource::Os;
    std::uint8_t row = 0; // in the table of format/counters.hpp
    bool refused = false; // not available on this machine; its values stay 0
    int papi_code = 0;
    bool is_read_from(CounterSource from) const { return source == from && !refused; }
};

class CounterChoice {
  public:
    std::uint32_t count() const { return count_; }
    /// The number of metrics that counters have in cells: two each, one of them for regions.
    std::uint32_t metrics() const { return 2 * count_; }
    const ChosenCounter& operator[](std::uint32_t i) const { return chosen_[i]; }
    bool has(CounterSource source) const {
        for (std::uint32_t i = 0; i < count_; ++i)
            if (chosen_[i].is_read_from(source)) return true;
        return false;
    }
    /// Returns false if there are most_counters already.
    bool add(const ChosenCounter& counter) {
        if (count_ == most_counters) return false;
        chosen_[count_++] = counter;
        return true;
    }

  private:
    ChosenCounter chosen_[most_counters];
    std::uint32_t count_ = 0;
};
inline constinit CounterChoice counter_choice;

} // namespace libprofile
