#include "tools/launch/machine_file.hpp"

#include "format/fnv.hpp"
#include "format/machine.hpp"
#include "tools/launch/hwloc_machine.hpp"
#include "tools/launch/launcher_rank.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <fmt/format.h>
#include <fstream>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace libprofile::tools {

namespace {

/// Differs between machines, between starts of one, and between what hwloc is told to read in its place.
std::string path_of_file() {
    const char* folder = std::getenv("TMPDIR");
    std::string key;
    std::ifstream("/proc/sys/kernel/random/boot_id") >> key;
    key.append(machine_file_magic, sizeof machine_file_magic);
    for (const char* name : {"HWLOC_SYNTHETIC", "HWLOC_XMLFILE", "HWLOC_FSROOT", "HWLOC_COMPONENTS"})
        if (const char* value = std::getenv(name)) key += fmt::format(" {}={}", name, value);
    return fmt::format("{}/libprofile-machine-{}-{:016x}", folder == nullptr || *folder != '/' ? "/tmp" : folder, ::geteuid(), fnv1a(key.data(), key.size()));
}

bool is_own_file(const std::string& path) {
    struct stat status {};
    return ::lstat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == ::geteuid() && status.st_size > 0;
}

/// In the process of its own: asks hwloc, and puts the file in its place when it is whole.
void write_file(const std::string& path) {
    const std::vector<unsigned char> payload = hwloc_machine();
    const std::string temporary = fmt::format("{}.{}", path, ::getpid());
    const int file = payload.empty() ? -1 : ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0) return;
    const std::uint32_t crc = crc32(payload.data(), payload.size());
    std::vector<unsigned char> bytes(machine_file_head);
    std::memcpy(bytes.data(), machine_file_magic, sizeof machine_file_magic);
    std::memcpy(bytes.data() + sizeof machine_file_magic, &crc, sizeof crc);
    bytes.insert(bytes.end(), payload.begin(), payload.end());
    const bool is_written = bytes.size() <= machine_file_most && ::write(file, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size());
    ::close(file);
    if (!is_written || ::rename(temporary.c_str(), path.c_str()) != 0) ::unlink(temporary.c_str());
}

/// Nothing of what hwloc says or does is seen: neither words, nor a core, nor a process that hangs.
void ask_hwloc(const std::string& path) {
    const pid_t child = ::fork();
    if (child == 0) {
        const int nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC);
        for (const int stream : {0, 1, 2}) ::dup2(nowhere, stream);
        for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}) std::signal(signal, [](int) { ::_exit(1); });
        ::unsetenv("LD_PRELOAD");
        write_file(path);
        ::_exit(0);
    }
    constexpr timespec pause{0, 1'000'000};
    for (int ms = 0; child > 0; ++ms) {
        const pid_t ended = ::waitpid(child, nullptr, WNOHANG);
        if (ended == child || (ended < 0 && errno != EINTR)) break;
        if (ms == 2000) {
            ::kill(child, SIGKILL);
            ::waitpid(child, nullptr, 0);
            break;
        }
        ::nanosleep(&pause, nullptr);
    }
}

} // namespace

std::string machine_file() {
    if (!is_first_of_machine()) return ""; // one is enough
    const std::string path = path_of_file();
    if (!is_own_file(path)) ask_hwloc(path);
    return is_own_file(path) ? path : "";
}

} // namespace libprofile::tools
