// Reads memory of this process that may be gone or wrong: the kernel copies it, and reports what does not exist.
// Contract: async-signal-safe, no allocation, never faults; belongs to one thread. A block that was read once is kept until forget(), so
// call that before each new look.
#pragma once

#include <cstddef>
#include <cstdint>

namespace libprofile {

class SafeMemory {
  public:
    void forget() noexcept {
        for (Block& block : blocks_) block.at = none;
    }
    /// Returns false if any of the bytes cannot be read.
    bool read(std::uintptr_t address, void* to, std::size_t bytes) noexcept;
    template <class T> bool read(std::uintptr_t address, T& value) noexcept { return read(address, &value, sizeof value); }
    /// Reads `count` pieces of `bytes` bytes with few system calls; returns how many of them, from the first, were read. Keeps none.
    static std::size_t read_pieces(const std::uintptr_t* addresses, std::size_t count, void* to, std::size_t bytes) noexcept;

  private:
    static constexpr std::size_t block_bytes = 1024; // never crosses a page
    static constexpr std::size_t most_blocks = 8;
    static constexpr std::uintptr_t none = 1;
    struct Block {
        std::uintptr_t at = none;
        unsigned char bytes[block_bytes];
    };
    const Block* block_at(std::uintptr_t at) noexcept;

    Block blocks_[most_blocks];
    unsigned next_ = 0;
};

} // namespace libprofile
