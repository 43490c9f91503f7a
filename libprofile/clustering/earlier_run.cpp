#include "libprofile/clustering/earlier_run.hpp"

#include "format/averages.hpp"
#include "format/profile_file.hpp"
#include "libprofile/base/read_at.hpp"

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

namespace libprofile {

constinit EarlierRun earlier_run;

namespace {

constexpr std::uint64_t most_blocks = 100000; // a chain of empty blocks or an unfinished file of very many ranks must not delay the job
constexpr std::uint64_t largest_block = 1024; // of averages; it lies on a thread's stack
constexpr unsigned most_phases = 1000;        // of a rank

/// Opens the file that the path means; returns -1 on failure. One thread at a time.
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

/// The file offsets of a rank's blocks.
struct Section {
    std::uint64_t begin = sizeof(FileHeader);
    std::uint64_t end = UINT64_MAX;
};

/// The table of ranks of a finished file, in the order of the ranks.
class RankTable {
  public:
    /// Returns false if the file has no table.
    bool open(int file) noexcept {
        file_ = file;
        struct stat status {};
        if (fstat(file, &status) != 0 || status.st_size < static_cast<off_t>(sizeof end_)) return false;
        const auto size = static_cast<std::uint64_t>(status.st_size);
        return read_at(file, size - sizeof end_, &end_, sizeof end_) && std::memcmp(end_.magic, end_magic, sizeof end_.magic) == 0 && end_.file_size == size &&
               end_.table_at < size && end_.ranks <= (size - end_.table_at) / sizeof(RankEntry);
    }
    /// Returns false if the rank is not in the file.
    bool find(std::uint32_t rank, Section& section) const noexcept {
        RankEntry entry{};
        std::uint64_t first = 0;
        for (std::uint64_t count = end_.ranks; count != 0;) {
            const std::uint64_t half = count / 2;
            if (!read(first + half, entry)) return false;
            if (entry.rank < rank)
                first += half + 1, count -= half + 1;
            else
                count = half;
        }
        if (first == end_.ranks || !read(first, entry) || entry.rank != rank) return false;
        section.end = entry.directory_at;
        RankEntry before{};
        if (first != 0) {
            if (!read(first - 1, before)) return false;
            section.begin = (before.directory_at + before.directory_size + 7) & ~std::uint64_t{7};
        }
        return section.begin >= sizeof(FileHeader) && section.begin <= section.end && section.end <= end_.table_at;
    }

  private:
    bool read(std::uint64_t i, RankEntry& entry) const noexcept {
        return read_at(file_, end_.table_at + sizeof(BlockHeader) + i * sizeof entry, &entry, sizeof entry) &&
               crc32(reinterpret_cast<const unsigned char*>(&entry), offsetof(RankEntry, crc)) == entry.crc && entry.directory_at < end_.file_size &&
               entry.directory_size < end_.file_size;
    }
    int file_ = -1;
    FooterRecord end_{};
};

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

/// Keeps the averages of this rank and of rank 0; for each phase those of the first thread, the main thread. A finished file says where a
/// rank's blocks are. In an unfinished one all blocks are visited.
void EarlierRun::load(std::uint32_t rank) noexcept {
    const int file = open_profile(path_);
    if (file < 0) {
        complaint_ = strerrordesc_np(errno);
        return;
    }
    const char* complaint = nullptr;
    FileHeader header{};
    if (!read_at(file, 0, &header, sizeof header) || std::memcmp(header.magic, file_magic, sizeof header.magic) != 0)
        complaint = "it is not a profile";
    else if (header.version != format_version)
        complaint = "it was written by another version of libprofile";
    unsigned found = 0;
    RankTable table;
    if (complaint == nullptr && table.open(file)) {
        Section section;
        if (table.find(rank, section)) found += take_averages(file, section.begin, section.end, rank);
        if (rank != 0 && table.find(0, section = {})) found += take_averages(file, section.begin, section.end, rank);
    } else if (complaint == nullptr) {
        found = take_averages(file, sizeof header, UINT64_MAX, rank);
    }
    close(file);
    complaint_ = complaint == nullptr && found == 0 ? "it holds no averages" : complaint;
}

/// Visits the blocks one after another. Returns the number of averages taken.
unsigned EarlierRun::take_averages(int file, std::uint64_t offset, std::uint64_t end, std::uint32_t rank) noexcept {
    unsigned found = 0;
    BlockHeader block{};
    for (std::uint64_t n = 0; n < most_blocks && found < most_phases && offset < end; ++n) {
        if (!read_at(file, offset, &block, sizeof block) || block.magic != block_magic) break;
        offset += sizeof block;
        if (block.stored_size > (std::uint64_t{1} << 62)) break;
        const bool is_own = block.rank == rank;
        if (block.type == static_cast<std::uint32_t>(BlockType::Averages) && (is_own || block.rank == 0) && block.stored_size == block.raw_size)
            found += take_block(file, offset, block.stored_size, block.crc, is_own) ? 1 : 0;
        offset += (block.stored_size + 7) & ~std::uint64_t{7};
    }
    return found;
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
