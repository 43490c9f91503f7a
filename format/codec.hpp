// The primitive encodings of the profile file: variable-length integers, strings, CRC-32.
// Contract: no allocation, no exceptions; Encoder and Decoder are plain values used by one thread.
// The Encoder never writes past its buffer and the Decoder never reads past its own, whatever the input.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace libprofile {

/// A view of bytes that belong to another object.
struct Text {
    const char* data = nullptr;
    std::size_t size = 0;

    constexpr Text() = default;
    constexpr Text(const char* bytes, std::size_t length) : data(bytes), size(length) {}
    Text(const char* zero_terminated) : data(zero_terminated), size(std::strlen(zero_terminated)) {}
};

/// Writes into a fixed buffer. When the buffer is full, `overflow` stays true and `size` tells how much was needed. With capacity 0 it
/// only measures.
class Encoder {
  public:
    Encoder(unsigned char* buffer, std::size_t capacity) : buffer_(buffer), capacity_(capacity) {}

    static constexpr bool reading = false;

    void number(const std::uint64_t& value) {
        std::uint64_t rest = value;
        if (size_ + most_bytes <= capacity_) {
            unsigned char* to = buffer_ + size_;
            for (; rest > 0x7f; rest >>= 7) *to++ = static_cast<unsigned char>(rest | 0x80);
            *to++ = static_cast<unsigned char>(rest);
            size_ = static_cast<std::size_t>(to - buffer_);
            return;
        }
        do {
            put(static_cast<unsigned char>((rest & 0x7f) | (rest > 0x7f ? 0x80 : 0)));
            rest >>= 7;
        } while (rest != 0);
    }
    void signed_number(const std::int64_t& value) { number((static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63)); }
    void text(const Text& value) {
        number(value.size);
        for (std::size_t i = 0; i < value.size; ++i) put(static_cast<unsigned char>(value.data[i]));
    }

    void raw(const unsigned char* bytes, std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) put(bytes[i]);
    }

    std::size_t size() const { return size_; }
    bool overflow() const { return size_ > capacity_; }

  private:
    static constexpr std::size_t most_bytes = 10; // of a number
    void put(unsigned char byte) {
        if (size_ < capacity_) buffer_[size_] = byte;
        ++size_;
    }
    unsigned char* buffer_;
    std::size_t capacity_;
    std::size_t size_ = 0;
};

/// Writes where the caller has made room for whatever comes.
class RoomyEncoder {
  public:
    explicit RoomyEncoder(unsigned char* to) : to_(to) {}

    static constexpr bool reading = false;

    void number(const std::uint64_t& value) {
        std::uint64_t rest = value;
        for (; rest > 0x7f; rest >>= 7) *to_++ = static_cast<unsigned char>(rest | 0x80);
        *to_++ = static_cast<unsigned char>(rest);
    }
    void signed_number(const std::int64_t& value) { number((static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63)); }

    unsigned char* end() const { return to_; }

  private:
    unsigned char* to_;
};

/// Reads from a buffer. After the first malformed or missing byte, `failed()` stays true and values are 0.
class Decoder {
  public:
    Decoder(const unsigned char* buffer, std::size_t size) : next_(buffer), end_(buffer + size) {}

    static constexpr bool reading = true;

    void number(std::uint64_t& value) {
        if (next_ != end_ && *next_ < 0x80) { // most numbers are small
            value = *next_++;
            return;
        }
        long_number(value);
    }
    void signed_number(std::int64_t& value) {
        std::uint64_t raw = 0;
        number(raw);
        value = static_cast<std::int64_t>((raw >> 1) ^ (~(raw & 1) + 1));
    }
    void text(Text& value) {
        std::uint64_t length = 0;
        number(length);
        value = Text{};
        if (length > remaining()) return fail(length);
        value = Text{reinterpret_cast<const char*>(next_), static_cast<std::size_t>(length)};
        next_ += length;
    }

    std::size_t remaining() const { return static_cast<std::size_t>(end_ - next_); }
    bool failed() const { return failed_; }

  private:
    /// A number of several bytes: eight at a time where so many are left.
    [[gnu::noinline]] void long_number(std::uint64_t& value) {
        if (remaining() >= sizeof(std::uint64_t)) {
            constexpr std::uint64_t more = 0x8080808080808080u;
            std::uint64_t bytes = 0;
            for (unsigned i = 0; i < sizeof bytes; ++i) bytes |= std::uint64_t{next_[i]} << 8 * i; // one load, whatever the machine's order
            if (const std::uint64_t ends = ~bytes & more; ends != 0) {
                next_ += static_cast<unsigned>(__builtin_ctzll(ends)) / 8 + 1;
                bytes &= (ends ^ (ends - 1)) & ~more; // up to the byte that ends it, seven bits of each
                bytes = (bytes & 0x007f007f007f007fu) | (bytes & 0x7f007f007f007f00u) >> 1;
                bytes = (bytes & 0x00003fff00003fffu) | (bytes & 0x3fff00003fff0000u) >> 2;
                value = (bytes & 0x0fffffffu) | (bytes & 0x0fffffff00000000u) >> 4;
                return;
            }
        }
        value = 0;
        for (unsigned shift = 0; shift < 64; shift += 7) {
            if (next_ == end_) return fail(value);
            const unsigned char byte = *next_++;
            const std::uint64_t bits = byte & 0x7fu;
            if (shift == 63 && bits > 1) return fail(value);
            value |= bits << shift;
            if ((byte & 0x80u) == 0) return;
        }
        fail(value);
    }

    void fail(std::uint64_t& value) {
        failed_ = true;
        value = 0;
        next_ = end_;
    }
    const unsigned char* next_;
    const unsigned char* end_;
    bool failed_ = false;
};

namespace detail {
constexpr std::array<std::uint32_t, 256> make_crc_table() {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t i = 0; i < 256; ++i) {
        std::uint32_t c = i;
        for (int bit = 0; bit < 8; ++bit) c = (c >> 1) ^ ((c & 1) != 0 ? 0xedb88320u : 0u);
        table[i] = c;
    }
    return table;
}
inline constexpr std::array<std::uint32_t, 256> crc_table = make_crc_table();
} // namespace detail

/// CRC-32 (IEEE 802.3, reflected), as in zlib and Python's zlib.crc32.
inline std::uint32_t crc32(const void* bytes, std::size_t size) {
    const auto* p = static_cast<const unsigned char*>(bytes);
    std::uint32_t c = 0xffffffffu;
    for (std::size_t i = 0; i < size; ++i) c = detail::crc_table[(c ^ p[i]) & 0xffu] ^ (c >> 8);
    return c ^ 0xffffffffu;
}

} // namespace libprofile
