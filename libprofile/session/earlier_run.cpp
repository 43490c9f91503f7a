#include "libprofile/session/earlier_run.hpp"

#include "format/averages.hpp"
#include "format/profile_file.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

namespace libprofile {

namespace {

constexpr std::uint64_t most_blocks = 100000; // neither a chain of empty blocks nor a file of very many ranks must hold the job up
constexpr std::uint64_t largest_block = 1024;   // of averages: on the stack of some thread
constexpr unsigned most_phases = 2000;          // of both ranks

bool read_at(int file, std::uint64_t offset, void* to, std::size_t size) noexcept {
    auto* next = static_cast<unsigned char*>(to);
    while (size != 0) {
        const ssize_t got = pread(file, next, size, static_cast<off_t>(offset));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        next += got;
        offset += static_cast<std::uint64_t>(got);
        size -= static_cast<std::size_t>(got);
    }
    return true;
}

/// The file that the path means, or -1. One thread at a time.
int open_profile(const char* path) noexcept {
    static char name[4096];
    struct stat status {};
    if (stat(path, &status) != 0) return -1;
    const int length = std::snprintf(name, sizeof name, S_ISDIR(status.st_mode) ? "%s/profile.lprof" : "%s", path);
    if (length < 0 || length >= static_cast<int>(sizeof name)) return errno = ENAMETOOLONG, -1;
    const int file = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY); // a pipe must not make us wait
    if (file >= 0 && (fstat(file, &status) != 0 || !S_ISREG(status.st_mode))) {
        close(file);
        return errno = EINVAL, -1;
    }
    return file;
}

} // namespace

const EarlierRun::Entry* EarlierRun::look_up(const char* phase, bool is_own) const noexcept {
    for (const Entry* entry = entries_; entry != nullptr; entry = entry->next)
        if (entry->is_own == is_own && std::strcmp(entry->phase, phase) == 0) return entry;
    return nullptr;
}

const EarlierIterations* EarlierRun::find(const char* phase, std::uint32_t rank) noexcept {
    if (path_ == nullptr) return nullptr;
    while (busy_.test_and_set(std::memory_order_acquire)) sched_yield();
    if (!loaded_) load(rank);
    loaded_ = true;
    const Entry* entry = look_up(phase, true);
    if (entry == nullptr) entry = look_up(phase, false);
    busy_.clear(std::memory_order_release);
    return entry == nullptr ? nullptr : &entry->iterations;
}

/// Goes from block to block. The two ranks' averages are kept, of each phase the first: the main thread's.
void EarlierRun::load(std::uint32_t rank) noexcept {
    const int file = open_profile(path_);
    if (file < 0) {
        complaint_ = strerrordesc_np(errno);
        return;
    }
    const char* complaint = nullptr;
    FileHeader header{};
    std::uint64_t offset = sizeof header;
    if (!read_at(file, 0, &header, sizeof header) || std::memcmp(header.magic, file_magic, sizeof header.magic) != 0)
        complaint = "it is no profile";
    else if (header.version != format_version)
        complaint = "it was written by another version of libprofile";
    unsigned found = 0;
    BlockHeader block{};
    for (std::uint64_t n = 0; complaint == nullptr && n < most_blocks && found < most_phases; ++n) {
        if (!read_at(file, offset, &block, sizeof block) || block.magic != block_magic) break;
        offset += sizeof block;
        if (block.stored_size > (std::uint64_t{1} << 62)) break;
        const bool is_own = block.rank == rank;
        if (block.type == static_cast<std::uint32_t>(BlockType::Averages) && (is_own || block.rank == 0) &&
            block.stored_size == block.raw_size)
            found += take_block(file, offset, block.stored_size, block.crc, is_own) ? 1 : 0;
        offset += (block.stored_size + 7) & ~std::uint64_t{7};
    }
    close(file);
    complaint_ = complaint == nullptr && found == 0 ? "it holds no averages" : complaint;
}

bool EarlierRun::take_block(int file, std::uint64_t offset, std::uint64_t size, std::uint32_t crc, bool is_own) noexcept {
    unsigned char bytes[largest_block];
    if (size > sizeof bytes || !read_at(file, offset, bytes, size) || crc32(bytes, size) != crc) return false;
    Decoder decoder(bytes, size);
    AveragesRecord record;
    describe(decoder, record);
    if (decoder.failed() || decoder.remaining() != 0 || record.catalogue != catalogue_fingerprint() || record.rows != catalogue_size ||
        record.iterations == 0 || record.phase.size > 255)
        return false;
    char name[256] = {};
    std::memcpy(name, record.phase.data, record.phase.size);
    if (look_up(name, is_own) != nullptr) return false;
    Entry* entry = arena_.make<Entry>();
    if (entry == nullptr) return false;
    entry->phase = arena_.copy_text(name);
    entry->is_own = is_own;
    entry->iterations.iterations = record.iterations;
    for (std::size_t i = 0; i < catalogue_size; ++i) entry->iterations.sums.values[i] = record.sums[i];
    entry->next = entries_;
    entries_ = entry;
    return true;
}

} // namespace libprofile
