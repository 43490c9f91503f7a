#include "tools/reader/byte_source.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace libprofile::tools {

namespace {

std::uint64_t available(std::uint64_t size, std::uint64_t at, std::uint64_t count) { return at >= size ? 0 : std::min(count, size - at); }

[[noreturn]] void fail(const std::filesystem::path& path) { throw ReadError(fmt::format("{}: {}", path.string(), std::strerror(errno))); }

} // namespace

std::vector<unsigned char> MemorySource::read(std::uint64_t at, std::uint64_t count) const {
    const std::uint64_t there = available(bytes_.size(), at, count);
    if (there == 0) return {};
    const Bytes part = bytes_.subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(there));
    return {part.begin(), part.end()};
}

FileSource::FileSource(const std::filesystem::path& path) : FileSource(::open(path.c_str(), O_RDONLY | O_CLOEXEC), path) {}

FileSource::FileSource(int file, const std::filesystem::path& path) : path_(path), file_(file) {
    if (file_ < 0) fail(path);
    struct stat status {};
    if (::fstat(file_, &status) != 0) {
        ::close(file_);
        fail(path);
    }
    size_ = static_cast<std::uint64_t>(status.st_size);
}

FileSource::~FileSource() { ::close(file_); }

std::vector<unsigned char> FileSource::read(std::uint64_t at, std::uint64_t count) const {
    std::vector<unsigned char> bytes(static_cast<std::size_t>(available(size_, at, count)));
    std::size_t have = 0;
    while (have < bytes.size()) {
        const ssize_t got = ::pread(file_, bytes.data() + have, bytes.size() - have, static_cast<off_t>(at + have));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) fail(path_);
        if (got == 0) break;
        have += static_cast<std::size_t>(got);
    }
    bytes.resize(have);
    return bytes;
}

} // namespace libprofile::tools
