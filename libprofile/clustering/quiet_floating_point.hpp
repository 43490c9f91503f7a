// Floating-point arithmetic inside another's process: all exceptions masked, round to nearest. Afterwards the application's control and status
// word is restored (traps enabled by feenableexcept, sticky flags, flush-to-zero).
// Contract: async-signal-safe; use only SSE arithmetic in its scope (the default on x86-64).
#pragma once

#if defined(__SSE__)
#include <xmmintrin.h>
#else
#include <cfenv>
#endif

namespace libprofile {

class QuietFloatingPoint {
  public:
#if defined(__SSE__)
    QuietFloatingPoint() noexcept : saved_(_mm_getcsr()) { _mm_setcsr(0x1f80); }
    ~QuietFloatingPoint() noexcept { _mm_setcsr(saved_); }
#else
    QuietFloatingPoint() noexcept { feholdexcept(&saved_); }
    ~QuietFloatingPoint() noexcept { fesetenv(&saved_); }
#endif
    QuietFloatingPoint(const QuietFloatingPoint&) = delete;
    QuietFloatingPoint& operator=(const QuietFloatingPoint&) = delete;

  private:
#if defined(__SSE__)
    unsigned saved_;
#else
    fenv_t saved_;
#endif
};

} // namespace libprofile
