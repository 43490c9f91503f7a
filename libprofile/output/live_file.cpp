#include "libprofile/output/live_file.hpp"

#include "libprofile/base/memory.hpp"
#include "libprofile/output/profile_writer.hpp"
#include "libprofile/output/safe_files.hpp"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

namespace libprofile {

namespace {

constexpr std::size_t page = 4096;

std::uint64_t mapped = 0;
std::uint64_t most_mapped = 0;

/// Returns true for file systems on which allocated room is reserved and pages of a mapping come from this machine.
bool may_be_mapped(int file) {
    struct statfs status {};
    if (fstatfs(file, &status) != 0) return false;
    constexpr unsigned long xfs_magic = 0x58465342; // not defined in any header
    for (const unsigned long magic : {static_cast<unsigned long>(EXT4_SUPER_MAGIC), xfs_magic, static_cast<unsigned long>(TMPFS_MAGIC),
                                      static_cast<unsigned long>(OVERLAYFS_SUPER_MAGIC), static_cast<unsigned long>(BTRFS_SUPER_MAGIC)})
        if (static_cast<unsigned long>(status.f_type) == magic) return true;
    return false;
}

void unmap_file(void* pages, std::size_t bytes) {
    munmap(pages, bytes);
    mapped -= bytes;
}

bool is_full(int error) { return error == ENOSPC || error == EDQUOT || error == EFBIG; }

} // namespace

/// Maps memory at `offset` of the file. Returns nullptr if that is impossible here, or, with an error set, now.
unsigned char* LiveFile::map(int file, std::uint64_t offset, std::size_t room, bool soon_full, int& error) noexcept {
    if (!may_be_mapped(file)) return nullptr;
    int result = -1;
    for (int i = 0; i < 100 && result != 0; ++i) { // samples interrupt it
        result = fallocate(file, 0, static_cast<off_t>(offset), static_cast<off_t>(room));
        if (result != 0 && errno != EINTR) break;
    }
    if (result != 0) {
        if (is_full(errno)) error = errno;
        return nullptr;
    }
    const std::uint64_t first = offset / page * page;
    const std::size_t bytes = static_cast<std::size_t>(offset - first) + room;
    void* pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, static_cast<off_t>(first));
    if (pages == MAP_FAILED) return nullptr;
    madvise(pages, bytes, MADV_DONTFORK);                      // a child must not use it
    if (soon_full) madvise(pages, bytes, MADV_POPULATE_WRITE); // cheaper than one fault per page; older kernels do not know it
    struct stat status {};
    if (fstat(file, &status) == 0) {
        device_ = status.st_dev;
        inode_ = status.st_ino;
    }
    mapped += bytes;
    if (mapped > most_mapped) most_mapped = mapped;
    pages_ = pages;
    page_bytes_ = bytes;
    is_mapped_ = true;
    return static_cast<unsigned char*>(pages) + (offset - first);
}

bool LiveFile::is_of(int file) const noexcept {
    struct stat status {};
    return fstat(file, &status) == 0 && status.st_dev == device_ && status.st_ino == inode_;
}

bool LiveFile::extend(const char* path, const unsigned char* header, std::size_t header_size, std::size_t room) noexcept {
    if (!is_mapped_ || room <= size_ || exceeds_file_limit(offset_ + room)) return false;
    const int file = open_own(path, O_RDWR);
    if (file < 0) return false;
    LiveFile next;
    unsigned char* memory = nullptr;
    // The header comes first: a file may end before its journal does, but nothing may follow the journal.
    if (is_of(file) && pwrite(file, header, header_size, static_cast<off_t>(offset_ - header_size)) == static_cast<ssize_t>(header_size)) {
        int error = 0;
        memory = next.map(file, offset_, room, false, error);
    }
    close(file);
    if (memory == nullptr) return false;
    unmap_file(pages_, page_bytes_);
    pages_ = next.pages_;
    page_bytes_ = next.page_bytes_;
    memory_ = memory;
    size_ = room;
    room_end_ = offset_ + room;
    return true;
}

int LiveFile::replace(const char* path, const unsigned char* bytes, std::size_t size, std::size_t header, std::size_t room, bool soon_full) noexcept {
    LiveFile next;
    if (room != 0 && exceeds_file_limit(size + room)) {
        next.refusal_ = EFBIG;
        room = 0;
    }
    char fresh[4608]; // readers do not take this name for a profile
    const int length = std::snprintf(fresh, sizeof fresh, "%s.new", path);
    if (length < 0 || length >= static_cast<int>(sizeof fresh)) return ENAMETOOLONG;
    unlink(fresh); // left by a process that was killed while writing
    int error = write_at(fresh, 0, bytes, room != 0 ? size : size - header);
    unsigned char* memory = nullptr;
    if (error == 0 && room != 0) {
        const int file = open_own(fresh, O_RDWR);
        int refused = file < 0 ? -file : 0;
        if (file >= 0) {
            memory = next.map(file, size, room, soon_full, refused);
            if (refused != 0 && ftruncate(file, static_cast<off_t>(size - header)) != 0) error = errno;
            if (close(file) != 0 && error == 0) error = errno;
        }
        if (refused != 0) room = 0;
        next.refusal_ = refused;
    }
    if (error == 0 && room != 0 && memory == nullptr) {
        next.pages_ = memory_quota.map(buffer_size);
        next.page_bytes_ = next.pages_ == nullptr ? 0 : buffer_size;
        memory = static_cast<unsigned char*>(next.pages_);
    }
    if (error == 0 && std::rename(fresh, path) != 0) error = errno;
    if (error != 0) {
        unlink(fresh);
        next.release();
        return error;
    }
    release();
    *this = next;
    memory_ = memory;
    size_ = memory == nullptr ? 0 : is_mapped_ ? room : buffer_size;
    offset_ = size;
    room_end_ = size + room;
    flushed_ = 0;
    return 0;
}

int LiveFile::flush(const char* path, std::size_t used) noexcept {
    if (is_mapped_ || memory_ == nullptr || used == flushed_) return 0;
    const int error = write_at(path, offset_ + flushed_, memory_ + flushed_, used - flushed_);
    if (error == 0) flushed_ = used;
    return error;
}

bool LiveFile::rewind() noexcept {
    if (is_mapped_ || offset_ + flushed_ + buffer_size > room_end_) return false;
    offset_ += flushed_;
    flushed_ = 0;
    return true;
}

std::uint64_t LiveFile::mapped_peak() noexcept { return most_mapped; }

void LiveFile::release() noexcept {
    if (pages_ != nullptr && is_mapped_) unmap_file(pages_, page_bytes_);
    if (pages_ != nullptr && !is_mapped_) memory_quota.unmap(pages_, page_bytes_);
    *this = LiveFile();
}

} // namespace libprofile
