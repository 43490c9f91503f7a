#include "libprofile/base/real_calls.hpp"

#include <dlfcn.h>

namespace libprofile {

namespace {
RealCalls calls;
int resolved = 0;

template <class F> void find(F& pointer, const char* name) { pointer = reinterpret_cast<F>(dlsym(RTLD_NEXT, name)); }
} // namespace

const RealCalls& real_calls() noexcept {
    if (__atomic_load_n(&resolved, __ATOMIC_ACQUIRE) == 0) {
        RealCalls found;
        find(found.dl_iterate_phdr, "dl_iterate_phdr");
        find(found.dlclose, "dlclose");
        find(found.pipe2, "pipe2");
        find(found.sigaction, "sigaction");
        find(found.signal, "signal");
        find(found.sigprocmask, "sigprocmask");
        find(found.pthread_sigmask, "pthread_sigmask");
        find(found.sigwait, "sigwait");
        find(found.sigwaitinfo, "sigwaitinfo");
        find(found.sigtimedwait, "sigtimedwait");
        find(found.libc_start_main, "__libc_start_main");
        find(found.pthread_create, "pthread_create");
        calls = found;
        __atomic_store_n(&resolved, 1, __ATOMIC_RELEASE);
    }
    return calls;
}

} // namespace libprofile
