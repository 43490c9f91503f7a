#include "tools/reader/directory.hpp"

#include <cstddef>
#include <cstring>

namespace libprofile::tools {

namespace {

constexpr std::uint64_t max_number = 0xfffffffeu;

template <class T> bool read_as(const ByteSource& source, std::uint64_t at, T& value) {
    const std::vector<unsigned char> bytes = source.read(at, sizeof value);
    if (bytes.size() != sizeof value) return false;
    std::memcpy(&value, bytes.data(), sizeof value);
    return true;
}

std::optional<std::uint32_t> number_before(std::uint64_t value) {
    if (value == 0) return std::nullopt;
    return static_cast<std::uint32_t>(value - 1);
}

} // namespace

std::optional<Directory> Directory::open(const ByteSource& source) {
    Directory directory(source);
    directory.header_ = check_header(source.read(0, sizeof(FileHeader)));
    FooterRecord footer{};
    const std::uint64_t size = source.size();
    if (size < sizeof(FileHeader) + sizeof footer || !read_as(source, size - sizeof footer, footer) ||
        std::memcmp(footer.magic, end_magic, sizeof end_magic) != 0 || footer.file_size != size)
        return std::nullopt;
    BlockHeader table{};
    if (footer.ranks > size / sizeof(RankEntry) || footer.table_at > size || !read_as(source, footer.table_at, table) || table.magic != block_magic ||
        table.type != static_cast<std::uint32_t>(BlockType::RankTable) || table.stored_size != footer.ranks * sizeof(RankEntry))
        return std::nullopt;
    const std::vector<unsigned char> bytes = source.read(footer.table_at + sizeof table, table.stored_size);
    for (std::size_t at = 0; at + sizeof(RankEntry) <= bytes.size(); at += sizeof(RankEntry)) {
        RankEntry entry{};
        std::memcpy(&entry, bytes.data() + at, sizeof entry);
        // A rank that could not write leaves its entry empty, which has another checksum.
        if (crc32(&entry, offsetof(RankEntry, crc)) != entry.crc || !directory.position_.emplace(entry.rank, directory.ranks_.size()).second)
            return std::nullopt;
        directory.ranks_.push_back(entry);
    }
    if (directory.ranks_.size() != footer.ranks || directory.ranks_.empty()) return std::nullopt;
    return directory;
}

const RankEntry* Directory::find(std::uint32_t rank) const {
    const auto at = position_.find(rank);
    return at == position_.end() ? nullptr : &ranks_[at->second];
}

bool Directory::claim(const BlockEntry& entry) {
    const std::uint64_t size = sizeof(BlockHeader) + entry.stored_size;
    if (entry.at > source_->size() || size > source_->size() - entry.at) return false;
    const std::uint64_t end = entry.at + size;
    const auto next = read_.lower_bound(entry.at);
    if ((next != read_.end() && next->first < end) || (next != read_.begin() && std::prev(next)->second > entry.at)) return false;
    read_.emplace_hint(next, entry.at, end);
    return true;
}

std::optional<LoadedBlock> Directory::load(const BlockEntry& entry) {
    if (!claim(entry)) return std::nullopt;
    return read(entry);
}

std::optional<LoadedBlock> Directory::read(const BlockEntry& entry) const {
    const std::uint64_t size = sizeof(BlockHeader) + entry.stored_size;
    LoadedBlock loaded{source_->read(entry.at, size), {}};
    BlockHeader header{};
    if (loaded.bytes.size() != size) return std::nullopt;
    std::memcpy(&header, loaded.bytes.data(), sizeof header);
    const Bytes stored = Bytes(loaded.bytes).subspan(sizeof header);
    if (header.magic != block_magic || header.type != static_cast<std::uint32_t>(entry.type) || header.rank != entry.rank ||
        header.stored_size != entry.stored_size || !is_block(header, stored, header_.version))
        return std::nullopt;
    loaded.block = {entry.type, header.rank, stored, header.raw_size};
    return loaded;
}

std::optional<std::vector<BlockEntry>> Directory::blocks(const RankEntry& rank) {
    if (rank.directory_size < sizeof(BlockHeader)) return std::nullopt;
    const auto loaded = load({BlockType::Directory, rank.rank, 0, {}, {}, rank.directory_at, rank.directory_size - sizeof(BlockHeader)});
    if (!loaded) return std::nullopt;
    Unpacker unpacker(loaded->bytes.size());
    const std::optional<Bytes> payload = unpacker.unpack(loaded->block);
    if (!payload) return std::nullopt;
    Decoder d(payload->data(), payload->size());
    std::uint64_t count = 0;
    d.number(count);
    if (d.failed() || count > d.remaining() / 7) return std::nullopt;
    std::vector<BlockEntry> entries;
    entries.reserve(count);
    for (std::uint64_t i = 0; i < count; ++i) {
        DirectoryEntryRecord r;
        describe(d, r);
        if (d.failed() || r.type > max_number || r.thread > max_number || r.phase > max_number || r.metric > max_number || r.distance > rank.directory_at ||
            r.stored_size > source_->size())
            return std::nullopt;
        entries.push_back({static_cast<BlockType>(r.type), r.of_job != 0 ? no_rank : rank.rank, static_cast<std::uint32_t>(r.thread), number_before(r.phase),
                           number_before(r.metric), rank.directory_at - r.distance, r.stored_size});
    }
    return entries;
}

} // namespace libprofile::tools
