// Where the bytes of a profile file come from: memory, or a file, of which only the requested parts are read.
// Contract: thread-safe; read() throws ReadError when the system fails, and never gives bytes that are not there.
#pragma once

#include "tools/reader/blocks.hpp"

#include <cstdint>
#include <filesystem>
#include <vector>

namespace libprofile::tools {

class ByteSource {
  public:
    virtual ~ByteSource() = default;
    virtual std::uint64_t size() const = 0;
    /// Up to `count` bytes from `at` on; fewer, or none, where the source ends.
    /// @throws ReadError
    virtual std::vector<unsigned char> read(std::uint64_t at, std::uint64_t count) const = 0;
};

class MemorySource : public ByteSource {
  public:
    explicit MemorySource(Bytes bytes) : bytes_(bytes) {}
    std::uint64_t size() const override { return bytes_.size(); }
    std::vector<unsigned char> read(std::uint64_t at, std::uint64_t count) const override;

  private:
    Bytes bytes_;
};

/// A regular file, kept open. Not mapped: a job that is still writing could truncate it under us.
class FileSource : public ByteSource {
  public:
    /// @throws ReadError
    explicit FileSource(const std::filesystem::path& path);
    /// Of an open file, which it closes. @param path for messages
    FileSource(int file, const std::filesystem::path& path);
    FileSource(const FileSource&) = delete;
    FileSource& operator=(const FileSource&) = delete;
    ~FileSource() override;
    std::uint64_t size() const override { return size_; }
    std::vector<unsigned char> read(std::uint64_t at, std::uint64_t count) const override;

  private:
    std::filesystem::path path_;
    int file_ = -1;
    std::uint64_t size_ = 0;
};

} // namespace libprofile::tools
