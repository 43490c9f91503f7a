// Decides which characters of a text of unknown origin (names of files, functions and phases, settings) may be printed as they are.
// Contract: constexpr, no state; async-signal-safe.
#pragma once

#include <cstddef>
#include <cstdint>

namespace libprofile {

struct ShownCharacter {
    unsigned length = 1;    // bytes
    std::uint32_t code = 0; // of the character; 0 for broken UTF-8
    bool is_shown = false;  // printed as it is; false for control characters, and for characters that change the direction of text or end a line invisibly
};

/// Returns the first character of `left` > 0 bytes of UTF-8.
constexpr ShownCharacter shown_character(const char* text, std::size_t left) {
    const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned first = byte(0);
    if (first < 0x80) return {1, first, first >= 0x20 && first != 0x7f};
    const unsigned length = first >= 0xc2 && first < 0xe0 ? 2 : first >= 0xe0 && first < 0xf0 ? 3 : first >= 0xf0 && first < 0xf5 ? 4 : 0;
    if (length == 0 || length > left) return {};
    std::uint32_t code = first & (0xffu >> (length + 1));
    for (unsigned i = 1; i < length; ++i) {
        if ((byte(i) & 0xc0u) != 0x80u) return {};
        code = code << 6 | (byte(i) & 0x3fu);
    }
    constexpr std::uint32_t shortest[] = {0, 0, 0x80, 0x800, 0x10000};
    if (code < shortest[length] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return {};
    const bool is_hidden = code < 0xa0 || code == 0x61c || code == 0x200e || code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||
                           (code >= 0x2066 && code <= 0x2069) || code == 0xfeff || (code >= 0xfff9 && code <= 0xfffb) || (code >= 0xe0000 && code < 0xe0080);
    return {length, code, !is_hidden};
}

} // namespace libprofile
