// Interposed: sigaction and signal, for the one real-time signal that carries samples.
// Contract: async-signal-safe and usable before our constructor, as the originals; every other signal is passed on.
//
// A program that resets all signals to their default would otherwise be killed by the next sample: the default action of
// a real-time signal is to end the process. It is shown the disposition it has set, and never gets the signal.

#include "libprofile/sampling/timer.hpp"
#include "libprofile/session/real_calls.hpp"

#include <csignal>

namespace libprofile {

namespace {
struct sigaction shown; // what the application believes; SIG_DFL at first
}

} // namespace libprofile

extern "C" [[gnu::visibility("default")]] int sigaction(int signal, const struct sigaction* wanted,
                                                         struct sigaction* present) noexcept {
    using namespace libprofile;
    if (signal == 0 || signal != sampling_signal()) return real_calls().sigaction(signal, wanted, present);
    const struct sigaction before = shown;
    if (wanted != nullptr) shown = *wanted;
    if (present != nullptr) *present = before;
    return 0;
}

extern "C" [[gnu::visibility("default")]] sighandler_t signal(int number, sighandler_t handler) noexcept {
    using namespace libprofile;
    if (number == 0 || number != sampling_signal()) return real_calls().signal(number, handler);
    const sighandler_t before = shown.sa_handler;
    shown = {};
    shown.sa_handler = handler;
    return before;
}
