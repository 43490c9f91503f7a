#include "libprofile/sampling/shared_signal.hpp"

#include "libprofile/base/real_calls.hpp"

namespace libprofile {

void forward_signal(int signal, siginfo_t* info, void* context) noexcept {
    const struct sigaction wanted = shown_action;
    if ((wanted.sa_flags & SA_SIGINFO) != 0) {
        wanted.sa_sigaction(signal, info, context);
    } else if (wanted.sa_handler == SIG_DFL) {
        real_calls().sigaction(signal, &wanted, nullptr);
        raise(signal);
    } else if (wanted.sa_handler != SIG_IGN) {
        wanted.sa_handler(signal);
    }
}

} // namespace libprofile
