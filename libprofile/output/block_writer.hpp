// One section of a profile file: its blocks one after another, and the entries of its directory.
// Contract: one thread; never throws; memory from ByteBuffer. Functions return false, with nothing changed, if it could not grow.
#pragma once

#include "format/profile_file.hpp"
#include "libprofile/output/byte_buffer.hpp"
#include "libprofile/output/compressor.hpp"

#include <cstring>

namespace libprofile {

/// The identity of a block.
struct BlockKey {
    BlockType type;
    std::uint32_t rank = no_rank;
    std::uint64_t thread = 0;
    std::uint64_t phase = 0;  // number + 1; 0 if the block belongs to none
    std::uint64_t metric = 0; // position + 1; 0 if the block belongs to none
    bool plain = false;       // never compressed, because jobs read it, too
};

class BlockBuffer {
  public:
    const unsigned char* data() const { return bytes_.data(); }
    std::size_t size() const { return bytes_.size(); }

    /// Appends bytes that are no block: the file header.
    bool append(const void* bytes, std::size_t count) noexcept {
        unsigned char* memory = bytes_.append(count);
        if (memory != nullptr) std::memcpy(memory, bytes, count);
        return memory != nullptr;
    }

    /// Calls `payload` twice, to measure and to write.
    template <class Payload> bool write(const BlockKey& key, Payload payload) noexcept {
        Encoder measure(nullptr, 0);
        payload(measure);
        const std::size_t size = measure.size();
        unsigned char* block = bytes_.append(sizeof(BlockHeader) + padded(size));
        if (block == nullptr) return false;
        Encoder encoder(block + sizeof(BlockHeader), size);
        payload(encoder);
        return close(key, block, size);
    }

    /// Writes the Directory block of all blocks so far. `at`, `stored`: its offset in the section and its size with its header.
    bool write_directory(std::uint32_t rank, std::uint64_t& at, std::uint64_t& stored) noexcept;

  private:
    static std::size_t padded(std::size_t size) { return (size + 7) & ~std::size_t{7}; }
    /// Compresses the payload after the header at `block`, writes the header there and notes the block.
    bool close(const BlockKey& key, unsigned char* block, std::size_t size) noexcept;

    ByteBuffer bytes_;
    ByteBuffer entries_; // DirectoryEntryRecord, with the offset in the section as `distance`
    Compressor compressor_;
};

template <class Payload> bool write_block(BlockBuffer& buffer, const BlockKey& key, Payload payload) noexcept { return buffer.write(key, payload); }

} // namespace libprofile
