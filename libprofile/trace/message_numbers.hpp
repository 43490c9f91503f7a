// How many messages of this process had the same direction, partner, communicator and tag before: with that number both ends of a message are found,
// whatever else was dropped.
// Contract: one for the process, thread-safe without locks, async-signal-safe; pages from the memory quota at the first message. A message costs some 5 ns.
#pragma once

#include "format/partners.hpp"
#include "libprofile/base/hashing.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace libprofile {

class MessageNumbers {
  public:
    /// A message of this process could not be counted: none has a number from now on, since its other end would have another one.
    void stop() noexcept { has_stopped_.store(true, std::memory_order_relaxed); }
    /// The same for a collective operation: other ranks may have one more.
    void stop_collectives() noexcept { collectives_have_stopped_.store(true, std::memory_order_relaxed); }
    void stop_all() noexcept { stop(), stop_collectives(); }
    /// From 1 on. 0: not known, since there are too many kinds of messages, or memory is short, or one was missed.
    std::uint64_t next(MessageDirection direction, std::uint32_t partner, std::uint32_t communicator, std::int32_t tag) noexcept {
        const std::uint64_t to = std::uint64_t{partner} << 1 | static_cast<std::uint64_t>(direction);
        // Multiples of odd numbers without a pattern: kinds that differ in several of these have different sums.
        return next_of(mix(to * golden + communicator * 0xd6e8feb86659fd93u + static_cast<std::uint32_t>(tag) * 0xa0761d6478bd642fu) | 1);
    }
    /// How many collective operations the communicator had, this one included; as next().
    std::uint64_t next_collective(std::uint32_t communicator) noexcept {
        if (collectives_have_stopped_.load(std::memory_order_relaxed)) [[unlikely]]
            return 0;
        const std::uint64_t key = (std::uint64_t{communicator} + 1) * golden; // a communicator's number is a hash
        return next_of((key ^ key >> 32) | 1);
    }

  private:
    static constexpr unsigned bits = 14;
    static constexpr std::uint32_t longest_search = 64;
    struct Slot {
        std::atomic<std::uint64_t> key; // a hash; 0: free
        std::atomic<std::uint64_t> messages;
    };
    static std::size_t at(std::uint64_t key, std::uint32_t i) { return ((key >> 1) + i) & ((1u << bits) - 1); }
    std::uint64_t next_of(std::uint64_t key) noexcept {
        Slot* const table = slots_.load(std::memory_order_acquire);
        if (table != nullptr && !has_stopped_.load(std::memory_order_relaxed)) [[likely]] {
            Slot& slot = table[at(key, 0)];
            if (slot.key.load(std::memory_order_relaxed) == key) [[likely]]
                return slot.messages.fetch_add(1, std::memory_order_relaxed) + 1;
        }
        return search(key);
    }
    [[gnu::noinline]] std::uint64_t search(std::uint64_t key) noexcept;
    Slot* make_slots() noexcept;

    std::atomic<Slot*> slots_{nullptr};
    std::atomic<bool> has_stopped_{false}, collectives_have_stopped_{false};
};

} // namespace libprofile
