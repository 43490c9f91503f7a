// Signals of the calling thread wait while an object of this class lives: its handlers run afterwards.
// For moments in which a handler of the program that jumps out (siglongjmp) would leave a lock locked for good.
// Contract: async-signal-safe; no allocation; two system calls. Objects may lie in each other.
#pragma once

#include "libprofile/base/real_calls.hpp"

#include <csignal>

namespace libprofile {

class SignalsWait {
  public:
    SignalsWait() noexcept {
        sigset_t all;
        sigfillset(&all);
        real_calls().pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    ~SignalsWait() noexcept { real_calls().pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    SignalsWait(const SignalsWait&) = delete;
    SignalsWait& operator=(const SignalsWait&) = delete;

  private:
    sigset_t before_;
};

} // namespace libprofile
