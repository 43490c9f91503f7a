// Where a function goes on when an exception passes it: the landing pads of its call-site table (.gcc_except_table).
//
// Contract: async-signal-safe, no lock, no allocation; reads only readable segments of loaded modules; bounded. Only tables of C and C++ are read. What
// is damaged, too long or of another language is not understood.
// Source: the tables as GCC, LLVM and libsupc++ have them ("Itanium C++ ABI: Exception Handling", LSDA).
#pragma once

#include "libprofile/base/dwarf_cursor.hpp"

#include <cstdint>

namespace libprofile {

class ExceptionTable {
  public:
    struct LandingPad {
        std::uintptr_t address = 0;
        std::uintptr_t from = 0, to = 0; // the code with the calls from which exceptions come
        bool may_catch = false;          // else it cleans up, and the exception goes on to the caller
    };

    /// Finds the table of the function, or the part of one, that holds `address`; an empty one if exceptions only pass. Returns false if unknown.
    bool find(std::uintptr_t address) noexcept;
    /// Reads the next landing pad. One pad may come many times. Returns false at the end, or when the table is not understood.
    bool next(LandingPad& pad) noexcept;
    /// The table was not understood up to its end.
    bool failed() const { return failed_; }

  private:
    static constexpr std::uint32_t most_sites = 1u << 14;
    static constexpr std::uint32_t most_actions = 64; // of one call site

    bool read_head(std::uintptr_t table, std::uintptr_t function) noexcept;
    bool may_catch(std::uint64_t action) noexcept;
    bool fail() noexcept {
        failed_ = true;
        return false;
    }

    DwarfCursor sites_;
    DwarfCursor actions_;
    std::uintptr_t base_ = 0;     // of landing pads
    std::uintptr_t function_ = 0; // or this part of it
    std::uint8_t encoding_ = pointer_encoding::omitted;
    std::uint32_t sites_read_ = 0;
    bool failed_ = false;
};

} // namespace libprofile
