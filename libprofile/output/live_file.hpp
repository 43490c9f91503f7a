// The live file of this rank: the measurements up to some moment, followed by room for the journal of later ones.
//
// Contract: used by one thread at a time, outside signal handlers; system calls only; no descriptor stays open. The file is complete at every moment:
// a new one is written next to it and then takes its name.
//
// The journal's room is mapped if that cannot end the process. A failing store into a mapped file gives no error code, only SIGBUS. So the room is
// allocated before, and only local file systems are trusted, which cannot lose a page (a file server may go away). Elsewhere the journal lies in
// our own memory, and flush() writes it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace libprofile {

class LiveFile {
  public:
    /// Makes `size` bytes at `bytes` the contents of `path`, followed by `room` bytes for a journal. The last `header` bytes are those of the journal's
    /// block; they are left out if there is no room for a journal. Returns 0, or errno with nothing changed. `soon_full`: the room will be needed
    /// at once.
    int replace(const char* path, const unsigned char* bytes, std::size_t size, std::size_t header, std::size_t room, bool soon_full) noexcept;

    /// The errno that says why replace() found no room for a journal; 0 if it did, or none was wanted.
    int refusal() const { return refusal_; }
    /// The journal's zeroed memory after replace(), or nullptr.
    unsigned char* memory() const { return memory_; }
    std::size_t size() const { return size_; }
    /// Returns true if the memory is part of the file. Otherwise flush() writes it.
    bool is_mapped() const { return is_mapped_; }
    /// Enlarges the mapped room of the journal to `room` bytes and keeps the contents. `header`, of `header_size` bytes, replaces the header of the
    /// journal's block. Returns false with at most the header changed.
    bool extend(const char* path, const unsigned char* header, std::size_t header_size, std::size_t room) noexcept;
    /// Writes the new part of the first `used` bytes. Returns 0 or errno.
    int flush(const char* path, std::size_t used) noexcept;
    /// All records were written, and the journal begins anew. Returns false if the file has no more room.
    bool rewind() noexcept;

    /// The largest number of bytes that the process ever had mapped in this way. They are not part of the memory quota.
    static std::uint64_t mapped_peak() noexcept;

    /// Returns the memory; the file stays as it is.
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
    std::uint64_t device_ = 0; // of the mapped file: another file may have its name now
    std::uint64_t inode_ = 0;
    std::uint64_t offset_ = 0;   // in the file, of memory_
    std::uint64_t room_end_ = 0; // in the file
    std::size_t flushed_ = 0;
    int refusal_ = 0;
};

} // namespace libprofile
