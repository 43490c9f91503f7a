#include "tools/reader/blocks.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <fmt/format.h>
#include <zlib.h>

namespace libprofile::tools {

namespace {

/// Blocks start at multiples of 8, so a lost reader finds the next one by its magic number there.
std::size_t next_block(Bytes bytes, std::size_t from) {
    for (std::size_t at = (from + 7) / 8 * 8; at + sizeof(BlockHeader) <= bytes.size(); at += 8) {
        std::uint32_t magic = 0;
        std::memcpy(&magic, bytes.data() + at, sizeof magic);
        if (magic == block_magic) return at;
    }
    return bytes.size();
}

const char* type_name(std::uint32_t type) {
    switch (static_cast<BlockType>(type)) {
    case BlockType::Job: return "job";
    case BlockType::Metrics: return "metric";
    case BlockType::Rank: return "rank";
    case BlockType::Modules: return "module";
    case BlockType::Functions: return "function";
    case BlockType::Tree: return "call-path";
    case BlockType::Phase: return "phase";
    case BlockType::Names: return "name";
    case BlockType::Trace: return "trace";
    case BlockType::Waits: return "waits";
    case BlockType::Events: return "events";
    case BlockType::Pages: return "nodes of pages";
    case BlockType::Machine: return "machine";
    case BlockType::Series: return "series";
    case BlockType::Location: return "location";
    case BlockType::NodeMap: return "node-map";
    case BlockType::Cells: return "cell";
    case BlockType::Directory: return "directory";
    case BlockType::RankTable: return "rank-table";
    case BlockType::Footer: return "footer";
    case BlockType::Averages: return "averages";
    case BlockType::Journal: return "journal";
    case BlockType::Loops: return "loops";
    case BlockType::Regions: return "regions";
    case BlockType::Topology: return "topology";
    case BlockType::OpenMp: return "OpenMP";
    case BlockType::ShortThreads: return "short-threads";
    case BlockType::Inside: return "inside";
    case BlockType::Partners: return "partners";
    case BlockType::Begins: return "begins";
    case BlockType::Clock: return "clock";
    case BlockType::Sequences: return "sequences";
    case BlockType::Totals: return "totals";
    case BlockType::CodeLoops: return "code-loops";
    }
    return "unknown";
}

std::string describe_block(const BlockHeader& header) {
    if (header.rank == no_rank) return fmt::format("a {} block", type_name(header.type));
    return fmt::format("a {} block of rank {}", type_name(header.type), header.rank);
}

} // namespace

FileHeader check_header(Bytes bytes) {
    static_assert(std::endian::native == std::endian::little, "headers are copied, not converted");
    FileHeader header{};
    if (bytes.size() < sizeof header) throw ReadError(fmt::format("too short for a profile ({} bytes)", bytes.size()));
    std::memcpy(&header, bytes.data(), sizeof header);
    if (std::memcmp(header.magic, file_magic, sizeof file_magic) != 0) throw ReadError("not a profile of libprofile");
    if (header.version < oldest_version || header.version > format_version)
        throw ReadError(fmt::format("of format version {}, but this libprofile reads versions {} to {}", header.version, oldest_version, format_version));
    return header;
}

std::uint32_t checksum(Bytes bytes) { return static_cast<std::uint32_t>(::crc32_z(0, bytes.data(), bytes.size())); }

bool is_block(const BlockHeader& header, Bytes stored, std::uint32_t version) {
    if (header.raw_size < header.stored_size || (version == 3 && header.raw_size != header.stored_size)) return false;
    if (version > 3 && header.type == static_cast<std::uint32_t>(BlockType::RankTable))
        return true; // written by all ranks at once: its entries have checksums of their own
    return checksum(stored) == header.crc;
}

BlockList find_blocks(Bytes bytes) {
    BlockList list{};
    list.header = check_header(bytes);
    std::size_t at = sizeof(FileHeader);
    while (at < bytes.size()) {
        BlockHeader header{};
        const std::size_t left = bytes.size() - at;
        if (left < sizeof header) {
            list.damages.note([&] { return fmt::format("truncated at byte {}", bytes.size()); });
            break;
        }
        std::memcpy(&header, bytes.data() + at, sizeof header);
        if (header.magic != block_magic) {
            const std::size_t next = next_block(bytes, at + 1);
            list.damages.note([&] { return fmt::format("bytes {} to {} are damaged", at, next - 1); });
            at = next;
            continue;
        }
        const std::size_t room = left - sizeof header;
        // A journal has room for more than was written; its records have checksums of their own.
        if (header.type == static_cast<std::uint32_t>(BlockType::Journal)) {
            const Bytes journal = bytes.subspan(at + sizeof header, static_cast<std::size_t>(std::min<std::uint64_t>(header.stored_size, room)));
            list.blocks.push_back({BlockType::Journal, header.rank, journal, journal.size()});
            at += sizeof header + (journal.size() + 7) / 8 * 8;
            continue;
        }
        if (header.stored_size > room) {
            // Either the file ends too early or this header is wrong; in both cases what follows may be readable.
            const std::size_t next = next_block(bytes, at + 8);
            list.damages.note([&] { return fmt::format("{} at byte {} does not fit into the file", describe_block(header), at); });
            at = next;
            continue;
        }
        const Bytes payload = bytes.subspan(at + sizeof header, static_cast<std::size_t>(header.stored_size));
        if (!is_block(header, payload, list.header.version))
            list.damages.note([&] { return fmt::format("{} at byte {} is damaged (checksum)", describe_block(header), at); });
        else
            list.blocks.push_back({static_cast<BlockType>(header.type), header.rank, payload, header.raw_size});
        at += sizeof header + (payload.size() + 7) / 8 * 8;
        if (at > bytes.size()) break; // the padding of the last block may be missing
    }
    return list;
}

} // namespace libprofile::tools
