// The stub that a marked return address leads to (mark.hpp). One implementation per architecture.
// Contract: constants; usable anywhere.
//   mark_stub()                what a marked return slot holds
//   is_mark_code(address)      whether it lies in the stub or its handler
//   stored_as(word, from, to, end, signing)   what a slot must hold to lead to `to` if `word`, which it holds, leads to `from`; 0 if it does not. With
//                              signed return addresses, `end` (of the frame) is part of the signature. Signatures are short: two are equal now and
//                              then, and only `signing` tells them apart
//   stub_frame_size            from the slot that the stub tells its handler to the end of the frame that has returned
#pragma once

#include <cstdint>

namespace libprofile {

/// How the word in a return slot is signed.
enum class Signing : std::uint8_t { Unknown, None, KeyA, KeyB };

} // namespace libprofile

#if defined(__x86_64__)
#include "libprofile/callpath/arch/x86_64/mark_stub.hpp"
#else
#include "libprofile/callpath/arch/aarch64/mark_stub.hpp"
#endif

namespace libprofile {

extern "C" [[gnu::visibility("hidden")]] void libprofile_mark_stub();
extern "C" [[gnu::visibility("hidden")]] const char __start_libprofile_marks[];
extern "C" [[gnu::visibility("hidden")]] const char __stop_libprofile_marks[];

inline std::uintptr_t mark_stub() noexcept { return reinterpret_cast<std::uintptr_t>(&libprofile_mark_stub); }

inline bool is_mark_code(std::uintptr_t address) noexcept {
    return address >= reinterpret_cast<std::uintptr_t>(__start_libprofile_marks) && address < reinterpret_cast<std::uintptr_t>(__stop_libprofile_marks);
}

} // namespace libprofile
