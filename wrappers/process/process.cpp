// Start and end of the process: the constructor and destructor of the library, and fork.
// The interposed functions need nothing from here: all of them work before the constructor has run.

#include "libprofile/base/process.hpp"
#include "libprofile/base/loaded_objects.hpp"
#include "libprofile/base/process_state.hpp"
#include "libprofile/base/processor_number.hpp"
#include "libprofile/base/real_calls.hpp"
#include "libprofile/regions/sleds.hpp"
#include "libprofile/session/session.hpp"
#include "libprofile/thread/thread_registry.hpp"

#include "wrappers/process/jumps.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <pthread.h>
#include <unistd.h>

namespace libprofile {

namespace {

/// Returns true for a shell, a launcher or what makes a container between us and the program (`libprofile run -- sh -c ...`, `libprofile run -- mpirun
/// ...`, `libprofile run -- apptainer exec ...`): the user does not want to see it.
bool is_helper() {
    const char* name = program_invocation_short_name;
    for (const char* starter :
         {"sh",        "bash",        "dash",    "zsh",          "ksh",   "csh",    "tcsh",    "env",   "srun",   "aprun",  "jsrun",  "prun",
          "apptainer", "singularity", "starter", "starter-suid", "bwrap", "ch-run", "shifter", "sarus", "podman", "docker", "enroot", "unshare"})
        if (std::strcmp(name, starter) == 0) return true;
    for (const char* launcher : {"mpirun", "mpiexec", "orterun", "prterun", "orted", "prted", "hydra_"}) // mpirun.openmpi
        if (std::strncmp(name, launcher, std::strlen(launcher)) == 0) return true;
    return false;
}

/// Returns true if `libprofile run` started the process or LIBPROFILE_MPI says that there is no MPI: it is measured without an MPI call.
bool measured_from_the_start() {
    if (is_helper()) return false;
    const char* mpi = std::getenv("LIBPROFILE_MPI");
    return (mpi != nullptr && std::strcmp(mpi, "no") == 0) || is_launchers_process();
}

/// `libprofile run` has put AddressSanitizer's library first, for this program only: others would be searched for leaks at their end and fail. Without it,
/// libprofile.so would end children that are checked by it. So both go from what children are given. In place: setenv() would allocate.
void take_back_preloads() {
    char* const list = std::getenv("LD_PRELOAD");
    if (list == nullptr || std::strncmp(list, "libasan.so", 10) != 0 || !is_launchers_process()) return;
    char* const second = std::strchr(list, ':');
    if (second == nullptr) return;
    std::memmove(list, second + 1, std::strlen(second));
    char* const colon = std::strrchr(list, ':');
    const char* const slash = std::strrchr(list, '/');
    if (slash == nullptr || std::strcmp(slash, "/libprofile.so") != 0) return;
    if (colon != nullptr)
        *colon = 0;
    else
        unsetenv("LD_PRELOAD");
}

void fork_child() {
    if (process.state() == SessionState::Idle) return thread_registry.know_main(); // the child may become an MPI process
    session.in_fork_child();
    // The stack was copied with the mark in it.
    const bool is_found = find_marks_outside(thread_local_block.mark, reinterpret_cast<std::uintptr_t>(LIBPROFILE_OWN_FRAME));
    remove_mark(thread_local_block.mark, reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)), is_found);
    // The child owns a copy of the thread's state, but no timer. It is not part of the job.
    thread_local_block.thread = nullptr;
    thread_local_block.ended = true;
}

[[gnu::constructor]] void process_begins() {
    session_clock.mark_start();
    thread_registry.know_main(); // reads the CPU time at that moment
    real_calls();
    resolve_processor_number();
    take_back_preloads();
    begin_loaded_objects();
    find_jumps();
    pthread_atfork(nullptr, nullptr, fork_child);
    if (measured_from_the_start()) return session.begin_without_mpi();
    // An instrumented program is measured, like one whose hooks are called.
    if (!is_helper() && Sleds::are_in_program()) session.marker_used();
}

[[gnu::destructor]] void process_ends() { session.at_exit(); }

} // namespace

} // namespace libprofile
