// Floating-point arithmetic inside another's process: all exceptions masked, round to nearest. Afterwards the application's control and status
// word is restored (traps enabled by feenableexcept, sticky flags, flush-to-zero).
// Contract: async-signal-safe; use only scalar or vector arithmetic in its scope, no x87.
#pragma once

#include "libprofile/base/arch/processor.hpp"

namespace libprofile {

class QuietFloatingPoint {
  public:
    QuietFloatingPoint() noexcept {
        saved_.save();
        FloatingPointState::set_quiet();
    }
    ~QuietFloatingPoint() noexcept { saved_.restore(); }
    QuietFloatingPoint(const QuietFloatingPoint&) = delete;
    QuietFloatingPoint& operator=(const QuietFloatingPoint&) = delete;

  private:
    FloatingPointState saved_;
};

} // namespace libprofile
