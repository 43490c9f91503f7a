#include "wrappers/mpi/receive_requests.hpp"

#include <atomic>
#include <cstddef>
#include <sys/mman.h>

namespace libprofile::receive_requests {

namespace {

// A hash table of levels. A handle may be anywhere in one window (two cache lines) of each level, so that
// removing needs no tombstones; a level that is full there passes the handle on to the next, larger one.
using Slot = std::atomic<std::uint64_t>;
constexpr std::size_t window = 16;
constexpr unsigned first_bits = 12;
constexpr unsigned bits_per_level = 3;
constexpr unsigned levels = 6;

alignas(64) Slot first_level[std::size_t{1} << first_bits];
std::atomic<Slot*> later_levels[levels]; // [0] is unused

Slot* level_slots(unsigned level) noexcept {
    return level == 0 ? first_level : later_levels[level].load(std::memory_order_acquire);
}

Slot* make_level(unsigned level) noexcept {
    const std::size_t bytes = sizeof(Slot) << (first_bits + bits_per_level * level);
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return nullptr;
    Slot* expected = nullptr;
    Slot* made = static_cast<Slot*>(memory); // zeroed pages are empty slots
    if (later_levels[level].compare_exchange_strong(expected, made, std::memory_order_acq_rel))
        return made;
    munmap(memory, bytes); // another thread was faster
    return expected;
}

Slot* window_of(std::uint64_t handle, Slot* slots, unsigned level) noexcept {
    const unsigned bits = first_bits + bits_per_level * level;
    const std::uint64_t hash = (handle * 0x9e3779b97f4a7c15u) >> (64 - bits);
    return slots + (hash & ~std::uint64_t{window - 1});
}

/// Changes one slot of the handle's windows from `from` to `to`; false when none held `from`.
bool exchange(std::uint64_t handle, std::uint64_t from, std::uint64_t to, bool grow) noexcept {
    for (unsigned level = 0; level < levels; ++level) {
        Slot* slots = level_slots(level);
        if (slots == nullptr && grow)
            slots = make_level(level);
        if (slots == nullptr)
            return false;
        Slot* const first = window_of(handle, slots, level);
        for (Slot* slot = first; slot != first + window; ++slot) {
            std::uint64_t expected = from;
            if (slot->load(std::memory_order_relaxed) == from &&
                slot->compare_exchange_strong(expected, to, std::memory_order_acq_rel))
                return true;
        }
    }
    return false;
}

} // namespace

bool insert(std::uint64_t handle) noexcept {
    return exchange(handle, 0, handle, true);
}

bool remove(std::uint64_t handle) noexcept {
    return exchange(handle, handle, 0, false);
}

bool contains(std::uint64_t handle) noexcept {
    return exchange(handle, handle, handle, false);
}

} // namespace libprofile::receive_requests
