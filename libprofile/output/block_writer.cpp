#include "libprofile/output/block_writer.hpp"

namespace libprofile {

bool BlockBuffer::close(const BlockKey& key, unsigned char* block, std::size_t size) noexcept {
    const auto at = static_cast<std::size_t>(block - bytes_.data());
    unsigned char* entry = entries_.append(sizeof(DirectoryEntryRecord));
    if (entry == nullptr) {
        bytes_.shorten(bytes_.size() - at);
        return false;
    }
    unsigned char* payload = block + sizeof(BlockHeader);
    const std::size_t smaller = key.plain ? 0 : compressor_.compress(payload, size, key.type == BlockType::Events ? events_frame_size : size);
    const std::size_t stored = smaller == 0 ? size : smaller;
    bytes_.shorten(padded(size) - stored);
    bytes_.append(padded(stored) - stored);
    BlockHeader header{};
    header.magic = block_magic;
    header.type = static_cast<std::uint32_t>(key.type);
    header.stored_size = stored;
    header.raw_size = size;
    header.crc = crc32(payload, stored);
    header.rank = key.rank;
    std::memcpy(block, &header, sizeof header);
    const DirectoryEntryRecord record{header.type, key.rank == no_rank ? std::uint64_t{1} : 0, key.thread, key.phase, key.metric, at, stored};
    std::memcpy(entry, &record, sizeof record);
    return true;
}

bool BlockBuffer::write_directory(std::uint32_t rank, std::uint64_t& at, std::uint64_t& stored) noexcept {
    at = bytes_.size();
    const std::size_t count = entries_.size() / sizeof(DirectoryEntryRecord);
    const bool ok = write({BlockType::Directory, rank}, [&](Encoder& encoder) {
        encoder.number(count);
        for (std::size_t i = 0; i < count; ++i) {
            DirectoryEntryRecord record;
            std::memcpy(&record, entries_.data() + i * sizeof record, sizeof record);
            record.distance = at - record.distance;
            describe(encoder, record);
        }
    });
    BlockHeader header{};
    if (ok) std::memcpy(&header, bytes_.data() + at, sizeof header);
    stored = sizeof header + header.stored_size;
    return ok;
}

} // namespace libprofile
