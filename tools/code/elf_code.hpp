// The machine code of a program or library on disk: its bytes by address, its parts with unwind information, and what the loader puts
// into its words (elfutils).
// Contract: one object per thread, since elfutils reads lazily; allocates in proportion to the functions and relocations; broken files give
// fewer answers; throws std::bad_alloc only; never runs code of the file. Addresses are ELF virtual addresses. A file that somebody cuts
// while it is open ends the process (SIGBUS), as with every reader that maps files.
#pragma once

#include "libprofile/code/instruction.hpp"
#include "tools/code/code_part.hpp"

#include <cstdint>
#include <libelf.h>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace libprofile::tools {

/// An instruction and its bytes.
struct CodeAt {
    Instruction instruction; // with ELF addresses; Unknown where no code is
    const unsigned char* bytes = nullptr;
};

class ElfCode {
  public:
    explicit ElfCode(const std::string& path);
    /// Of a file in memory, which must outlive this object.
    explicit ElfCode(std::span<const unsigned char> file);
    ~ElfCode();
    ElfCode(const ElfCode&) = delete;
    ElfCode& operator=(const ElfCode&) = delete;

    /// Whether it is an ELF file for x86-64 with code.
    bool is_readable() const { return !parts_.empty(); }
    /// By address, without overlaps. Stubs of the linker are left out.
    const std::vector<CodePart>& parts() const { return parts_; }
    /// Returns nullptr if there is none.
    const CodePart* part_of(std::uint64_t address) const;
    /// The address of what the file holds at an offset.
    std::optional<std::uint64_t> address_of(std::uint64_t file_offset) const;

    /// What the file holds of a segment, from that address on. Empty if nothing is there.
    std::span<const unsigned char> bytes(std::uint64_t address) const;
    /// The instruction there, which ends before `end`.
    CodeAt at(std::uint64_t address, std::uint64_t end) const;
    /// Eight bytes as the program sees them: with the loader's relocations.
    std::optional<std::uint64_t> word(std::uint64_t address) const;
    /// The name of the function whose address the loader puts there; nullptr if that is not known.
    const char* symbol_in(std::uint64_t slot) const;
    /// The slot that a stub of the linker jumps through; 0 if the address is none.
    std::uint64_t slot_of_stub(std::uint64_t address) const;
    /// The function of this file that is called, or jumped to, also through a stub or slot; 0 if it is in another file or not known.
    std::uint64_t callee(const Instruction& call) const;
    /// Whether the file holds that byte and the program cannot change it.
    bool is_constant(std::uint64_t address) const;

  private:
    struct Segment {
        std::uint64_t begin, end;
        const unsigned char* bytes;
        bool is_code, is_constant;
    };
    struct Relocation {
        std::uint64_t at, value;
        const char* symbol;
    };
    struct ElfEnd {
        void operator()(Elf* elf) const { elf_end(elf); }
    };
    void read();
    void add_symbols();
    const Segment* segment_of(std::uint64_t address) const;
    bool is_code(std::uint64_t begin, std::uint64_t end) const;
    const Relocation* relocation_at(std::uint64_t address) const;
    void read_relocations() const;

    int file_ = -1;
    std::unique_ptr<Elf, ElfEnd> elf_;
    std::vector<Segment> segments_;
    std::vector<CodePart> parts_;
    mutable std::vector<Relocation> relocations_; // sorted; read when one is asked for
    mutable bool has_relocations_ = false;
};

} // namespace libprofile::tools
