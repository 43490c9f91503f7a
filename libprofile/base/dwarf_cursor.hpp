// Reads DWARF data inside fixed bounds: integers, LEB128 numbers and the encoded pointers of .eh_frame.
// Contract: async-signal-safe; never reads outside [start, end). A read that would, or that makes no sense, fails: it gives zero, moves the
// cursor to its end and makes failed() true for good. So callers check once, after a group of reads.
// Source: DWARF 5, section 7.6; Linux Standard Base, section 10.5 (pointer encodings).
#pragma once

#include <cstdint>
#include <cstring>

namespace libprofile {

/// DW_EH_PE_*: the low four bits are the format, the next three say what the value is relative to.
namespace pointer_encoding {
constexpr std::uint8_t absolute = 0x00;
constexpr std::uint8_t uleb128 = 0x01;
constexpr std::uint8_t udata2 = 0x02;
constexpr std::uint8_t udata4 = 0x03;
constexpr std::uint8_t udata8 = 0x04;
constexpr std::uint8_t signed_absolute = 0x08;
constexpr std::uint8_t sleb128 = 0x09;
constexpr std::uint8_t sdata2 = 0x0a;
constexpr std::uint8_t sdata4 = 0x0b;
constexpr std::uint8_t sdata8 = 0x0c;
constexpr std::uint8_t format_mask = 0x0f;
constexpr std::uint8_t pc_relative = 0x10;
constexpr std::uint8_t data_relative = 0x30;
constexpr std::uint8_t aligned = 0x50;
constexpr std::uint8_t relation_mask = 0x70;
constexpr std::uint8_t indirect = 0x80;
constexpr std::uint8_t omitted = 0xff;
} // namespace pointer_encoding

class DwarfCursor {
  public:
    DwarfCursor() = default; // nothing to read
    DwarfCursor(std::uintptr_t start, std::uintptr_t end) : at_(start), end_(end), failed_(start > end) {
        if (failed_) at_ = end_;
    }

    bool failed() const { return failed_; }
    bool at_end() const { return at_ == end_; }
    std::uintptr_t position() const { return at_; }
    std::uint64_t left() const { return end_ - at_; }

    template <class T> T read() {
        T value{};
        if (left() < sizeof value) {
            fail();
            return value;
        }
        std::memcpy(&value, reinterpret_cast<const void*>(at_), sizeof value);
        at_ += sizeof value;
        return value;
    }

    std::uint64_t unsigned_leb() {
        std::uint64_t value = 0;
        for (unsigned shift = 0; shift < 70; shift += 7) {
            const auto byte = read<std::uint8_t>();
            value |= shift < 64 ? std::uint64_t{byte & 0x7fu} << shift : 0;
            if ((byte & 0x80) == 0) return value;
        }
        fail(); // longer than any 64-bit number
        return 0;
    }

    std::int64_t signed_leb() {
        std::uint64_t value = 0;
        for (unsigned shift = 0; shift < 70; shift += 7) {
            const auto byte = read<std::uint8_t>();
            value |= shift < 64 ? std::uint64_t{byte & 0x7fu} << shift : 0;
            if ((byte & 0x80) != 0) continue;
            if ((byte & 0x40) != 0 && shift + 7 < 64) value |= ~std::uint64_t{0} << (shift + 7);
            return static_cast<std::int64_t>(value);
        }
        fail();
        return 0;
    }

    /// An encoded pointer, before a possible indirection. Zero stays zero whatever it is relative to. Fails for bases that do not
    /// occur in loaded x86-64 modules (text, function), and for `data` when `data_base` is 0.
    std::uintptr_t pointer(std::uint8_t encoding, std::uintptr_t data_base) {
        const std::uint8_t relation = encoding & pointer_encoding::relation_mask;
        if (relation == pointer_encoding::aligned) {
            skip(-at_ & (sizeof(std::uintptr_t) - 1));
            return read<std::uintptr_t>();
        }
        const std::uintptr_t field = at_;
        const std::uint64_t value = number(encoding & pointer_encoding::format_mask);
        if (relation == pointer_encoding::absolute || value == 0) return value;
        if (relation == pointer_encoding::pc_relative) return field + value;
        if (relation == pointer_encoding::data_relative && data_base != 0) return data_base + value;
        fail();
        return 0;
    }

    void skip(std::uint64_t bytes) {
        if (bytes > left()) return fail();
        at_ += bytes;
    }

    /// A cursor over the next `bytes` bytes, which this one skips. Fails together with this one.
    DwarfCursor part(std::uint64_t bytes) {
        const std::uintptr_t start = at_;
        skip(bytes);
        DwarfCursor result(failed_ ? at_ : start, at_);
        result.failed_ = failed_;
        return result;
    }

  private:
    /// A number in one of the formats, sign-extended if it is signed.
    std::uint64_t number(std::uint8_t format) {
        switch (format) {
        case pointer_encoding::absolute:
        case pointer_encoding::signed_absolute:
        case pointer_encoding::udata8:
        case pointer_encoding::sdata8: return read<std::uint64_t>();
        case pointer_encoding::uleb128: return unsigned_leb();
        case pointer_encoding::udata2: return read<std::uint16_t>();
        case pointer_encoding::udata4: return read<std::uint32_t>();
        case pointer_encoding::sleb128: return static_cast<std::uint64_t>(signed_leb());
        case pointer_encoding::sdata2: return static_cast<std::uint64_t>(std::int64_t{read<std::int16_t>()});
        case pointer_encoding::sdata4: return static_cast<std::uint64_t>(std::int64_t{read<std::int32_t>()});
        default: fail(); return 0;
        }
    }

    void fail() {
        failed_ = true;
        at_ = end_;
    }

    std::uintptr_t at_ = 0;
    std::uintptr_t end_ = 0;
    bool failed_ = false;
};

} // namespace libprofile
