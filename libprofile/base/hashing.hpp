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

/// 2^64 divided by the golden ratio.
inline constexpr std::uint64_t golden = 0x9e3779b97f4a7c15u;

/// A hash of `bits` bits (Fibonacci hashing; Knuth, volume 3, section 6.4): one multiplication, for tables that every call asks.
constexpr std::uint64_t short_hash(std::uint64_t key, unsigned bits) { return key * golden >> (64 - bits); }

} // namespace libprofile
