// The hash of texts in the profile file.
// Contract: pure.
#pragma once

#include <cstddef>
#include <cstdint>

namespace libprofile {

inline constexpr std::uint64_t fnv_start = 0xcbf29ce484222325u;

/// FNV-1a, 64 bit (Fowler, Noll, Vo). `h`: of the text before this one.
constexpr std::uint64_t fnv1a(const char* text, std::size_t size, std::uint64_t h = fnv_start) {
    for (std::size_t i = 0; i < size; ++i) h = (h ^ static_cast<unsigned char>(text[i])) * 0x100000001b3u;
    return h;
}

} // namespace libprofile
