// The live file of this rank: what was measured until a moment, and behind it room for the journal of what came since.
//
// Contract: used by one thread at a time, outside signal handlers; system calls only, no descriptor stays open. The file is
// whole at every moment: a new one is written beside it and takes its name when it is.
//
// The journal's room is mapped where that cannot end the process: a store into a mapping of a file has no error code, only
// SIGBUS. So the room is allocated before, and only local file systems are trusted, where a page cannot get lost (a file server
// may go away). Elsewhere the journal lies in memory of ours, and flush() writes it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace libprofile {

class LiveFile {
  public:
    /// Makes `size` bytes at `bytes` the whole of `path`, and `room` bytes for a journal behind them; the last `header` bytes are
    /// those of the journal's block and left out when there is no room for a journal. Returns 0 or errno: then all is as
    /// before. `soon_full`: the room will be needed at once.
    int replace(const char* path, const unsigned char* bytes, std::size_t size, std::size_t header, std::size_t room, bool soon_full) noexcept;

    /// Why replace() found no room for a journal, as errno; 0: it did, or none was asked for.
    int refusal() const { return refusal_; }
    /// Zeroed memory of the journal after replace(); nullptr: there is none.
    unsigned char* memory() const { return memory_; }
    std::size_t size() const { return size_; }
    /// It is in the file at once. Else flush() it.
    bool is_mapped() const { return is_mapped_; }
    /// Makes the journal's room, which is mapped, `room` bytes; what is in it stays. `header`: of `header_size` bytes, takes the place
    /// of the journal's block header. False: as before, or nearly: the header may say so much.
    bool extend(const char* path, const unsigned char* header, std::size_t header_size, std::size_t room) noexcept;
    /// Writes what is new of the first `used` bytes. Returns 0 or errno.
    int flush(const char* path, std::size_t used) noexcept;
    /// All of it was written and it begins anew. False: the file has no more room.
    bool rewind() noexcept;

    /// The most bytes that the process ever had mapped so: they are no part of the memory quota.
    static std::uint64_t mapped_peak() noexcept;

    /// Gives the memory back; the file stays as it is.
    void release() noexcept;

  private:
    static constexpr std::size_t buffer_size = 256 << 10;

    unsigned char* map(int file, std::uint64_t offset, std::size_t room, bool soon_full, int& error) noexcept;
    bool is_of(int file) const noexcept;

    unsigned char* memory_ = nullptr;
    std::size_t size_ = 0;
    void* pages_ = nullptr;
    std::size_t page_bytes_ = 0;
    bool is_mapped_ = false;
    std::uint64_t device_ = 0; // of the mapped file: another may have taken its name
    std::uint64_t inode_ = 0;
    std::uint64_t offset_ = 0;   // in the file, of memory_
    std::uint64_t room_end_ = 0; // in the file
    std::size_t flushed_ = 0;
    int refusal_ = 0;
};

} // namespace libprofile
