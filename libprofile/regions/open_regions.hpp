// The open regions of one sort on a thread, innermost last. The sorts are functions and named regions. Each sort nests only in itself, so a
// named region may begin in one function and end in another.
//
// Time of a region: `inclusive` is wall time from its entry to its exit. `exclusive` is measured by a clock that stands still in MPI calls,
// pauses and libprofile (WallLedger::booked_ns), minus the time of regions inside by the same clock.
// Counters of a region: the program's counts from its entry to its exit, as for `inclusive`. The caller reads the counters before push and pop.
// A further visit to a region that is already open, on whatever call path, has neither time nor counts: they are part of the outermost visit's.
// A recursive function stays on one call path (regions.hpp), so its counter tells. A named region has a call path at each depth.
//
// Contract: belongs to one thread, used with its in-tool flag set; async-signal-safe; memory from the thread's arena.
#pragma once

#include "libprofile/base/memory.hpp"
#include "libprofile/counters/thread_counters.hpp"
#include "libprofile/regions/region_counter.hpp"

#include <cstdint>

namespace libprofile {

struct OpenRegion {
    RegionCounter* counter;
    std::uint64_t key;       // address of the function, or id of the name
    std::uintptr_t stack;    // function: the stack pointer at its entry; named region: its class
    std::uint64_t start;     // ns; time of its entry, or when it was last booked
    std::uint64_t own_start; // the same by the clock that stands still
    std::uint64_t inner;     // by that clock, in ended regions inside
    bool is_outermost;       // no outer visit to the same region is open
    std::uint64_t began_at;  // ns; time of its entry
};

class OpenRegions {
  public:
    static constexpr std::uint32_t most = 1024;

    bool is_empty() const { return depth_ == 0; }
    std::uint32_t depth() const { return depth_; }
    OpenRegion& top() { return open_[depth_ - 1]; }
    OpenRegion& operator[](std::uint32_t i) { return open_[i]; }

    /// Called before the first region: from now on regions also have `count` counters.
    void count(const ThreadCounters& counters, std::uint32_t count) noexcept {
        counters_ = &counters;
        count_ = count;
    }
    std::uint32_t counters() const { return count_; }
    /// What the counters were at the entry of the innermost one. Returns false if there are none, or it was booked since.
    bool counted_at_entry(std::uint64_t (&values)[most_counters]) const noexcept;

    /// Returns false if nesting is too deep or memory is short.
    bool has_room(Arena& arena) noexcept { return depth_ < capacity_ || grow(arena); }
    /// Call has_room() first. `own`: `now` by the clock that stands still.
    void push(RegionCounter& counter, std::uint64_t key, std::uintptr_t stack, std::uint64_t now, std::uint64_t own, bool is_open_already = false) noexcept {
        const bool is_outermost = counter.active == 0 && !is_open_already;
        ++counter.active;
        if (count_ != 0) [[unlikely]]
            begin_counting(depth_);
        open_[depth_++] = {&counter, key, stack, now, own, 0, is_outermost, now};
    }
    /// Returns true if a region with that key and class is open. Looks at the innermost ones first, since a recursion's last visit is near.
    bool is_open(std::uint64_t key, std::uintptr_t stack) const noexcept {
        for (std::uint32_t i = depth_; i-- > 0;)
            if (open_[i].key == key && open_[i].stack == stack) return true;
        return false;
    }
    void pop(std::uint64_t now, std::uint64_t own) noexcept {
        OpenRegion& region = open_[--depth_];
        if (count_ != 0 && region.is_outermost) [[unlikely]]
            add_counted(depth_);
        const std::uint64_t took = take(region, now, own);
        --region.counter->active;
        if (depth_ != 0) open_[depth_ - 1].inner += took;
    }
    /// Books the time of open regions until `now`, as if they were left and entered again.
    template <class Touch> void book(std::uint64_t now, std::uint64_t own, Touch touch) noexcept {
        std::uint64_t inside = 0; // time of the region inside of this one
        for (std::uint32_t i = depth_; i-- > 0;) {
            OpenRegion& region = open_[i];
            if (region.start > now) continue; // an iteration that was found after its end ends before this
            region.inner += inside;
            touch(*region.counter);
            inside = take(region, now, own);
            if (count_ != 0) [[unlikely]] {
                if (region.is_outermost) add_counted(i);
                begin_counting(i);
            }
            region.start = now;
            region.own_start = own;
        }
    }
    void clear() noexcept {
        while (depth_ != 0) --open_[--depth_].counter->active;
    }
    /// Restores the counters' numbers of open visits, which must all be 0.
    void recount() noexcept {
        for (std::uint32_t i = 0; i < depth_; ++i) ++open_[i].counter->active;
    }

  private:
    bool grow(Arena& arena) noexcept;
    [[gnu::cold]] void begin_counting(std::uint32_t at) noexcept;
    [[gnu::cold]] void add_counted(std::uint32_t at) noexcept;
    /// Adds to the counter. Returns the region's time by the clock that stands still.
    static std::uint64_t take(OpenRegion& region, std::uint64_t now, std::uint64_t own) noexcept {
        RegionCounter& counter = *region.counter;
        if (region.is_outermost) counter.inclusive_ns += now > region.start ? now - region.start : 0;
        // The clock begins below 0, modulo 2^64: what libprofile took before the first region counts from the start.
        const auto since = static_cast<std::int64_t>(own - region.own_start);
        const std::uint64_t took = since > 0 ? static_cast<std::uint64_t>(since) : 0;
        // Estimates of our own time have errors, and in MPI callbacks regions run while the outer clock stands still.
        const std::uint64_t inner = region.inner < took ? region.inner : took;
        counter.exclusive_ns += took - inner;
        region.inner -= inner;
        return took;
    }

    OpenRegion* open_ = nullptr;
    const ThreadCounters* counters_ = nullptr;
    std::uint64_t* counted_before_ = nullptr; // count_ values for each open region, from its entry or when it was last booked
    std::uint32_t count_ = 0;
    std::uint32_t depth_ = 0;
    std::uint32_t capacity_ = 0;
};

} // namespace libprofile
