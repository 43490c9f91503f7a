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
    header.stored_size = header.raw_size = ranks * sizeof(RankPlace);
    header.rank = no_rank;
    return header;
}

Footer footer(const FilePlaces& places) {
    Footer result{};
    result.record = {places.table_at + file_end_size(places.ranks), places.table_at, places.ranks, {}};
    std::memcpy(result.record.magic, end_magic, sizeof end_magic);
    result.header.magic = block_magic;
    result.header.type = static_cast<std::uint32_t>(BlockType::Footer);
    result.header.stored_size = result.header.raw_size = sizeof result.record;
    result.header.crc = crc32(&result.record, sizeof result.record);
    result.header.rank = no_rank;
    return result;
}

void seal(RankPlace& place, const FilePlaces& places) {
    place.directory_at += places.section_at;
    place.crc = crc32(&place, offsetof(RankPlace, crc));
}

} // namespace

std::uint64_t file_end_size(std::uint64_t ranks) noexcept { return sizeof(BlockHeader) + ranks * sizeof(RankPlace) + sizeof(Footer); }

bool write_directory(BlockBuffer& section, std::uint32_t rank, RankPlace& place) noexcept {
    place.rank = rank;
    return section.write_directory(rank, place.directory_at, place.directory_size);
}

int write_file_end(const char* path, const FilePlaces& places, RankPlace place) noexcept {
    seal(place, places);
    const std::uint64_t entries_at = places.table_at + sizeof(BlockHeader);
    int error = write_at(path, entries_at + places.position * sizeof place, &place, sizeof place);
    if (places.position != 0 || error != 0) return error;
    const BlockHeader header = table_header(places.ranks);
    const Footer end = footer(places);
    error = write_at(path, places.table_at, &header, sizeof header);
    return error != 0 ? error : write_at(path, entries_at + places.ranks * sizeof place, &end, sizeof end);
}

bool append_file_end(BlockBuffer& whole, RankPlace place) noexcept {
    const FilePlaces places{0, whole.size(), 0, 1};
    seal(place, places);
    const BlockHeader header = table_header(1);
    const Footer end = footer(places);
    return whole.append(&header, sizeof header) && whole.append(&place, sizeof place) && whole.append(&end, sizeof end);
}

} // namespace libprofile
