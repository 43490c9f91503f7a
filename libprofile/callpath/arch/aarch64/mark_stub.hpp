// See arch/mark_stub.hpp.
#pragma once

#include <cstdint>

namespace libprofile {

/// As `paciasp` or `pacibsp` at the begin of a function does; unchanged on processors without pointer authentication.
inline std::uintptr_t signed_by_key_a(std::uintptr_t address, std::uintptr_t end) noexcept {
    register std::uintptr_t pointer __asm__("x17") = address;
    register std::uintptr_t modifier __asm__("x16") = end;
    __asm__("hint 8" : "+r"(pointer) : "r"(modifier)); // pacia1716
    return pointer;
}
inline std::uintptr_t signed_by_key_b(std::uintptr_t address, std::uintptr_t end) noexcept {
    register std::uintptr_t pointer __asm__("x17") = address;
    register std::uintptr_t modifier __asm__("x16") = end;
    __asm__("hint 10" : "+r"(pointer) : "r"(modifier)); // pacib1716
    return pointer;
}

/// No frame with a signed return address is marked. But one that is marked may end by a jump to a function that signs what it returns to.
/// Linux leaves seven bits for a signature. So that of key B is that of key A, or none at all, in one of 128 frames each.
inline std::uintptr_t stored_as(std::uintptr_t word, std::uintptr_t from, std::uintptr_t to, std::uintptr_t end, Signing signing) noexcept {
    if (signing == Signing::KeyA && word == signed_by_key_a(from, end)) return signed_by_key_a(to, end);
    if (signing == Signing::KeyB && word == signed_by_key_b(from, end)) return signed_by_key_b(to, end);
    if (word == from) [[likely]]
        return to;
    if (word == signed_by_key_a(from, end)) return signed_by_key_a(to, end);
    if (word == signed_by_key_b(from, end)) return signed_by_key_b(to, end);
    return 0;
}

constexpr std::uintptr_t stub_frame_size = 168; // mark_stub.S

} // namespace libprofile
