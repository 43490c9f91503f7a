// Finds single blocks of a finished profile file without reading the others.
// Contract: belongs to one thread; keeps a reference to the source. Whatever the file says: reads no byte twice for two blocks,
// allocates in proportion to what it reads. Throws ReadError only where the source does.
#pragma once

#include "tools/reader/byte_source.hpp"
#include "tools/reader/unpack.hpp"

#include <map>
#include <optional>

namespace libprofile::tools {

/// Where a block is.
struct BlockEntry {
    BlockType type = BlockType::Job;
    std::uint32_t rank = no_rank;
    std::uint32_t thread = 0;
    std::optional<std::uint32_t> phase;  // its number in the thread
    std::optional<std::uint32_t> metric; // position in the metric table
    std::uint64_t at = 0;                // of the header
    std::uint64_t stored_size = 0;
};

/// A block and the bytes it lies in.
struct LoadedBlock {
    std::vector<unsigned char> bytes;
    Block block;
};

class Directory {
  public:
    /// Empty if the file has no directory, or a damaged one; then it must be read from beginning to end.
    /// @throws ReadError as check_header()
    static std::optional<Directory> open(const ByteSource& source);

    const FileHeader& header() const { return header_; }
    /// The ranks of the file, the first one's directory has the job's blocks.
    const std::vector<RankEntry>& ranks() const { return ranks_; }
    /// nullptr: no such rank.
    const RankEntry* find(std::uint32_t rank) const;
    /// The blocks that a rank has written. Empty if its directory is damaged.
    std::optional<std::vector<BlockEntry>> blocks(const RankEntry& rank);
    /// Reads a block. Empty if it is another one, damaged, or overlaps one that was read before.
    std::optional<LoadedBlock> load(const BlockEntry& entry);
    /// The same in two steps: claim() returns false if the block lies outside, or overlaps one that was read or claimed before. read() is
    /// thread-safe.
    bool claim(const BlockEntry& entry);
    std::optional<LoadedBlock> read(const BlockEntry& entry) const;

  private:
    explicit Directory(const ByteSource& source) : source_(&source) {}

    const ByteSource* source_;
    FileHeader header_ = {};
    std::vector<RankEntry> ranks_;
    std::map<std::uint32_t, std::size_t> position_;
    std::map<std::uint64_t, std::uint64_t> read_; // begin and end of what was read
};

} // namespace libprofile::tools
