#include "libprofile/base/job.hpp"

#include "libprofile/base/small_file.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace libprofile {

namespace {

int first_number(const char* const* names) {
    for (; *names != nullptr; ++names) {
        const char* value = std::getenv(*names);
        if (value != nullptr && *value >= '0' && *value <= '9') return std::atoi(value);
    }
    return -1;
}

const char* first_text(const char* const* names) {
    for (; *names != nullptr; ++names) {
        const char* value = std::getenv(*names);
        if (value != nullptr && *value != 0) return value;
    }
    return nullptr;
}

// The innermost launcher first: where launchers start each other, it is the one that started the rank.
constexpr const char* rank_names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID", nullptr};
constexpr const char* size_names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS", nullptr};
constexpr const char* job_id_names[] = {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID", "JOB_ID", nullptr};

/// A process as /proc shows it.
struct Process {
    int parent = 0;
    unsigned long long start = 0; // in clock ticks since boot, 0 if unknown
    char name[32] = {};
};

Process look_at(int pid) {
    Process found;
    char path[64];
    char stat[1024];
    std::snprintf(path, sizeof path, "/proc/%d/stat", pid);
    if (read_small_file(path, stat, sizeof stat) <= 0) return found;
    const char* name = std::strchr(stat, '(');
    const char* p = std::strrchr(stat, ')'); // the name may contain blanks and brackets
    if (name == nullptr || p == nullptr) return found;
    std::snprintf(found.name, sizeof found.name, "%.*s", static_cast<int>(p - name - 1), name + 1);
    for (int field = 2; p != nullptr && field < 22; ++field) {
        if (field == 4) found.parent = std::atoi(p);
        p = std::strchr(p + 1, ' ');
    }
    found.start = p == nullptr ? 0 : std::strtoull(p + 1, nullptr, 10);
    return found;
}

/// Returns the value of a variable in a process's environment, which ends with two zero bytes; nullptr if it is not set.
const char* value_in(const char* environment, const char* name) {
    const std::size_t length = std::strlen(name);
    for (const char* p = environment; *p != 0; p += std::strlen(p) + 1)
        if (std::strncmp(p, name, length) == 0 && p[length] == '=') return p + length + 1;
    return nullptr;
}

/// What the launcher started as this rank has the rank's variables. The launcher itself has not.
bool is_of_this_rank(int pid, char* buffer, std::size_t size) {
    char path[64];
    std::snprintf(path, sizeof path, "/proc/%d/environ", pid);
    const ssize_t n = read_small_file(path, buffer, size - 1);
    if (n <= 0) return false;
    buffer[n + 1] = 0;
    for (const char* const* name = rank_names; *name != nullptr; ++name) {
        const char* ours = std::getenv(*name);
        const char* its = value_in(buffer, *name);
        if ((ours == nullptr) != (its == nullptr) || (ours != nullptr && std::strcmp(ours, its) != 0)) return false;
    }
    return true;
}

/// Returns the pid of this rank's launcher. It is our parent, or the parent of shells and wrappers in between (mpirun sh -c './app',
/// mpirun timeout 60 ./app).
int launcher_pid(char* buffer, std::size_t size) {
    int pid = static_cast<int>(getppid());
    for (int depth = 0; depth < 16; ++depth) {
        const Process process = look_at(pid);
        bool is_between = false;
        for (const char* shell : {"sh", "bash", "dash", "zsh", "ksh", "csh", "tcsh"}) is_between = is_between || std::strcmp(process.name, shell) == 0;
        if (process.parent <= 1 || (!is_between && !is_of_this_rank(pid, buffer, size))) break;
        pid = process.parent;
    }
    return pid;
}

std::time_t boot_time() {
    char stat[16384];
    if (read_small_file("/proc/stat", stat, sizeof stat) <= 0) return 0;
    const char* line = std::strstr(stat, "\nbtime ");
    return line == nullptr ? 0 : static_cast<std::time_t>(std::strtoll(line + 7, nullptr, 10));
}

void make_folder_safe(char* name) {
    for (; *name != 0; ++name) {
        const bool good =
            (*name >= '0' && *name <= '9') || ((*name | 0x20) >= 'a' && (*name | 0x20) <= 'z') || *name == '.' || *name == '_' || *name == '-' || *name == '+';
        if (!good) *name = '_';
    }
}

} // namespace

void Job::find(Arena& arena) noexcept {
    static char buffer[65536]; // the session starts once, on one thread
    ssize_t n = readlink("/proc/self/exe", buffer, sizeof buffer - 1);
    buffer[n > 0 ? n : 0] = 0;
    executable = arena.copy_text(buffer);
    const char* slash = std::strrchr(executable, '/');
    char short_name[128];
    std::snprintf(short_name, sizeof short_name, "%s", slash == nullptr ? executable : slash + 1);
    make_folder_safe(short_name);
    name = arena.copy_text(*short_name == 0 ? "program" : short_name);

    n = read_small_file("/proc/self/cmdline", buffer, sizeof buffer);
    for (ssize_t i = 0; i + 1 < n; ++i)
        if (buffer[i] == 0) buffer[i] = ' ';
    command = arena.copy_text(n > 0 ? buffer : executable);
    folder = getcwd(buffer, sizeof buffer) != nullptr ? arena.copy_text(buffer) : "";
    struct stat root {};
    if (stat("/", &root) == 0) {
        root_device_ = root.st_dev;
        root_inode_ = root.st_ino;
    }
    host = gethostname(buffer, 256) == 0 ? arena.copy_text(buffer) : "";

    launcher_rank = first_number(rank_names);
    launcher_ranks = first_number(size_names);

    // Without a batch system, all ranks of a job have the launcher in common. A process that was started by hand has a shell for a
    // parent, so its own pid must count.
    const bool launched = launcher_rank >= 0;
    const int anchor = launched ? launcher_pid(buffer, sizeof buffer) : static_cast<int>(getpid());
    const unsigned long long ticks = look_at(anchor).start;
    const char* batch_id = first_text(job_id_names);
    if (batch_id != nullptr) {
        std::snprintf(short_name, sizeof short_name, "%.100s", batch_id);
        make_folder_safe(short_name);
    } else {
        const std::time_t started = boot_time() + static_cast<std::time_t>(ticks / static_cast<unsigned long long>(sysconf(_SC_CLK_TCK)));
        std::tm local{};
        localtime_r(&started, &local);
        std::strftime(short_name, sizeof short_name, "%Y%m%d-%H%M%S", &local);
    }
    id = arena.copy_text(short_name);
    const char* name_space = std::getenv("PMIX_NAMESPACE");
    const char* step = std::getenv("SLURM_STEP_ID");
    // PMIx builds its name from the host's name and the launcher's pid, and containers repeat both. Open MPI's launcher draws a random key as well.
    const char* random = std::getenv("OMPI_MCA_orte_precondition_transports");
    if (launched && (name_space != nullptr || (batch_id != nullptr && step != nullptr)))
        // The same on all hosts and inside all wrappers, so all ranks find the folder of rank 0 without asking it.
        std::snprintf(buffer, sizeof buffer, "%s %s %s %.100s", batch_id == nullptr ? "" : id, name_space == nullptr ? "" : name_space,
                      step == nullptr ? "" : step, random == nullptr ? "" : random);
    else
        std::snprintf(buffer, sizeof buffer, "%s %s %d %llu", id, host, anchor, ticks);
    key = arena.copy_text(buffer);
}

bool Job::has_new_root() const noexcept {
    struct stat root {};
    return root_inode_ != 0 && stat("/", &root) == 0 && (root.st_dev != root_device_ || root.st_ino != root_inode_);
}

} // namespace libprofile
