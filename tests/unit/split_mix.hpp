// Random numbers of generated profiles: the same on every machine.
#pragma once

#include <cstdint>

namespace libprofile::test {

/// SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
struct Random {
    std::uint64_t state = 1;
    std::uint64_t operator()() {
        std::uint64_t z = state += 0x9e3779b97f4a7c15u;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
        z = (z ^ z >> 27) * 0x94d049bb133111ebu;
        return z ^ z >> 31;
    }
    double uniform() { return static_cast<double>((*this)() >> 11) * 0x1p-53; }
};

} // namespace libprofile::test
