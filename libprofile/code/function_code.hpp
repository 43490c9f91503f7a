// The machine code of one function: its parts, as if they were contiguous. Compilers keep rarely executed code in a part of its own.
//
// Contract: plain data of one thread; reads code of a loaded module, changes nothing; async-signal-safe, allocates nothing.
#pragma once

#include "libprofile/code/instruction.hpp"

#include <cstddef>
#include <cstdint>

namespace libprofile {

/// Finds the part of a function that holds an address. Returns false if unknown.
using FindCode = bool (*)(std::uintptr_t address, std::uintptr_t& start, std::uintptr_t& end) noexcept;

inline bool is_jump(Instruction::Kind kind) noexcept {
    using Kind = Instruction::Kind;
    return kind == Kind::Jump || kind == Kind::Branch || kind == Kind::ShortBranch;
}
inline bool is_call(Instruction::Kind kind) noexcept { return kind == Instruction::Kind::Call || kind == Instruction::Kind::IndirectCall; }

class FunctionCode {
  public:
    static constexpr std::uint32_t most_parts = 16;
    static constexpr std::uint32_t largest = 128 << 10; // bytes
    static constexpr std::uint32_t none = 0xffffffffu;

    /// Reads the function with the call at `address`. Returns false if its code is unknown, not understood or too large.
    bool read(std::uintptr_t address, FindCode find_code) noexcept;
    /// Adds the part with this address. Returns false for the same reasons.
    bool add(std::uintptr_t address, FindCode find_code) noexcept { return add_part(address, find_code) == Addition::Done; }

    std::uint32_t size() const { return size_; }
    /// Returns `none` if the address is elsewhere.
    std::uint32_t position(std::uintptr_t address) const noexcept;
    /// The instruction that begins at this position.
    Instruction instruction_at(std::uint32_t position) const noexcept;
    std::uint32_t parts() const { return count_; }
    /// Returns the position at which a part begins.
    std::uint32_t first_of(std::uint32_t part) const { return parts_[part].first; }
    std::uintptr_t start_of(std::uint32_t part) const { return parts_[part].start; }
    bool is_in_part(std::uint32_t part, std::uintptr_t address) const { return address >= parts_[part].start && address < parts_[part].end; }

    /// Calls visit(position, is_last, address, instruction) for all in order; `is_last` within the part. Returns false if not all are understood or visit
    /// returns false.
    template <class Visit> bool for_each(Visit visit) const noexcept {
        for (std::uint32_t i = 0; i < count_; ++i) {
            for (std::uintptr_t at = parts_[i].start; at < parts_[i].end;) {
                const Instruction instruction = decode(at, parts_[i].end - at);
                if (instruction.kind == Instruction::Kind::Unknown || instruction.length == 0) return false;
                const std::uintptr_t next = at + instruction.length;
                if (!visit(parts_[i].first + static_cast<std::uint32_t>(at - parts_[i].start), next >= parts_[i].end, at, instruction)) return false;
                at = next;
            }
        }
        return true;
    }

  private:
    enum class Addition : std::uint8_t { Done, Elsewhere, TooMuch };
    Addition add_part(std::uintptr_t address, FindCode find_code) noexcept;
    Addition add_target(std::uintptr_t address, FindCode find_code) noexcept;

    struct Part {
        std::uintptr_t start, end;
        std::uint32_t first;
    };
    Part parts_[most_parts] = {};
    std::uint32_t count_ = 0;
    std::uint32_t size_ = 0;
};

} // namespace libprofile
