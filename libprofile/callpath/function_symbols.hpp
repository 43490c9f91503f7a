// The functions that the files of a module name: by the best table of symbols there is, its own whole one, that of the debug information
// that a distribution has installed for it, or that of the exported functions.
//
// Contract: one thread, in ordinary context. Files are read, not mapped: one that shrinks meanwhile must not end the job. Memory is part of the
// quota, and given back when the object goes. Changes errno. Survives damaged files.
#pragma once

#include "libprofile/base/file_pieces.hpp"

#include <cstdint>
#include <elf.h>

namespace libprofile {

struct Module;

struct FunctionSymbol {
    const char* name = nullptr; // lives as long as the FunctionSymbols
    std::uint64_t value = 0;    // where the function is in the module's addresses
    std::uint64_t size = 0;
};

class FunctionSymbols {
  public:
    explicit FunctionSymbols(const Module& module) noexcept;

    /// Not only those that are exported: the module is not stripped, or its debug information is there.
    bool has_all() const { return has_all_; }
    /// The next one; in no order, and several may be in one place. False: there are no more.
    bool next(FunctionSymbol& symbol) noexcept;
    /// There may be functions that next() has not told of.
    bool lacks_memory() const { return own_.lacks_memory() || debug_.lacks_memory(); }

  private:
    bool choose(Pieces& file, std::uint32_t type) noexcept;
    bool read() noexcept;

    Pieces own_;
    Pieces debug_;
    Pieces* chosen_ = nullptr; // the file whose table is read; nullptr: none
    bool has_all_ = false;
    Elf64_Shdr table_{};
    Elf64_Shdr texts_{}; // its names
    const Elf64_Sym* symbols_ = nullptr;
    const char* names_ = nullptr;
    std::uint64_t next_ = 0;
};

} // namespace libprofile
