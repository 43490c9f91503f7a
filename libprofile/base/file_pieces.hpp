// A file that is read in pieces: those parts of a module or a filter that are needed. It is not mapped: a file that shrinks while it is
// mapped would end the job.
// Contract: one thread, in ordinary context. Memory counts against the quota until the object is destroyed. Changes errno.
#pragma once

#include "libprofile/base/memory.hpp"
#include "libprofile/base/read_at.hpp"

#include <cstdint>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace libprofile {

class Pieces {
  public:
    Pieces() = default;
    explicit Pieces(const char* path) noexcept { open(path); }
    /// Called once. O_NONBLOCK, because opening a pipe of that name would wait for a writer.
    void open(const char* path) noexcept { file_ = ::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); }
    ~Pieces() {
        for (unsigned i = 0; i < used_; ++i) memory_quota.unmap(memory_[i].pages, memory_[i].size);
        if (file_ >= 0) close(file_);
    }
    Pieces(const Pieces&) = delete;
    Pieces& operator=(const Pieces&) = delete;

    std::uint64_t size() const noexcept {
        struct stat status {};
        return file_ >= 0 && fstat(file_, &status) == 0 && S_ISREG(status.st_mode) ? static_cast<std::uint64_t>(status.st_size) : 0;
    }
    bool read(std::uint64_t at, void* to, std::uint64_t bytes) const noexcept { return read_at(file_, at, to, bytes); }
    /// Returns a piece followed by a zero byte, or nullptr if it does not exist, is too large or memory is short.
    char* piece(std::uint64_t at, std::uint64_t bytes, std::uint64_t most) noexcept {
        const std::uint64_t all = size();
        if (used_ == most_pieces || bytes > all || at > all - bytes) return nullptr;
        const std::uint64_t room = (bytes + 4096) & ~std::uint64_t{4095};
        void* pages = bytes > most ? nullptr : memory_quota.map(room);
        if (pages == nullptr) return lacks_memory_ = true, nullptr;
        memory_[used_++] = {pages, room};
        return read(at, pages, bytes) ? static_cast<char*>(pages) : nullptr;
    }

    /// Returns true if an existing piece was too large, or memory was short.
    bool lacks_memory() const { return lacks_memory_; }

  private:
    static constexpr unsigned most_pieces = 4;
    struct Memory {
        void* pages;
        std::uint64_t size;
    };
    int file_ = -1;
    bool lacks_memory_ = false;
    Memory memory_[most_pieces] = {};
    unsigned used_ = 0;
};

} // namespace libprofile
