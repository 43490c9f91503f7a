// Reads LIBPROFILE_METRICS into the choice of counters.
// Contract: once, when the session starts, before other threads count, and outside libprofile's in-tool flag, since it may load PAPI.
#pragma once

#include "libprofile/base/memory.hpp"
#include "libprofile/counters/counter_choice.hpp"

namespace libprofile {

class CounterChooser {
  public:
    /// `list`: names separated by commas. What is unknown, refused or too much is left out and becomes a sentence.
    void choose(const char* list, Arena& arena) noexcept;
    /// One line without newline; empty when all is well.
    const char* complaint() const { return complaint_; }

  private:
    void take(const char* name, Arena& arena) noexcept;
    bool take_papi(ChosenCounter& counter) noexcept;
    void try_software(ChosenCounter& counter) noexcept;
    [[gnu::format(printf, 2, 3)]] void complain(const char* format, ...) noexcept;

    char complaint_[1024] = {};
};
extern CounterChooser counter_chooser;

} // namespace libprofile
