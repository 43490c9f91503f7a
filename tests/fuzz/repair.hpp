// Gives mutated profiles right sizes and checksums, so that the decoders behind them see the damage.
// Contract: for the fuzzers; any bytes; changes headers, entries of the rank table, and the footer only.
#pragma once

#include "format/journal.hpp"
#include "format/profile_file.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace libprofile::test {

inline void repair_table(unsigned char* entries, std::uint64_t size) {
    for (std::uint64_t at = 0; at + sizeof(RankEntry) <= size; at += sizeof(RankEntry)) {
        RankEntry entry{};
        std::memcpy(&entry, entries + at, sizeof entry);
        entry.crc = crc32(&entry, offsetof(RankEntry, crc));
        std::memcpy(entries + at, &entry, sizeof entry);
    }
}

inline void repair_journal(unsigned char* journal, std::uint64_t size) {
    JournalRecordHeader header{};
    std::uint64_t sequence = 0;
    for (std::uint64_t at = 0; size - at >= sizeof header;) {
        std::memcpy(&header, journal + at, sizeof header);
        if (header.mark != journal_mark || padded_to_8(header.size) > size - at - sizeof header) return;
        header.check = journal_check(journal + at + sizeof header, header.size, sequence++);
        std::memcpy(journal + at, &header, sizeof header);
        at += sizeof header + padded_to_8(header.size);
    }
}

inline void repair(unsigned char* bytes, std::size_t size) {
    std::size_t at = sizeof(FileHeader);
    while (at + sizeof(BlockHeader) <= size) {
        BlockHeader header{};
        std::memcpy(&header, bytes + at, sizeof header);
        const std::size_t room = size - at - sizeof header;
        header.magic = block_magic;
        header.stored_size = std::min<std::uint64_t>(header.stored_size, room);
        // What is compressed stays so; its size is often a lie then.
        header.raw_size = std::max(header.raw_size % (1u << 20), header.stored_size);
        unsigned char* stored = bytes + at + sizeof header;
        if (header.type == static_cast<std::uint32_t>(BlockType::RankTable))
            repair_table(stored, header.stored_size);
        else if (header.type == static_cast<std::uint32_t>(BlockType::Journal))
            repair_journal(stored, header.stored_size);
        else
            header.crc = crc32(stored, header.stored_size);
        std::memcpy(bytes + at, &header, sizeof header);
        at += sizeof header + (header.stored_size + 7) / 8 * 8;
    }
    FooterRecord footer{};
    if (size < sizeof footer) return;
    unsigned char* end = bytes + size - sizeof footer;
    std::memcpy(&footer, end, sizeof footer);
    if (std::memcmp(footer.magic, end_magic, sizeof end_magic) == 0) footer.file_size = size;
    std::memcpy(end, &footer, sizeof footer);
}

} // namespace libprofile::test
