#include "libprofile/base/job.hpp"

#include "libprofile/base/launcher.hpp"
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

/// A batch system's variables: the job's id, and the number of the job in an array whose jobs share the id.
struct BatchVariables {
    const char* id;
    const char* index;
};
constexpr BatchVariables batch_systems[] = {
    {"SLURM_JOB_ID", nullptr}, {"PBS_JOBID", nullptr}, {"LSB_JOBID", "LSB_JOBINDEX"}, {"FLUX_JOB_ID", nullptr}, {"JOB_ID", "SGE_TASK_ID"},
};

/// Names of one start of a program inside a batch job.
constexpr const char* step_names[] = {"PALS_APID", "ALPS_APP_ID", "FLUX_JOB_ID"};

const char* text_in_environment(const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr && *value != 0 ? value : nullptr;
}

/// Returns false without a batch system.
bool batch_id(char* id, std::size_t size) {
    for (const BatchVariables& system : batch_systems) {
        const char* number = text_in_environment(system.id);
        if (number == nullptr) continue;
        const int index = number_in_environment(system.index);
        if (index > 0)
            std::snprintf(id, size, "%.100s_%d", number, index);
        else
            std::snprintf(id, size, "%.100s", number);
        return true;
    }
    return false;
}

/// The step's only task is not a rank of a job with several, but a shell (srun --pty bash) or a daemon. What it has started has its variables, too, and it
/// may start several jobs.
bool is_slurm_step_of_another() { return slurm_step() != nullptr && number_in_environment(slurm.ranks) == 1; }

const char* step_of_batch_job() {
    if (const char* step = slurm_step(); step != nullptr && !is_slurm_step_of_another()) return step;
    for (const char* name : step_names)
        if (const char* step = text_in_environment(name)) return step;
    return nullptr;
}

/// The job's name in PMIx, or nullptr.
const char* pmix_namespace() {
    const char* name = text_in_environment("PMIX_NAMESPACE");
    return name != nullptr && std::strncmp(name, "slurm.", 6) == 0 && is_slurm_step_of_another() ? nullptr : name;
}

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
    const auto is_ours = [buffer](const char* name) {
        const char* ours = std::getenv(name);
        const char* its = value_in(buffer, name);
        return (ours == nullptr) == (its == nullptr) && (ours == nullptr || std::strcmp(ours, its) == 0);
    };
    for (const LauncherVariables& launcher : launchers)
        if (launcher.rank != nullptr && !is_ours(launcher.rank)) return false;
    return is_ours(slurm.rank);
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

/// Where the proxies of MPICH's launcher find it: the same on all hosts. Empty for other launchers.
void hydra_port(int launcher, char (&port)[128], char* buffer, std::size_t size) {
    port[0] = 0;
    char path[64];
    std::snprintf(path, sizeof path, "/proc/%d/cmdline", launcher);
    const ssize_t n = read_small_file(path, buffer, size);
    for (const char* word = buffer; word < buffer + n; word += std::strlen(word) + 1)
        if (std::strcmp(word, "--control-port") == 0 && word + std::strlen(word) + 1 < buffer + n)
            std::snprintf(port, sizeof port, "%.127s", word + std::strlen(word) + 1);
}

const char* as_date(std::time_t time, char (&text)[32]) {
    std::tm local{};
    localtime_r(&time, &local);
    std::strftime(text, sizeof text, "%Y%m%d-%H%M%S", &local);
    return text;
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

    launcher_rank = number_of_launcher(&LauncherVariables::rank);
    launcher_ranks = number_of_launcher(&LauncherVariables::ranks);

    // Without a batch system, all ranks of a job have the launcher in common. A process that was started by hand has a shell for a
    // parent, so its own pid must count. So does the only rank of a job: several may have their variables from one shell.
    const bool launched = launcher_rank >= 0 && launcher_ranks != 1;
    const int anchor = launched ? launcher_pid(buffer, sizeof buffer) : static_cast<int>(getpid());
    const unsigned long long ticks = look_at(anchor).start;
    const auto booted = static_cast<std::time_t>(number_in_file("/proc/stat", "btime ")); // 0: not known
    const std::time_t started = booted + static_cast<std::time_t>(ticks / static_cast<unsigned long long>(sysconf(_SC_CLK_TCK)));
    if (launched && booted != 0 && ticks != 0) launcher_start = started;
    char date[32];
    constexpr std::time_t two_days = 2 * 24 * 60 * 60; // zones are up to 26 hours apart
    earliest_date = arena.copy_text(as_date(started - two_days, date));
    const bool is_batch = batch_id(short_name, sizeof short_name);
    if (is_batch) make_folder_safe(short_name);
    id = arena.copy_text(is_batch ? short_name : as_date(started, date));

    // What is the same on all hosts and inside all wrappers lets all ranks find the folder of rank 0 without asking it.
    // PMIx builds its name from the host's name and the launcher's pid, and containers repeat both. Open MPI's launcher draws a random key as well.
    // The batch job is no part of it, since ranks that ssh started on other hosts may not have its variables. But jsrun counts its starts in each.
    char port[128] = {};
    if (launched) hydra_port(anchor, port, buffer, sizeof buffer);
    const char* name_space = pmix_namespace();
    const char* random = std::getenv("OMPI_MCA_orte_precondition_transports");
    const char* step = step_of_batch_job();
    key_is_of_all_hosts = true;
    if (launched && port[0] != 0) {
        std::snprintf(buffer, sizeof buffer, "%s %d %llu", host, anchor, ticks);
        daemon = arena.copy_text(buffer);
        std::snprintf(buffer, sizeof buffer, "hydra %s", port);
    } else if (launched && name_space != nullptr)
        std::snprintf(buffer, sizeof buffer, "%s %.255s %.100s", is_batch && std::getenv("JSM_NAMESPACE_RANK") != nullptr ? id : "", name_space,
                      random == nullptr ? "" : random);
    else if (launched && is_batch && step != nullptr)
        std::snprintf(buffer, sizeof buffer, "%s %.100s", id, step);
    else {
        key_is_of_all_hosts = false;
        std::snprintf(buffer, sizeof buffer, "%s %s %d %llu", id, host, anchor, ticks);
    }
    key = arena.copy_text(buffer);
}

bool Job::has_new_root() const noexcept {
    struct stat root {};
    return root_inode_ != 0 && stat("/", &root) == 0 && (root.st_dev != root_device_ || root.st_ino != root_inode_);
}

} // namespace libprofile
