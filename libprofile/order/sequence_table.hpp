// The sequences of one phase on one thread: each known by its hash, with a timeline of sums by position.
// Contract: belongs to one thread, used with its in-tool flag set; nothing throws; memory from its arena, bounded by an OrderMemory. An iteration
// costs a look-up and a few additions for each of its events.
#pragma once

#include "libprofile/order/event_buffer.hpp"
#include "libprofile/order/order_memory.hpp"

#include <cstdint>

namespace libprofile {

/// What iterations with the same sequence had at one position.
struct TimelineEvent {
    OrderKey key;
    std::uint64_t begin_sum = 0;
    std::uint64_t begin_most = 0;
    std::uint64_t length_sum = 0;
    std::uint64_t length_most = 0; // of a single event
    std::uint32_t count = 0;       // equal events in a row
};

struct Sequence {
    SequenceHash hash;
    std::uint64_t iterations = 0;
    TimelineEvent* events = nullptr; // nullptr if it has no timeline
    std::uint32_t size = 0;
    bool has_timeline = false;
    bool is_too_long = false;
};

class SequenceTable {
  public:
    /// The iteration of `buffer`, which began at `begin` and has this hash, is over. Returns the number of its sequence, from 1 on; 0: there is no room.
    std::uint32_t add(const SequenceHash& hash, const EventBuffer& buffer, std::uint64_t begin, OrderMemory& memory, Arena& arena) noexcept;

    std::uint32_t size() const { return static_cast<std::uint32_t>(sequences_.size()); }
    const Sequence& operator[](std::uint32_t i) const { return sequences_[i]; }
    /// Iterations with a number whose times are in no timeline.
    std::uint64_t untimed() const { return untimed_; }

  private:
    std::uint32_t* place(const SequenceHash& hash) noexcept;
    Sequence* insert(const SequenceHash& hash, const EventBuffer& buffer, OrderMemory& memory, Arena& arena) noexcept;
    bool grow(OrderMemory& memory, Arena& arena) noexcept;

    StableArray<Sequence, 4> sequences_;
    std::uint32_t* places_ = nullptr; // open addressing: number; 0 = free
    std::uint32_t mask_ = 0;
    std::uint32_t last_ = 0; // number that came last: most iterations are like the one before
    std::uint64_t untimed_ = 0;
};

} // namespace libprofile
