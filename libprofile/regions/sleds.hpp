// The places that clang -fxray-instrument leaves in functions: room at each entry and exit ("sleds"), which does nothing until somebody
// writes a call into it. We do, into those of the functions that the filter leaves in; all others cost a jump over nine bytes.
//
// A section of the program, xray_instr_map, lists the sleds (LLVM, docs/XRay.rst; compiler-rt, lib/xray/xray_interface_internal.h). The
// compiler's own run-time library is not needed, and need not be linked.
//
// A sled is aligned to two bytes, and begins with a jump over the rest, or with the return itself. So what lies behind is written first,
// and the first two bytes in one store: threads that run there do the one or the other. Nothing is ever taken back.
//
// Contract: look() in ordinary context, on any thread, when modules may have come, with the in-tool flag set; one thread does the work,
// others go on. Reads the program's file and changes its code; memory is part of the quota. x86-64 only; elsewhere nothing is done.
#pragma once

#include "libprofile/base/memory.hpp"
#include "libprofile/callpath/load_map.hpp"

#include <atomic>
#include <cstdint>

namespace libprofile {

/// As in the section. Others (arguments, events) are left as they are.
enum class SledKind : std::uint8_t { Entry = 0, Return = 1, Jump = 2 };

/// A line of the section, version 2: addresses count from where they stand.
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
    /// Whether the program itself has any.
    static bool are_in_program() noexcept;
    /// Follows the functions of the modules that came since the last time.
    void look() noexcept {
        if (modules_.load(std::memory_order_relaxed) != load_map.arrivals() || epoch_.load(std::memory_order_relaxed) != load_map.epoch()) look_now();
    }
    /// The same, and asks the loader whether any came; not when the loader's lock may be held by somebody who waits for us.
    void look_for_new() noexcept;
    /// What could not be done, as a sentence; or empty.
    const char* complaint() const { return complaint_; }

  private:
    /// What is known of a module, by its number.
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
