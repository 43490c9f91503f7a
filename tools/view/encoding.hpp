// The columns of numbers that a page carries: variable-length integers, compressed, in base64.
// Contract: thread-safe (no state); allocates its results; throws std::bad_alloc only. docs/view.md tells how the page reads them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace libprofile::tools {

using ByteList = std::vector<unsigned char>;

/// A column of unsigned integers, seven bits to a byte, low bits first; the top bit says that more follow (LEB128).
class NumberColumn {
  public:
    void add(std::uint64_t value) {
        while (value >= 0x80) {
            bytes_.push_back(static_cast<unsigned char>(value | 0x80));
            value >>= 7;
        }
        bytes_.push_back(static_cast<unsigned char>(value));
    }
    /// Zigzag: 0, -1, 1, -2, ... become 0, 1, 2, 3, ...
    void add_signed(std::int64_t value) { add((static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63)); }
    const ByteList& bytes() const { return bytes_; }

  private:
    ByteList bytes_;
};

/// The zlib format (RFC 1950), which browsers call "deflate".
ByteList deflated(const ByteList& bytes);

/// RFC 4648.
std::string base64(const ByteList& bytes);

} // namespace libprofile::tools
