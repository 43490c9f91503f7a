#include "wrappers/mpi/dispatch.hpp"

#include "libprofile/session/mpi_events.hpp"
#include "wrappers/mpi/flavour.hpp"
#include "wrappers/mpi/mpi_modules.hpp"

#include <atomic>
#include <cstddef>
#include <cstring>
#include <dlfcn.h>
#include <sched.h>
#include <string_view>
#include <unistd.h>

namespace libprofile {

namespace {

enum State { unresolved, resolving, resolved };
std::atomic<State> state{unresolved};
std::atomic<pid_t> resolving_thread{0};
void* mpi_library; // handle of dlopen; used by the resolving thread only

// Answers without an MPI library. The arguments they do not name are the caller's to clean up.
int answer_no(int* flag) {
    *flag = 0;
    return 0;
}
int answer_error() {
    return 1;
}

void* answer_without_mpi(unsigned id) {
    const std::string_view name = mpi_functions[id].name;
    if (name == "MPI_Initialized" || name == "MPI_Finalized")
        return reinterpret_cast<void*>(answer_no);
    return reinterpret_cast<void*>(answer_error);
}

/// The MPI library's own function, by its profiling name.
void* real_function(unsigned id) {
    char name[64] = "P";
    const std::size_t length = std::strlen(mpi_functions[id].name);
    if (length + 2 > sizeof name)
        return nullptr;
    std::memcpy(name + 1, mpi_functions[id].name, length + 1);
    return dlsym(mpi_library, name);
}

/// Data of the MPI library. A copy relocation may have moved it into the program, so the global scope is
/// asked first; a library that a plugin loaded for itself is not in there.
void* find_data(const char* name) {
    void* data = dlsym(RTLD_DEFAULT, name);
    return data != nullptr ? data : dlsym(mpi_library, name);
}

bool library_has(const char* symbol) {
    return dlsym(mpi_library, symbol) != nullptr;
}

/// The bodies that fit the library's ABI; nullptr and a reason when there are none.
const MpiFlavour* fitting_flavour(const char*& reason) {
    if (library_has("ompi_mpi_comm_world")) {
#ifdef LIBPROFILE_WITH_OPENMPI
        return &openmpi::flavour;
#else
        reason = "the program uses Open MPI, for which this libprofile was not built, so MPI is not "
                 "measured: rebuild libprofile with Open MPI's mpi.h (mpicc.openmpi) installed";
        return nullptr;
#endif
    }
    if (library_has("MPIR_Dup_fn")) { // part of the ABI that MPICH, Intel MPI, MVAPICH2 and Cray MPI share
#ifdef LIBPROFILE_WITH_MPICH
        return &mpich::flavour;
#else
        reason = "the program uses MPICH or a relative of it, for which this libprofile was not built, so "
                 "MPI is not measured: rebuild libprofile with MPICH's mpi.h (mpicc.mpich) installed";
        return nullptr;
#endif
    }
    reason = "the program's MPI library has neither Open MPI's nor MPICH's ABI, so MPI is not measured: "
             "run the program with one of those";
    return nullptr;
}

void set_slot(unsigned id, void* target) {
    std::atomic_ref(libprofile_mpi_slots[id]).store(target, std::memory_order_release);
}

void fill_slots_without_bodies() {
    for (unsigned id = 0; id < mpi_function_count; ++id) {
        void* real = real_function(id);
        set_slot(id, real != nullptr ? real : answer_without_mpi(id));
    }
}

void fill_slots(const MpiFlavour& flavour) {
    unsigned next = 0; // flavour.ids ascends
    for (unsigned id = 0; id < mpi_function_count; ++id) {
        const bool has_body = next < flavour.count && flavour.ids[next] == id;
        void* real = has_body ? flavour.real[next] : real_function(id); // newer than the mpi.h at build time
        if (real == nullptr)
            set_slot(id, answer_without_mpi(id));
        else
            set_slot(id, has_body ? flavour.bodies[next] : real);
        if (has_body)
            ++next;
    }
}

/// Fills the slots for the library in `mpi_library`.
void use_library() {
    const char* reason = nullptr;
    const MpiFlavour* flavour = fitting_flavour(reason);
    if (flavour != nullptr) {
        for (unsigned i = 0; i < flavour->count; ++i)
            flavour->real[i] = real_function(flavour->ids[i]);
        if (!flavour->bind(find_data)) {
            flavour = nullptr;
            reason = "the program's MPI library is older than MPI 3.0, so MPI is not measured: "
                     "use a newer one";
        }
    }
    if (flavour == nullptr) {
        fill_slots_without_bodies();
        mpi_library_unusable(reason);
        return;
    }
    mpi_library_found(flavour->services); // before any slot leads to a body on another thread
    fill_slots(*flavour);
}

} // namespace

} // namespace libprofile

void* libprofile_mpi_resolve(unsigned id) noexcept {
    using namespace libprofile;
    const pid_t self = gettid();
    for (;;) {
        State expected = unresolved;
        if (state.compare_exchange_strong(expected, resolving))
            break;
        if (expected == resolved)
            return std::atomic_ref(libprofile_mpi_slots[id]).load(std::memory_order_acquire);
        if (resolving_thread.load() == self) { // an MPI call from within what follows: past the measurement
            void* real = mpi_library != nullptr ? real_function(id) : nullptr;
            return real != nullptr ? real : answer_without_mpi(id);
        }
        sched_yield(); // another thread is at it
    }
    resolving_thread.store(self);
    mpi_library = find_mpi_library();
    const bool found = mpi_library != nullptr;
    if (found)
        use_library();
    resolving_thread.store(0);
    state.store(found ? resolved : unresolved); // an MPI library may still be loaded later
    return found ? std::atomic_ref(libprofile_mpi_slots[id]).load(std::memory_order_acquire)
                 : answer_without_mpi(id);
}
