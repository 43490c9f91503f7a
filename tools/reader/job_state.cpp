#include "tools/reader/job_state.hpp"

#include "format/profile_file.hpp"

#include <fmt/format.h>
#include <fstream>
#include <sstream>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

namespace libprofile::tools {

namespace fs = std::filesystem;

namespace {

/// Of a process that runs.
struct Process {
    bool is_alive = false;  // not dead, waited for or not
    std::uint64_t user = 0; // whose files it makes
};

Process process_of(std::uint64_t pid) {
    Process process;
    std::ifstream in(fmt::format("/proc/{}/status", pid));
    for (std::string line; std::getline(in, line);) {
        std::istringstream fields(line);
        std::string key, state;
        fields >> key;
        if (key == "State:" && fields >> state) process.is_alive = state != "Z" && state != "X";
        if (key == "Uid:") {
            std::uint64_t real = 0, effective = 0, saved = 0;
            fields >> real >> effective >> saved >> process.user;
        }
    }
    return process;
}

/// A mapped file that only a rank of this folder has.
bool is_of_rank(const std::string& name, std::uint64_t inode, const fs::path& folder) {
    if (name.starts_with("libprofile.so")) return true;
    struct stat status {};
    return name.find(file_suffix) != std::string::npos && ::stat((folder / name).c_str(), &status) == 0 && status.st_ino == inode;
}

} // namespace

const char* job_state_name(JobState state) {
    constexpr const char* names[] = {"ended", "running", "killed", "unknown"};
    return names[static_cast<std::size_t>(state)];
}

bool has_whole_profile(const fs::path& path) {
    std::error_code error;
    return fs::is_regular_file(path, error) || fs::exists(path / "profile.lprof", error);
}

bool is_living_rank(std::uint64_t pid, const fs::path& folder) {
    const Process process = process_of(pid);
    if (!process.is_alive) return false;
    std::ifstream maps(fmt::format("/proc/{}/maps", pid));
    if (!maps.is_open()) { // another user's
        struct stat status {};
        return ::stat(folder.c_str(), &status) == 0 && status.st_uid == process.user;
    }
    for (std::string line; std::getline(maps, line);) {
        std::istringstream fields(line);
        std::string range, rights, offset, device, path;
        std::uint64_t inode = 0;
        if (!(fields >> range >> rights >> offset >> device >> inode) || !std::getline(fields >> std::ws, path)) continue;
        if (is_of_rank(fs::path(path).filename().string(), inode, folder)) return true;
    }
    return false;
}

JobState state_of_ranks(const Profile& profile, const fs::path& folder) {
    const std::string host = host_name();
    bool is_elsewhere = false;
    for (const auto& [rank, info] : profile.ranks) {
        if (host.empty() || info.host != host)
            is_elsewhere = true;
        else if (is_living_rank(info.pid, folder))
            return JobState::Running;
    }
    return is_elsewhere || profile.ranks.empty() ? JobState::Unknown : JobState::Gone;
}

std::string host_name() {
    char host[257] = {};
    return ::gethostname(host, sizeof host - 1) == 0 ? host : "";
}

} // namespace libprofile::tools
