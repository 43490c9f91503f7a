#include "libprofile/output/file_end.hpp"

#include "libprofile/output/profile_writer.hpp"

#include <cstring>

namespace libprofile {

namespace {

struct Footer {
    BlockHeader header;
    FooterRecord record;
};
static_assert(sizeof(Footer) == 64);

BlockHeader table_header(std::uint64_t ranks) {
    BlockHeader header{};
    header.magic = block_magic;
    header.type = static_cast<std::uint32_t>(BlockType::RankTable);
    header.stored_size = header.raw_size = ranks * sizeof(RankEntry);
    header.rank = no_rank;
    return header;
}

Footer footer(const FileLayout& layout) {
    Footer result{};
    result.record = {layout.table_at + file_end_size(layout.ranks), layout.table_at, layout.ranks, {}};
    std::memcpy(result.record.magic, end_magic, sizeof end_magic);
    result.header.magic = block_magic;
    result.header.type = static_cast<std::uint32_t>(BlockType::Footer);
    result.header.stored_size = result.header.raw_size = sizeof result.record;
    result.header.crc = crc32(&result.record, sizeof result.record);
    result.header.rank = no_rank;
    return result;
}

void seal(RankEntry& entry, const FileLayout& layout) {
    entry.directory_at += layout.section_at;
    entry.crc = crc32(&entry, offsetof(RankEntry, crc));
}

} // namespace

std::uint64_t file_end_size(std::uint64_t ranks) noexcept { return sizeof(BlockHeader) + ranks * sizeof(RankEntry) + sizeof(Footer); }

bool write_directory(BlockBuffer& section, std::uint32_t rank, RankEntry& entry) noexcept {
    entry.rank = rank;
    return section.write_directory(rank, entry.directory_at, entry.directory_size);
}

int write_file_end(const char* path, const FileLayout& layout, RankEntry entry) noexcept {
    seal(entry, layout);
    const std::uint64_t entries_at = layout.table_at + sizeof(BlockHeader);
    int error = write_at(path, entries_at + layout.position * sizeof entry, &entry, sizeof entry);
    if (layout.position != 0 || error != 0) return error;
    const BlockHeader header = table_header(layout.ranks);
    const Footer end = footer(layout);
    error = write_at(path, layout.table_at, &header, sizeof header);
    return error != 0 ? error : write_at(path, entries_at + layout.ranks * sizeof entry, &end, sizeof end);
}

bool append_file_end(BlockBuffer& whole, RankEntry entry) noexcept {
    const FileLayout layout{0, whole.size(), 0, 1};
    seal(entry, layout);
    const BlockHeader header = table_header(1);
    const Footer end = footer(layout);
    return whole.append(&header, sizeof header) && whole.append(&entry, sizeof entry) && whole.append(&end, sizeof end);
}

} // namespace libprofile
