// A table of MPI requests under way, by handle.
// Contract: thread-safe without locks; allocates under the memory quota only, when many requests are open at once; not called from
// signal handlers. Two threads may work on different handles at the same time; MPI itself forbids that on one handle.
//
// Only handles that are unique while they are open may be entered: those of receives, reads and persistent requests
// are (though a start may change them); sends share theirs (field notes of both MPIs: small sends are complete at once and get one common handle).
#pragma once

#include "libprofile/base/hashing.hpp"
#include "libprofile/base/memory.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace libprofile {

/// A handle is a pointer of 47 bits or an int; the bits above are for the user of the table.
inline constexpr unsigned request_handle_bits = 48;
inline constexpr std::uint64_t request_handle_mask = (std::uint64_t{1} << request_handle_bits) - 1;

/// `Slot` is zero-initialised memory with a member `std::atomic<std::uint64_t> key`, 0 when the slot is empty.
///
/// A hash table of levels. A handle may be anywhere in one window of each level, so that removing needs no tombstones;
/// a level that is full there passes the handle on to the next, larger one.
template <class Slot, unsigned first_bits> class RequestTable {
  public:
    /// Takes an empty slot for `handle` by storing `key` in it; nullptr when memory ran out.
    Slot* add(std::uint64_t handle, std::uint64_t key) noexcept {
        for (unsigned level = 0; level < levels; ++level) {
            Slot* slots = level_slots(level);
            if (slots == nullptr) slots = make_level(level);
            if (slots == nullptr) return nullptr;
            Slot* const first = window_of(handle, slots, level);
            for (Slot* slot = first; slot != first + window; ++slot) {
                std::uint64_t empty = 0;
                if (slot->key.load(std::memory_order_relaxed) == 0 && slot->key.compare_exchange_strong(empty, key, std::memory_order_acq_rel)) return slot;
            }
        }
        return nullptr;
    }

    /// The slot whose key holds `handle`, or nullptr.
    Slot* find(std::uint64_t handle) noexcept {
        return search(handle, [](Slot&, std::uint64_t) { return true; });
    }
    /// Empties the slot and returns the key it had; 0 when there was none. MPI may give a completed handle out again
    /// before its completion was seen here: then two slots hold it, and each user takes one.
    std::uint64_t take(std::uint64_t handle) noexcept {
        std::uint64_t taken = 0;
        search(handle, [&taken](Slot& slot, std::uint64_t key) {
            if (!slot.key.compare_exchange_strong(key, 0, std::memory_order_acq_rel)) return false;
            taken = key;
            return true;
        });
        return taken;
    }

  private:
    static constexpr std::size_t window = 8; // a cache line of bare keys
    static constexpr unsigned bits_per_level = 3;
    static constexpr unsigned levels = 6;

    Slot* level_slots(unsigned level) noexcept { return level == 0 ? first_level_ : later_levels_[level].load(std::memory_order_acquire); }

    Slot* make_level(unsigned level) noexcept {
        const std::size_t bytes = sizeof(Slot) << (first_bits + bits_per_level * level);
        void* memory = memory_quota.map(bytes);
        if (memory == nullptr) return nullptr;
        Slot* expected = nullptr;
        Slot* made = static_cast<Slot*>(memory);
        if (later_levels_[level].compare_exchange_strong(expected, made, std::memory_order_acq_rel)) return made;
        memory_quota.unmap(memory, bytes); // another thread was faster
        return expected;
    }

    static Slot* window_of(std::uint64_t handle, Slot* slots, unsigned level) noexcept {
        const unsigned bits = first_bits + bits_per_level * level;
        const std::uint64_t hash = short_hash(handle, bits);
        return slots + (hash & ~std::uint64_t{window - 1});
    }

    template <class Accept> Slot* search(std::uint64_t handle, Accept accept) noexcept {
        for (unsigned level = 0; level < levels; ++level) {
            Slot* slots = level_slots(level);
            if (slots == nullptr) return nullptr;
            Slot* const first = window_of(handle, slots, level);
            for (Slot* slot = first; slot != first + window; ++slot) {
                const std::uint64_t key = slot->key.load(std::memory_order_acquire);
                if ((key & request_handle_mask) == handle && accept(*slot, key)) return slot;
            }
        }
        return nullptr;
    }

    alignas(64) Slot first_level_[std::size_t{1} << first_bits] = {};
    std::atomic<Slot*> later_levels_[levels] = {}; // [0] is unused
};

} // namespace libprofile
