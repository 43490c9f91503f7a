// A message in Protocol Buffers' wire format: what the exports need of it.
// Contract: plain data; allocates; throws std::bad_alloc only. Written by hand: it takes a few lines.
// Format: protobuf.dev/programming-guides/encoding.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace libprofile::tools {

class ProtoMessage {
  public:
    /// 0 is left out: readers take it for what is missing.
    void number(unsigned field, std::uint64_t value) {
        if (value != 0) present_number(field, value);
    }
    /// For fields of which readers ask whether they are there.
    void present_number(unsigned field, std::uint64_t value) {
        varint(std::uint64_t{field} << 3);
        varint(value);
    }
    void fixed64(unsigned field, std::uint64_t value) {
        varint(std::uint64_t{field} << 3 | 1);
        for (int byte = 0; byte < 8; ++byte) bytes_ += static_cast<char>(value >> (8 * byte));
    }
    void message(unsigned field, const ProtoMessage& sub) { bytes(field, sub.bytes_); }
    void text(unsigned field, const std::string& text) { bytes(field, text); }
    void numbers(unsigned field, const std::vector<std::uint64_t>& values) {
        ProtoMessage packed;
        for (const std::uint64_t value : values) packed.varint(value);
        bytes(field, packed.bytes_);
    }
    bool is_empty() const { return bytes_.empty(); }
    const std::string& serialized() const { return bytes_; }

  private:
    void varint(std::uint64_t value) {
        for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
        bytes_ += static_cast<char>(value);
    }
    void bytes(unsigned field, const std::string& content) {
        varint(std::uint64_t{field} << 3 | 2);
        varint(content.size());
        bytes_ += content;
    }
    std::string bytes_;
};

} // namespace libprofile::tools
