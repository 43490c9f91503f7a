// Reads LIBPROFILE_METRICS into the choice of counters.
// Contract: runs once, when the session starts, before other threads count. The in-tool flag must not be set, since PAPI may be loaded.
#pragma once

#include "libprofile/base/memory.hpp"
#include "libprofile/counters/counter_choice.hpp"

namespace libprofile {

class CounterChooser {
  public:
    /// `list`: names separated by commas. Unknown, refused and surplus names are left out and become sentences in complaint().
    void choose(const char* list, Arena& arena) noexcept;
    /// One line without a newline. Empty if all is well.
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
