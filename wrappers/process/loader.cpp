// Interposed: dl_iterate_phdr, dlclose and pipe2.
// Contract: thread-safe, usable before our constructor; outside libprofile they do exactly what libc does.
//
// libunwind finds unwind tables through dl_iterate_phdr, which takes the loader's lock. In a signal handler that is a deadlock if the lock's owner waits
// for this thread. So inside libprofile it gets a snapshot instead. It does not get its pipe, either. The unwinder of exceptions asks, too, before GCC 13:
// for the program's own look at its stack, which may find libprofile interrupted, and for objects that no snapshot has yet.

#include "libprofile/base/process.hpp"
#include "libprofile/base/real_calls.hpp"
#include "libprofile/callpath/load_map.hpp"
#include "libprofile/callpath/unwinder.hpp"
#include "libprofile/thread/thread.hpp"

#include <cerrno>

#define EXPORTED extern "C" [[gnu::visibility("default")]]

EXPORTED int dl_iterate_phdr(libprofile::PhdrCallback callback, void* data) {
    using namespace libprofile;
    if (thread_local_block.in_tool != 0 && unwinder.holds(__builtin_return_address(0))) return load_map.iterate(callback, data);
    return real_calls().dl_iterate_phdr(callback, data);
}

EXPORTED int pipe2(int files[2], int flags) noexcept {
    using namespace libprofile;
    if (!unwinder.refuses_pipe()) return real_calls().pipe2(files, flags);
    errno = EMFILE;
    return -1;
}

EXPORTED int dlclose(void* handle) noexcept {
    using namespace libprofile;
    const int result = real_calls().dlclose(handle);
    if (process.measuring() && thread_local_block.in_tool == 0) {
        const InTool guard;
        unsigned long long unloads = 0;
        if (!load_map.has_unloaded(unloads)) return result; // another user still has it open
        load_map.invalidate();
        unwinder.flush();
        load_map.noticed(unloads);
        load_map.mark_stale(); // the modules that are gone are determined on demand
    }
    return result;
}
