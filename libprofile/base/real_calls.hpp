// The next definitions of the libc functions that this library interposes.
// Contract: usable before the library's constructor has run. The first use may call dlsym(), so signal handlers rely on an
// earlier call of real_calls(). Thread-safe: resolving twice gives the same pointers.
#pragma once

#include <csignal>
#include <cstddef>
#include <ctime>
#include <link.h>
#include <pthread.h>

namespace libprofile {

using PhdrCallback = int (*)(dl_phdr_info*, std::size_t, void*);

struct RealCalls {
    int (*dl_iterate_phdr)(PhdrCallback, void*) = nullptr;
    int (*dlclose)(void*) = nullptr;
    int (*pipe2)(int*, int) = nullptr;
    int (*sigaction)(int, const struct sigaction*, struct sigaction*) = nullptr;
    void (*(*signal)(int, void (*)(int)))(int) = nullptr;
    int (*sigprocmask)(int, const sigset_t*, sigset_t*) = nullptr;
    int (*pthread_sigmask)(int, const sigset_t*, sigset_t*) = nullptr;
    int (*sigwait)(const sigset_t*, int*) = nullptr;
    int (*sigwaitinfo)(const sigset_t*, siginfo_t*) = nullptr;
    int (*sigtimedwait)(const sigset_t*, siginfo_t*, const timespec*) = nullptr;
    int (*libc_start_main)(int (*)(int, char**, char**), int, char**, void (*)(), void (*)(), void (*)(), void*) = nullptr;
    int (*pthread_create)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*) = nullptr;
};

/// No member is null.
const RealCalls& real_calls() noexcept;

} // namespace libprofile
