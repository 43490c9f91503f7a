#include "tools/launch/machine_file.hpp"

#include "format/fnv.hpp"
#include "format/machine.hpp"
#include "libprofile/base/launcher.hpp"
#include "tools/launch/hwloc_machine.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <fmt/format.h>
#include <fstream>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace libprofile::tools {

namespace {

constexpr std::time_t failure_lasts_s = 3600;

/// Empty if the kernel does not tell.
std::string boot_id() {
    std::string id;
    std::ifstream(boot_id_file) >> id;
    return id.size() == boot_id_size ? id : "";
}

/// Differs between machines, between starts of one, and between what hwloc is told to read in its place.
std::string path_of_file(std::string key) {
    const char* folder = std::getenv("TMPDIR");
    key.append(machine_file_magic, sizeof machine_file_magic);
    for (const char* name : {"HWLOC_SYNTHETIC", "HWLOC_XMLFILE", "HWLOC_FSROOT", "HWLOC_COMPONENTS"})
        if (const char* value = std::getenv(name)) key += fmt::format(" {}={}", name, value);
    return fmt::format("{}/libprofile-machine-{}-{:016x}", folder == nullptr || *folder != '/' ? "/tmp" : folder, ::geteuid(), fnv1a(key.data(), key.size()));
}

bool is_own_file(const std::string& path, struct stat& status) {
    return ::lstat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == ::geteuid();
}
bool has_answer(const std::string& path) {
    struct stat status {};
    return is_own_file(path, status) && status.st_size > 0;
}
/// An empty file: hwloc has not answered in time, a while ago at most.
bool has_failed(const std::string& path) {
    struct stat status {};
    return is_own_file(path, status) && status.st_size == 0 && std::time(nullptr) - status.st_mtime < failure_lasts_s;
}

std::string unfinished(const std::string& path, pid_t writer) { return fmt::format("{}.{}", path, writer); }

/// In the process of its own: asks hwloc, and puts the file in its place when it is whole.
void write_file(const std::string& path, const std::string& boot) {
    const std::vector<unsigned char> payload = hwloc_machine();
    const std::string temporary = unfinished(path, ::getpid());
    const int file = payload.empty() ? -1 : ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0) return;
    const std::uint32_t crc = crc32(payload.data(), payload.size());
    std::vector<unsigned char> bytes(machine_file_head);
    std::memcpy(bytes.data(), machine_file_magic, sizeof machine_file_magic);
    std::memcpy(bytes.data() + sizeof machine_file_magic, &crc, sizeof crc);
    std::memcpy(bytes.data() + boot_id_at, boot.data(), boot_id_size);
    bytes.insert(bytes.end(), payload.begin(), payload.end());
    const bool is_written = bytes.size() <= machine_file_most && ::write(file, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size());
    ::close(file);
    if (!is_written || ::rename(temporary.c_str(), path.c_str()) != 0) ::unlink(temporary.c_str());
}

[[noreturn]] void be_asking(const std::string& path, const std::string& boot) {
    std::signal(SIGCHLD, SIG_DFL);
    const int nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    for (const int stream : {0, 1, 2}) ::dup2(nowhere, stream);
    for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}) std::signal(signal, [](int) { ::_exit(1); });
    rlimit core{};
    ::getrlimit(RLIMIT_CORE, &core);
    core.rlim_cur = std::min<rlim_t>(core.rlim_max, 1); // too little for a file; with 0 a program that takes cores would get one (core(5))
    ::setrlimit(RLIMIT_CORE, &core);
    ::unsetenv("LD_PRELOAD");
    write_file(path, boot);
    ::_exit(0);
}

/// Waits until the process is gone, for so many ms.
bool ends_within(pid_t child, int most_ms) {
    constexpr timespec pause{0, 1'000'000};
    for (int ms = 0; ms < most_ms; ++ms) {
        if (::waitpid(child, nullptr, WNOHANG) != 0) return true; // no such child: nobody keeps its exit code
        ::nanosleep(&pause, nullptr);
    }
    return false;
}

/// What was here before exec has left a child, or the signal of one that is to be handled. The program may want to know of it.
bool has_children() {
    sigset_t pending;
    siginfo_t info{};
    return ::sigpending(&pending) != 0 || sigismember(&pending, SIGCHLD) != 0 || ::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) == 0 ||
           errno != ECHILD;
}

/// Nothing of what hwloc says or does is seen: neither words, nor a core, nor a process that hangs. Nor does the program that this process becomes
/// find anything of its child: where SIGCHLD is ignored, a child's end sends no signal, and its resources are not counted for its parent.
void ask_hwloc(const std::string& path, const std::string& boot) {
    struct sigaction before {};
    struct sigaction ignored {};
    ignored.sa_handler = SIG_IGN;
    if (has_children() || ::sigaction(SIGCHLD, &ignored, &before) != 0) return;
    const pid_t child = ::fork();
    if (child == 0) be_asking(path, boot);
    if (child > 0 && !ends_within(child, 2000)) {
        ::kill(child, SIGKILL);
        ends_within(child, 100); // not at once while the kernel waits for a device
        ::unlink(unfinished(path, child).c_str());
        if (!has_answer(path)) ::unlink(path.c_str()); // of an earlier failure
        ::close(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    }
    ::sigaction(SIGCHLD, &before, nullptr);
}

} // namespace

std::string machine_file() {
    if (!is_first_of_host()) return ""; // one is enough
    const std::string boot = boot_id();
    if (boot.empty()) return "";
    const std::string path = path_of_file(boot);
    if (!has_answer(path) && !has_failed(path)) ask_hwloc(path, boot);
    return has_answer(path) ? path : "";
}

} // namespace libprofile::tools
