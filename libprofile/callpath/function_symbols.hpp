// The functions that the files of a module name. The best table of symbols is used: the module's own full one, that of the debug
// information that a distribution has installed for it, or that of the exported functions.
// Contract: one thread, in ordinary context. Files are read, not mapped: a file that shrinks while it is mapped would end the job. Memory
// counts against the quota until the object is destroyed. Changes errno. Survives damaged files.
#pragma once

#include "libprofile/base/file_pieces.hpp"

#include <cstdint>
#include <elf.h>

namespace libprofile {

struct Module;

struct FunctionSymbol {
    const char* name = nullptr; // lives as long as the FunctionSymbols object
    std::uint64_t value = 0;    // the function's address in the module
    std::uint64_t size = 0;
};

class FunctionSymbols {
  public:
    explicit FunctionSymbols(const Module& module) noexcept;

    /// Returns true if all functions are known, not only exported ones: the module is not stripped, or its debug information is installed.
    bool has_all() const { return has_all_; }
    /// The next function, in no order; several may have one address. Returns false at the end.
    bool next(FunctionSymbol& symbol) noexcept;
    /// Returns true if next() may have left out functions.
    bool lacks_memory() const { return own_.lacks_memory() || debug_.lacks_memory(); }

  private:
    bool choose(Pieces& file, std::uint32_t type) noexcept;
    bool read() noexcept;

    Pieces own_;
    Pieces debug_;
    Pieces* chosen_ = nullptr; // the file whose table is read, or nullptr
    bool has_all_ = false;
    Elf64_Shdr table_{};
    Elf64_Shdr texts_{}; // its names
    const Elf64_Sym* symbols_ = nullptr;
    const char* names_ = nullptr;
    std::uint64_t next_ = 0;
};

} // namespace libprofile
