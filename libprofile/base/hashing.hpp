// The mixing function of all hash tables and structure signatures.
// Contract: pure.
#pragma once

#include <cstdint>

namespace libprofile {

/// A bijective 64-bit finaliser (the constants of SplitMix64; Steele, Lea, Flood 2014).
constexpr std::uint64_t mix(std::uint64_t x) {
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9u;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

} // namespace libprofile
