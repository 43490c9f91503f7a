// What machine code says about frames that have no unwind information (code_frame.hpp). One implementation per architecture.
// Contract: async-signal-safe, no allocation; reads the code of [start, until), or right before `address`.
#pragma once

#include "libprofile/base/loaded_objects.hpp"

#include <cstdint>

namespace libprofile {

struct CodeFrame {
    enum class Base : std::uint8_t { StackPointer, FramePointer, Rbx };
    Base base = Base::StackPointer;
    std::int32_t cfa_offset = 0;    // CFA = base + cfa_offset
    std::int32_t frame_offset = 0;  // the caller's frame pointer lies at CFA + frame_offset; 0 if it is unchanged
    std::int32_t return_offset = 0; // the same of the return address; 0 if it is in its register (AArch64)
};

/// Interprets the first instructions of the function at `start`, at most up to `until`. `body`: the first one that does not belong to them.
CodeFrame read_prologue(std::uintptr_t start, std::uintptr_t until, std::uintptr_t& body) noexcept;

/// Returns true if the instruction that ends at `address` is a call. `longest_call` bytes before it can be read.
bool ends_with_call(std::uintptr_t address, const LoadedObject& module) noexcept;
constexpr std::uintptr_t longest_call = 8;

/// Linkers' stubs have neither unwind information (on AArch64) nor symbols. They change neither the stack nor the return address.
bool is_in_stub(std::uintptr_t address) noexcept;
/// The frame of a function that has done nothing yet.
extern const CodeFrame at_entry;

} // namespace libprofile
