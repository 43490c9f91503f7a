// Interposed: dl_iterate_phdr, dlclose and pipe2.
// Contract: thread-safe, usable before our constructor; outside libprofile they do exactly what libc does.
//
// libunwind finds unwind tables through dl_iterate_phdr, which takes the loader's lock. In a signal handler that is a deadlock if the lock's owner waits
// for this thread. So inside libprofile it gets a snapshot instead. It does not get its pipe, either. The unwinder of exceptions asks, too, before GCC 13:
// for the program's own look at its stack, which may find libprofile interrupted, and for objects that no snapshot has yet.
//
// Not all who unload call our dlclose(): UCX (libucm) replaces it in all modules by its own, which calls the C library's. When a dlopen() of its own has
// loaded something, it asks dl_iterate_phdr() for all modules. There the loader's count tells what is gone before code in its place is called.

#include "libprofile/base/process.hpp"
#include "libprofile/base/real_calls.hpp"
#include "libprofile/callpath/load_map.hpp"
#include "libprofile/callpath/unwinder.hpp"
#include "libprofile/thread/thread.hpp"

#include <cerrno>

#define EXPORTED extern "C" [[gnu::visibility("default")]]

namespace libprofile {

namespace {

bool may_look() { return process.measuring() && thread_local_block.in_tool == 0; }

void forget_unloaded(unsigned long long unloads) {
    load_map.invalidate();
    unwinder.flush();
    load_map.noticed(unloads);
    load_map.mark_stale(); // the modules that are gone are determined on demand
}

struct Visit {
    PhdrCallback callback;
    void* data;
    unsigned long long unloads;
    bool is_counted;
};

int visit_and_count(dl_phdr_info* info, std::size_t size, void* data) {
    Visit& visit = *static_cast<Visit*>(data);
    visit.unloads = info->dlpi_subs;
    visit.is_counted = true;
    return visit.callback(info, size, visit.data);
}

} // namespace

} // namespace libprofile

EXPORTED int dl_iterate_phdr(libprofile::PhdrCallback callback, void* data) {
    using namespace libprofile;
    if (thread_local_block.in_tool != 0 && unwinder.holds(__builtin_return_address(0))) return load_map.iterate(callback, data);
    if (!may_look()) return real_calls().dl_iterate_phdr(callback, data);
    Visit visit{callback, data, 0, false};
    const int result = real_calls().dl_iterate_phdr(visit_and_count, &visit);
    if (visit.is_counted && !load_map.is_noticed(visit.unloads)) {
        const InTool guard;
        forget_unloaded(visit.unloads);
    }
    return result;
}

EXPORTED int pipe2(int files[2], int flags) noexcept {
    using namespace libprofile;
    if (!unwinder.refuses_pipe()) return real_calls().pipe2(files, flags);
    errno = EMFILE;
    return -1;
}

EXPORTED int dlclose(void* handle) noexcept {
    using namespace libprofile;
    begin_unloading(); // other threads may run other code at these addresses before we know that something is gone
    const int result = real_calls().dlclose(handle);
    if (may_look()) {
        const InTool guard;
        unsigned long long unloads = 0;
        if (load_map.has_unloaded(unloads)) forget_unloaded(unloads); // else another user still has it open
    }
    end_unloading();
    return result;
}
