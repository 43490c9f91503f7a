// How many messages of this process had the same direction, partner, communicator and tag before: with that number both ends of a message are found,
// whatever else was dropped.
// Contract: one for the process, thread-safe without locks, async-signal-safe; pages from the memory quota at the first message. A message costs some 5 ns.
#pragma once

#include "format/partners.hpp"

#include <atomic>
#include <cstdint>

namespace libprofile {

class MessageNumbers {
  public:
    /// A message of this process could not be counted: none has a number from now on, since its other end would have another one.
    void stop() noexcept { has_stopped_.store(true, std::memory_order_relaxed); }
    /// The same for a collective operation: other ranks may have one more.
    void stop_collectives() noexcept { collectives_have_stopped_.store(true, std::memory_order_relaxed); }
    /// From 1 on. 0: not known, since there are too many kinds of messages, or memory is short, or one was missed.
    std::uint64_t next(MessageDirection direction, std::uint32_t partner, std::uint32_t communicator, std::int32_t tag) noexcept;
    /// How many collective operations the communicator had, this one included; as next().
    std::uint64_t next_collective(std::uint32_t communicator) noexcept {
        return collectives_have_stopped_.load(std::memory_order_relaxed) ? 0 : next(MessageDirection::Sent, UINT32_MAX, communicator, 0);
    }

  private:
    static constexpr unsigned bits = 14;
    static constexpr std::uint32_t longest_search = 64;
    struct Slot {
        std::atomic<std::uint64_t> key; // a hash; 0: free
        std::atomic<std::uint64_t> messages;
    };
    Slot* slots() noexcept;
    std::atomic<Slot*> slots_{nullptr};
    std::atomic<bool> has_stopped_{false}, collectives_have_stopped_{false};
};
extern MessageNumbers message_numbers;

} // namespace libprofile
