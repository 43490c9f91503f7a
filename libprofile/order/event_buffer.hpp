// The events of one running iteration, in the order in which they end: what, when, how long, and a hash of their order.
// Contract: belongs to one thread, used with its in-tool flag set; nothing throws; memory from its arena, the same for all iterations at a level of nesting.
//
// There is room for 4,096. When it is full, equal neighbours are folded: they become one with a count, the begin of the first, the sum of their
// lengths and the largest. From then on a further one joins the last if it is equal. Where that does not make room, later events are in the hash only.
// What is folded depends on the order alone, so iterations with the same hash have the same positions.
#pragma once

#include "libprofile/base/memory.hpp"
#include "libprofile/order/sequence_hash.hpp"

#include <cstdint>

namespace libprofile {

/// What came: an event on the path of a node, or an iteration of a phase inside, with the number of its sequence (0: it has none).
struct OrderKey {
    std::uint64_t value = 0;

    bool operator==(const OrderKey&) const = default;
    static constexpr OrderKey of_event(std::uint32_t node) { return {node}; }
    static constexpr OrderKey of_iteration(std::uint32_t phase, std::uint32_t sequence) { return {inner | std::uint64_t{phase} << 32 | sequence}; }
    constexpr bool is_inner() const { return (value & inner) != 0; }
    constexpr std::uint32_t node() const { return static_cast<std::uint32_t>(value); }
    constexpr std::uint32_t sequence() const { return static_cast<std::uint32_t>(value); }
    constexpr std::uint32_t phase() const { return static_cast<std::uint32_t>((value & ~inner) >> 32); }

  private:
    static constexpr std::uint64_t inner = std::uint64_t{1} << 63;
};

class EventBuffer {
  public:
    static constexpr std::uint32_t most = 4096;

    /// Makes one. Returns nullptr if memory is short.
    static EventBuffer* create(Arena& arena) noexcept;

    void begin() noexcept {
        hash_ = {};
        size_ = 0;
        room_ = most;
        is_too_long_ = false;
    }
    SequenceHash& hash() { return hash_; }
    /// An event began at `begin` and took `length` ns. The caller has added it to the hash.
    void add(OrderKey key, std::uint64_t begin, std::uint64_t length) noexcept {
        if (size_ >= room_) [[unlikely]]
            return add_folded(key, begin, length);
        events_[size_++] = {key, begin, length};
    }

    std::uint32_t size() const { return size_; }
    /// There were more events than room for them: those are in the hash only.
    bool is_too_long() const { return is_too_long_; }
    /// One of the positions.
    struct Event {
        OrderKey key;
        std::uint64_t begin;  // of the first
        std::uint64_t length; // of all
    };
    const Event& operator[](std::uint32_t i) const { return events_[i]; }
    std::uint32_t count(std::uint32_t i) const { return is_folded() ? folded_[i].count : 1; }
    std::uint64_t longest(std::uint32_t i) const { return is_folded() ? folded_[i].longest : events_[i].length; }

  private:
    struct Folded {
        std::uint64_t longest;
        std::uint32_t count;
    };
    bool is_folded() const { return room_ == 0; }
    void add_folded(OrderKey key, std::uint64_t begin, std::uint64_t length) noexcept;
    void append_folded(OrderKey key, std::uint64_t begin, std::uint64_t length) noexcept;

    SequenceHash hash_;
    std::uint32_t size_ = 0;
    std::uint32_t room_ = most; // 0: equal neighbours are folded
    bool is_too_long_ = false;
    Event* events_ = nullptr;
    Folded* folded_ = nullptr; // from the first time on that it is full
    Arena* arena_ = nullptr;
};

} // namespace libprofile
