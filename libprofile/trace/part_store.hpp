// The parts of a thread's run that its event trace keeps: their coded events, one after another, in bounded memory.
// Contract: belongs to one thread, used with its in-tool flag set or after its end; async-signal-safe; nothing throws; pages from the memory quota.
//
// A part stays if its number is a multiple of the stride, which doubles whenever memory is full. The rule is the same on all ranks and its sets are nested,
// so what the rank with the largest stride keeps, all others that made it have, too. Besides, some iterations stay for a reason of their own: those
// take no more room than the others.
#pragma once

#include "format/events.hpp"
#include "libprofile/base/memory.hpp"
#include "libprofile/counters/thread_counters.hpp"

#include <cstdint>

namespace libprofile {

/// Which part of the run; equal on all threads of a rank, and of windows and iterations of the same phase on all ranks.
struct PartKey {
    PartKind kind = PartKind::Window;
    std::uint32_t phase = 0;
    std::uint64_t number = 0;
    bool operator==(const PartKey&) const = default;
};

struct Part {
    PartKey key;
    std::uint8_t reasons = 0;    // PartReason; 0: it is to be dropped
    std::uint16_t processor = 0; // + 1; 0: not known
    std::uint32_t events = 0;
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::uint64_t at = 0; // of its bytes
    std::uint64_t size = 0;
};

class PartStore {
  public:
    static constexpr std::uint64_t smallest_limit = 4096;

    /// `counters`: of the thread. What it takes to get memory is not the program's.
    void start(Arena& arena, std::uint64_t limit, ThreadCounters& counters) noexcept {
        arena_ = &arena;
        counters_ = &counters;
        limit_ = limit < smallest_limit ? smallest_limit : limit;
    }

    /// A part begins. The one before has been closed.
    void open(std::uint64_t begin, int processor) noexcept {
        open_ = {};
        open_.begin = begin;
        open_.processor = static_cast<std::uint16_t>(processor + 1);
        open_.at = size();
        events_of_open_ = 0;
        is_lost_ = false;
        see_room();
    }
    /// All is as at the beginning.
    void clear() noexcept {
        parts_ = 0;
        next_ = bytes_;
        in_turn_ = beside_ = dropped_parts_ = dropped_events_ = too_large_ = 0;
        stride_ = 1;
    }
    /// Adds an event to the open part. Inlined, since little of describe() is left where the type of the event is known.
    [[gnu::always_inline]] void add(EventRecord event) noexcept {
        unsigned char* to = next_;
        if (to >= full_at_) [[unlikely]]
            if ((to = room_for_event()) == nullptr) return;
        RoomyEncoder encoder(to);
        describe(encoder, event);
        next_ = encoder.end();
        ++events_of_open_;
    }
    /// An event is coming: where it will be written.
    const void* next() const { return next_; }
    std::uint64_t events_of_open() const { return events_of_open_; }
    std::uint64_t begin_of_open() const { return open_.begin; }

    bool has_turn(const PartKey& key) const { return (key.number & (stride_ - 1)) == 0; }
    /// The open part is over; its reasons are known at once, or by decide(). Returns false if it is gone: it was too large.
    bool close(const PartKey& key, std::uint64_t end, std::uint8_t reasons) noexcept;
    /// Whether one of the last few parts has this reason to stay. It goes if it has none. Returns whether it is there.
    bool decide(const PartKey& key, PartReason reason, bool has_it) noexcept;
    bool has(const PartKey& key) const noexcept;
    /// Changes whenever parts have gone that had been kept.
    std::uint64_t thinnings() const { return thinnings_; }
    /// Whether it is there, of the last few ones, and has not its turn.
    bool needs_reason(const PartKey& key) const noexcept;
    /// A part that stays for a reason of its own is no longer wanted for it.
    void forget(const PartKey& key, PartReason reason) noexcept;

    std::size_t parts() const { return parts_; }
    const Part& part(std::size_t i) const { return list_[i]; }
    const unsigned char* bytes(const Part& part) const { return bytes_ + part.at; }
    std::uint64_t stride() const { return stride_; }
    std::uint64_t dropped_parts() const { return dropped_parts_; }
    std::uint64_t dropped_events() const { return dropped_events_; }
    std::uint64_t too_large() const { return too_large_; }

  private:
    static constexpr std::size_t most_bytes_of_event = 64;
    std::uint64_t size() const { return static_cast<std::uint64_t>(next_ - bytes_); } // the open part's included
    std::uint64_t used() const { return size() + bytes_of_list(0); }
    void see_room() noexcept { full_at_ = is_lost_ || capacity_ < most_bytes_of_event ? nullptr : bytes_ + (capacity_ - most_bytes_of_event) + 1; }
    unsigned char* room_for_event() noexcept;
    /// Memory of the list of parts with so many more: it grows only.
    std::uint64_t bytes_of_list(std::size_t more) const { return (parts_ + more > list_.size() ? parts_ + more : list_.size()) * sizeof(Part); }
    bool grow() noexcept;
    bool make_room() noexcept;
    void compact() noexcept;
    void lose_open() noexcept;
    void drop_largest() noexcept;
    static constexpr std::size_t few_parts = 4;
    bool has_room(std::uint64_t bytes) const { return size() + bytes <= capacity_ && used() + bytes <= limit_; }
    void give_reasons(Part& part, unsigned reasons) noexcept;
    static bool is_in_turn(const Part& part) { return (part.reasons & PartHasItsTurn) != 0; }
    void drop(const Part& part) noexcept;
    static constexpr std::size_t nowhere = SIZE_MAX;
    std::size_t find_late(const PartKey& key) const noexcept;

    // What each event needs comes first (EventTrace has it in one cache line).
    unsigned char* next_ = nullptr;    // where the next event is written
    unsigned char* full_at_ = nullptr; // from there on, or while is_lost_, there is no room for one more
    std::uint64_t events_of_open_ = 0;

    Arena* arena_ = nullptr;
    ThreadCounters* counters_ = nullptr;
    std::uint64_t limit_ = 0;
    unsigned char* bytes_ = nullptr;
    std::uint64_t capacity_ = 0; // of bytes_
    StableArray<Part, 6> list_;  // grows only; the first parts_ are there
    std::size_t parts_ = 0;
    Part open_;
    bool is_lost_ = false; // the open part was too large
    std::uint64_t stride_ = 1;
    std::uint64_t in_turn_ = 0; // bytes of the parts that have their turn
    std::uint64_t beside_ = 0;  // and of the others
    std::uint64_t dropped_parts_ = 0;
    std::uint64_t dropped_events_ = 0;
    std::uint64_t too_large_ = 0;
    std::uint64_t thinnings_ = 0;
};

} // namespace libprofile
