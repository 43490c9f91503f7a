// The Begins block of the profile file: when the iterations of a phase began.
// Contract: plain data; no allocation; `describe` runs with an Encoder or a Decoder.
//
// How long iterations took is in the Phase block, so only the gaps between them are coded, in two bytes each. Gaps are cut, never rounded up, and
// what was cut is in the next gap. So errors do not add up, and a coded iteration never begins before the one before it has ended.
#pragma once

#include "format/codec.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>

namespace libprofile {

struct BeginsRecord {
    std::uint64_t thread = 0;
    std::uint64_t phase = 0; // its number in the thread
    std::uint64_t first = 0; // when the first one began, in ns since the clock of the rank began
};
template <class Codec> void describe(Codec& c, BeginsRecord& r) {
    c.number(r.thread);
    c.number(r.phase);
    c.number(r.first);
}

/// A gap in ns as an exponent of 6 bits and 10 bits of the number: exact below 2,048, then short by less than 1/1,024.
struct GapCode {
    static constexpr std::size_t bytes = 2;
    static constexpr unsigned mantissa_bits = 10;
    static constexpr std::uint64_t mantissas = std::uint64_t{1} << mantissa_bits;

    static std::uint16_t encode(std::uint64_t gap) {
        const unsigned exponent = gap < mantissas ? 0u : static_cast<unsigned>(std::bit_width(gap)) - mantissa_bits;
        const std::uint64_t mantissa = exponent == 0 ? gap : (gap >> (exponent - 1)) - mantissas;
        return static_cast<std::uint16_t>(exponent << mantissa_bits | mantissa);
    }
    /// Any code: the largest ones are of no gap and give the longest.
    static std::uint64_t decode(std::uint16_t code) {
        const unsigned exponent = code >> mantissa_bits;
        const std::uint64_t mantissa = code & (mantissas - 1);
        if (exponent == 0) return mantissa;
        return exponent > 64 - mantissa_bits ? ~std::uint64_t{0} : (mantissas + mantissa) << (exponent - 1);
    }
};

} // namespace libprofile
