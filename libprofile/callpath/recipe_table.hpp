// Unwind recipes by look-up address, learned when first asked for: the process's table of how its frames are unwound.
//
// Contract: insert-only, lock-free, async-signal-safe. find() may run in any thread and in a handler that interrupts another find(). All
// callers run with the in-tool flag set, since a miss asks the load map. A word read from the table was written for exactly that address
// and epoch; after an unload (LoadMap::invalidate) addresses are learned again in place. When memory is used up, or too many addresses
// compete for a slot, recipes are computed each time.
#pragma once

#include "libprofile/base/hashing.hpp"
#include "libprofile/callpath/recipe.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace libprofile {

/// RecipeFlags of the module that holds `address`.
std::uint8_t recipe_flags_of_module(std::uintptr_t address) noexcept;

class RecipeTable {
  public:
    static constexpr unsigned smallest_bits = 12;
    static constexpr unsigned largest_bits = 18;
    static constexpr unsigned most_probes = 8; // one or two cache lines beyond the first

    Recipe find(std::uintptr_t address, std::uint32_t epoch) noexcept {
        const std::uint64_t word = find_word(address, epoch);
        return word != 0 ? Recipe::unpack(word) : learn(address, epoch);
    }

    /// Returns the packed recipe, or 0 if it was not learned yet.
    std::uint64_t find_word(std::uintptr_t address, std::uint32_t epoch) const noexcept {
        const std::uintptr_t table = table_.load(std::memory_order_acquire);
        if (table == 0) return 0;
        const Slot* slot = first_slot(table, address);
        for (unsigned i = 0; i < most_probes; ++i, ++slot) {
            const std::uint64_t key = slot->address.load(std::memory_order_relaxed);
            if (key == address) {
                // Relaxed order suffices: a slot's address never changes, and the word is complete in itself.
                const std::uint64_t word = slot->word.load(std::memory_order_relaxed);
                return Recipe::is_of_epoch(word, epoch) ? word : 0;
            }
            if (key == 0) break;
        }
        return 0;
    }

    /// Computes a recipe and stores it if possible.
    Recipe learn(std::uintptr_t address, std::uint32_t epoch) noexcept;

    /// The number of recipes computed because they were not in the table.
    std::uint64_t learned() const { return learned_.load(std::memory_order_relaxed); }
    /// The number of slots in the table now.
    std::size_t capacity() const {
        const std::uintptr_t table = table_.load(std::memory_order_relaxed);
        return table == 0 ? 0 : std::size_t{1} << bits_of(table);
    }

  private:
    struct Slot {
        std::atomic<std::uint64_t> address; // 0 if free
        std::atomic<std::uint64_t> word;    // 0 if claimed, but without a recipe yet
    };
    struct Header { // a cache line in front of the slots
        alignas(64) std::atomic<std::uint32_t> used;
    };

    static constexpr std::uintptr_t bits_mask = 63; // tables begin on a page: the low bits hold log2 of the capacity

    static unsigned bits_of(std::uintptr_t table) { return static_cast<unsigned>(table & bits_mask); }
    static std::size_t bytes_of(unsigned bits) {
        // A few slots more than the capacity, so probing needs no wrapping around.
        return (sizeof(Header) + ((std::size_t{1} << bits) + most_probes) * sizeof(Slot) + 4095) & ~std::size_t{4095};
    }
    static Header* header_of(std::uintptr_t table) { return reinterpret_cast<Header*>(table & ~bits_mask); }
    static Slot* first_slot(std::uintptr_t table, std::uintptr_t address) {
        const std::uint64_t hash = address * golden; // Fibonacci hashing: the upper bits are well mixed
        return reinterpret_cast<Slot*>((table & ~bits_mask) + sizeof(Header)) + (hash >> (64 - bits_of(table)));
    }

    bool insert(std::uintptr_t table, std::uintptr_t address, std::uint64_t word, std::uint32_t most_used) noexcept;
    /// Returns true if there is a larger table now, made by this call or another; false if none is possible.
    bool grow(std::uintptr_t table) noexcept;

    std::atomic<std::uintptr_t> table_{0}; // the newest; older ones stay mapped for threads that still read them
    std::atomic<std::uint64_t> learned_{0};
};
extern RecipeTable recipe_table;

} // namespace libprofile
