// Unwind recipe: how to get from one frame of a call stack to the calling frame, in one machine word.
// Contract: plain data; every function is inline, async-signal-safe and allocates nothing.
//
// A frame is known by its look-up address (the interrupted instruction, or the return address - 1), its stack pointer and its frame pointer
// (rbp, x29). The canonical frame address (CFA) is the caller's stack pointer at its call. Where the return address lies: arch/return_rules.hpp.
// These forms describe nearly all code. The rest is Hard and left to libunwind.
#pragma once

#include "libprofile/base/load_epoch.hpp"

#include <cstdint>

namespace libprofile {

enum class RecipeKind : std::uint8_t {
    Unlearned = 0,     // the address was not looked up yet
    Stack = 1,         // CFA = stack pointer + cfa_offset
    Frame = 2,         // CFA = frame pointer + cfa_offset
    FrameIndirect = 3, // CFA = the word at (frame pointer + cfa_offset): functions that realign their stack
    Signal = 4,        // the return trampoline of a signal handler: a ucontext_t lies at the stack pointer
    Outermost = 5,     // no caller (the return address is undefined): the root of a thread or process
    Hard = 6,          // unwind information that this form cannot express
    Missing = 7,       // no unwind information
};

/// Where the caller's frame pointer is. On AArch64, the return address lies behind it.
enum class FramePointerRule : std::uint8_t {
    Same = 0,    // unchanged; on AArch64 the return address is in its register, too
    AtCfa = 1,   // in the word at CFA + frame_offset
    AtFrame = 2, // x86-64: in the word at (frame pointer + frame_offset)
    // AArch64: distances from the register that gives the CFA. Frames may be large, and the record lies near their lower end.
    ReturnAtBase = 2, // unchanged, and the return address lies in the word at (register + frame_offset)
    AtBase = 3,       // in the word at (register + frame_offset)
};

/// The kind of module in which the address lies; see load_map.hpp.
enum RecipeFlag : std::uint8_t {
    InLibc = 1u << 0, // libc or the loader
    InLibprofile = 1u << 1,
    InBindingLayer = 1u << 2,     // Fortran or C++ bindings of an MPI, or an OpenMP runtime
    InUnwinder = 1u << 3,         // libgcc_s, libunwind: an exception may be in flight, or a thread may be ending
    ForeignPersonality = 1u << 4, // cleans up by the rules of a language other than C and C++
    Unmarkable = 1u << 5,         // may ask for its own return address: MPI libraries and their transports
    NoReturnAddress = 1u << 6,    // no call instruction ends after the look-up address: it cannot be a caller
    SignedReturn = 1u << 7,       // the return address is signed (AArch64)
};

struct Recipe {
    RecipeKind kind = RecipeKind::Unlearned;
    FramePointerRule frame_rule = FramePointerRule::Same;
    std::uint8_t flags = 0;        // RecipeFlag
    std::int32_t cfa_offset = 0;   // bytes, a multiple of 8
    std::int32_t frame_offset = 0; // bytes, a multiple of 8

    static constexpr std::int32_t largest_cfa_offset = (1 << 26) - 8;
    static constexpr std::int32_t largest_frame_offset = (1 << 12) - 8;

    /// Returns true if the offsets can be packed.
    bool fits() const {
        return cfa_offset % 8 == 0 && frame_offset % 8 == 0 && cfa_offset <= largest_cfa_offset && cfa_offset >= -largest_cfa_offset &&
               frame_offset <= largest_frame_offset && frame_offset >= -largest_frame_offset;
    }

    /// Bits: kind 3, frame rule 2, flags 8, frame offset / 8 10, cfa offset / 8 24, epoch 16 (of the load map).
    std::uint64_t pack(std::uint32_t epoch) const {
        return static_cast<std::uint64_t>(kind) | static_cast<std::uint64_t>(frame_rule) << 3 | static_cast<std::uint64_t>(flags) << 5 |
               static_cast<std::uint64_t>((frame_offset / 8) & 0x3ff) << 13 | static_cast<std::uint64_t>((cfa_offset / 8) & 0xffffff) << 23 |
               static_cast<std::uint64_t>(epoch & 0xffff) << 47;
    }
    static Recipe unpack(std::uint64_t word) {
        Recipe recipe;
        recipe.kind = static_cast<RecipeKind>(word & 7);
        recipe.frame_rule = static_cast<FramePointerRule>((word >> 3) & 3);
        recipe.flags = static_cast<std::uint8_t>((word >> 5) & 0xff);
        recipe.frame_offset = static_cast<std::int32_t>(static_cast<std::int64_t>(word << 41) >> 54) * 8;
        recipe.cfa_offset = static_cast<std::int32_t>(static_cast<std::int64_t>(word << 17) >> 40) * 8;
        return recipe;
    }
    /// False while something is being unloaded (load_epoch.hpp).
    static bool is_of_epoch(std::uint64_t word, std::uint32_t epoch) { return word >> 47 == (epoch & (0xffff | unloading_bits)); }
};

} // namespace libprofile
