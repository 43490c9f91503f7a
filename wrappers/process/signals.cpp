// Interposed: sigaction, signal, sigprocmask, pthread_sigmask and the sigwait family, for the one real-time signal that carries samples.
// Contract: async-signal-safe and usable before our constructor, like the originals; every other signal is passed on.
//
// - A program that resets all signals to their default would be killed by the next sample, because the default action of a real-time signal ends the
//   process. So the default is not installed; the program sees the disposition that it has set.
// - A program that blocks all signals and waits for one of them must not receive ours, so ours is never blocked or waited for.
// - Samples do not interrupt a handler on an alternate stack: such stacks are often 8 KiB, and the signal frame of a processor with wide vector
//   registers takes half of that.
// - Where ours is blocked, a mask that is set with it is restored, and stays as it is: by the unwinder, which blocks signals for a moment, in a
//   sample's handler, or by a handler on an alternate stack. Else the next sample would come on top, and small stacks have no room for two.

#include "libprofile/base/real_calls.hpp"
#include "libprofile/sampling/sample_clock.hpp"
#include "libprofile/sampling/shared_signal.hpp"

#include <cerrno>

namespace libprofile {

namespace {

bool is_ours(int signal) { return signal != 0 && signal == sampling_signal(); }

/// `set` without our signal; `copy` provides the memory.
const sigset_t* without_ours(const sigset_t* set, sigset_t& copy) {
    const int ours = sampling_signal();
    if (set == nullptr || ours == 0 || sigismember(set, ours) != 1) return set;
    copy = *set;
    sigdelset(&copy, ours);
    return &copy;
}

bool is_blocked(int signal) {
    sigset_t present;
    return real_calls().pthread_sigmask(SIG_BLOCK, nullptr, &present) == 0 && sigismember(&present, signal) == 1;
}

/// What a change of the mask is to be; `copy` provides the memory.
const sigset_t* changed_mask(int how, const sigset_t* set, sigset_t& copy) {
    const sigset_t* const without = how == SIG_UNBLOCK ? set : without_ours(set, copy);
    return without != set && how == SIG_SETMASK && is_blocked(sampling_signal()) ? set : without;
}

} // namespace

} // namespace libprofile

#define EXPORTED extern "C" [[gnu::visibility("default")]]

EXPORTED int sigaction(int signal, const struct sigaction* wanted, struct sigaction* present) noexcept {
    using namespace libprofile;
    if (is_ours(signal)) {
        const struct sigaction before = shown_action;
        if (wanted != nullptr) shown_action = *wanted;
        if (present != nullptr) *present = before;
        return 0;
    }
    const int ours = sampling_signal() != 0 ? sampling_signal() : first_sampling_signal();
    struct sigaction quiet;
    if (wanted != nullptr && (wanted->sa_flags & SA_ONSTACK) != 0) {
        quiet = *wanted;
        sigaddset(&quiet.sa_mask, ours);
        wanted = &quiet;
    }
    const int result = real_calls().sigaction(signal, wanted, present);
    if (result == 0 && present != nullptr && (present->sa_flags & SA_ONSTACK) != 0) sigdelset(&present->sa_mask, ours);
    return result;
}

EXPORTED sighandler_t signal(int number, sighandler_t handler) noexcept {
    using namespace libprofile;
    if (!is_ours(number)) return real_calls().signal(number, handler);
    const sighandler_t before = shown_action.sa_handler;
    shown_action = {};
    shown_action.sa_handler = handler;
    return before;
}

EXPORTED int sigprocmask(int how, const sigset_t* set, sigset_t* old) noexcept {
    using namespace libprofile;
    sigset_t copy;
    return real_calls().sigprocmask(how, changed_mask(how, set, copy), old);
}

EXPORTED int pthread_sigmask(int how, const sigset_t* set, sigset_t* old) noexcept {
    using namespace libprofile;
    sigset_t copy;
    return real_calls().pthread_sigmask(how, changed_mask(how, set, copy), old);
}

EXPORTED int sigwait(const sigset_t* set, int* signal) {
    using namespace libprofile;
    sigset_t copy;
    return real_calls().sigwait(without_ours(set, copy), signal);
}

EXPORTED int sigwaitinfo(const sigset_t* set, siginfo_t* info) {
    using namespace libprofile;
    sigset_t copy;
    return real_calls().sigwaitinfo(without_ours(set, copy), info);
}

EXPORTED int sigtimedwait(const sigset_t* set, siginfo_t* info, const struct timespec* timeout) {
    using namespace libprofile;
    sigset_t copy;
    return real_calls().sigtimedwait(without_ours(set, copy), info, timeout);
}
