#include "tools/reader/unpack.hpp"

#include <zstd.h>

namespace libprofile::tools {

std::optional<Bytes> Unpacker::unpack(const Block& block) {
    if (block.raw_size == block.stored.size()) return block.stored;
    if (!is_raw_size_allowed(block.raw_size, block.stored.size()) || block.raw_size > left_) return std::nullopt;
    buffer_.resize(static_cast<std::size_t>(block.raw_size));
    const std::size_t size = ZSTD_decompress(buffer_.data(), buffer_.size(), block.stored.data(), block.stored.size());
    if (ZSTD_isError(size) != 0 || size != buffer_.size()) return std::nullopt;
    left_ -= block.raw_size;
    return Bytes(buffer_);
}

} // namespace libprofile::tools
