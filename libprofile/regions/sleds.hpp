// The room that clang -fxray-instrument leaves at each entry and exit of functions ("sleds"). It does nothing until a call is written into it. We
// do that for the functions that the filter leaves in; all others cost a jump over nine bytes.
//
// A section of the program, xray_instr_map, lists the sleds (LLVM, docs/XRay.rst; compiler-rt, lib/xray/xray_interface_internal.h). The
// compiler's own run-time library is not needed and need not be linked.
//
// A sled is aligned to two bytes and begins with a jump over the rest, or with the return itself. So the rest is written first, and then the
// first two bytes in one store: running threads see either the old or the new code. No change is ever undone.
//
// Contract: look() runs in ordinary context, on any thread, when modules may have been loaded, with the in-tool flag set. One thread does the
// work; others return. Reads the program's file and changes its code; memory is part of the quota. x86-64 only; elsewhere it does nothing.
#pragma once

#include "libprofile/base/memory.hpp"
#include "libprofile/callpath/load_map.hpp"

#include <atomic>
#include <cstdint>

namespace libprofile {

/// As in the section. Other kinds (arguments, events) are left alone.
enum class SledKind : std::uint8_t { Entry = 0, Return = 1, Jump = 2 };

/// An entry of the section, version 2. Addresses are relative to their own position.
struct SledEntry {
    std::int64_t address;
    std::int64_t function;
    std::uint8_t kind;
    std::uint8_t is_always;
    std::uint8_t version;
    std::uint8_t unused[13];
};
static_assert(sizeof(SledEntry) == 32);

class Sleds {
  public:
    /// Returns true if the program itself has any.
    static bool are_in_program() noexcept;
    /// Follows the functions of the modules loaded since the last call.
    void look() noexcept {
        if (modules_.load(std::memory_order_relaxed) != load_map.arrivals() || epoch_.load(std::memory_order_relaxed) != number_of_epoch(load_map.epoch()))
            look_now();
    }
    /// The same, but asks the loader for new modules. Do not call it when the loader's lock may be held by a thread that waits for us.
    void look_for_new() noexcept;
    /// What could not be done, as a sentence; may be empty.
    const char* complaint() const { return complaint_; }

  private:
    /// The sleds of a module, by its number.
    struct Known {
        const SledEntry* sleds = nullptr;
        std::uint64_t count = 0;
        unsigned char* way = nullptr; // the page that sleds lead to
    };
    void look_now() noexcept;
    void find(const Module& module, Known& known) noexcept;
    void patch(const Module& module, Known& known) noexcept;

    std::atomic<std::uint32_t> modules_{0};
    std::atomic<std::uint32_t> epoch_{0};
    std::atomic_flag busy_ = ATOMIC_FLAG_INIT;
    Arena arena_;
    StableArray<Known, 6> known_;
    char complaint_[256] = {};
};
extern Sleds sleds;

} // namespace libprofile
