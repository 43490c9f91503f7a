#include "tools/reader/replaced_file.hpp"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <utility>

namespace libprofile::tools {

std::optional<ReplacedFile> ReplacedFile::open(const std::filesystem::path& folder, const std::string& name) {
    // Not mkstemp(): what others may read is for the umask to say, which only a change would tell.
    static std::atomic<unsigned> number{0};
    std::string temporary = (folder / fmt::format(".{}.{}-{}", name, ::getpid(), number++)).string();
    const int file = ::open(temporary.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file < 0) return std::nullopt;
    return ReplacedFile(file, std::move(temporary), folder / name);
}

ReplacedFile::ReplacedFile(int file, std::string temporary, std::filesystem::path path)
    : file_(file), temporary_(std::move(temporary)), path_(std::move(path)) {}

ReplacedFile::ReplacedFile(ReplacedFile&& other) noexcept
    : file_(std::exchange(other.file_, -1)), temporary_(std::exchange(other.temporary_, {})), path_(std::move(other.path_)) {}

ReplacedFile::~ReplacedFile() {
    if (file_ >= 0) ::close(file_);
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

bool ReplacedFile::write(std::span<const unsigned char> bytes) {
    for (std::size_t done = 0; done < bytes.size();) {
        const ssize_t put = ::write(file_, bytes.data() + done, bytes.size() - done);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return false;
        done += static_cast<std::size_t>(put);
    }
    return true;
}

bool ReplacedFile::commit() {
    const bool closed = ::close(std::exchange(file_, -1)) == 0;
    if (!closed || std::rename(temporary_.c_str(), path_.c_str()) != 0) return false;
    temporary_.clear();
    return true;
}

} // namespace libprofile::tools
