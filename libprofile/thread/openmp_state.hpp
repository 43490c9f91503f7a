// The OpenMP state of a thread: parallel regions of which it is the master, and those in which it works.
// Contract: part of Thread; used by its own thread with the in-tool flag set, and by the thread that closes the location. Workers read `ended`.
// Async-signal-safe, never allocates.
#pragma once

#include "libprofile/base/own_cost.hpp"
#include "libprofile/callpath/call_tree.hpp"

#include <atomic>
#include <cstdint>

namespace libprofile {

struct Row;
struct Thread;

/// End times of a master's last regions. A worker that waits at the end of a region cannot tell whether it waits for the others or for work; it looks
/// here, perhaps much later.
class EndedRegions {
  public:
    void add(std::uint64_t region, std::uint64_t at) noexcept {
        Ended& entry = ended_[region % kept];
        entry.region.store(0, std::memory_order_relaxed);
        entry.at.store(at, std::memory_order_release);
        entry.region.store(region, std::memory_order_release);
    }
    /// Returns the end of region `region`, `never` if it goes on or ended too long ago.
    static constexpr std::uint64_t never = ~std::uint64_t{0};
    std::uint64_t end_of(std::uint64_t region) const noexcept {
        const Ended& entry = ended_[region % kept];
        if (entry.region.load(std::memory_order_acquire) != region) return never;
        const std::uint64_t at = entry.at.load(std::memory_order_acquire);
        return entry.region.load(std::memory_order_relaxed) == region ? at : never;
    }

  private:
    static constexpr std::uint64_t kept = 64;
    struct Ended {
        std::atomic<std::uint64_t> region{0};
        std::atomic<std::uint64_t> at{0};
    };
    Ended ended_[kept];
};

/// A node's row in the running interval: one look-up for each interval.
struct RememberedRow {
    Row* row = nullptr;
    std::uint64_t generation = 0; // of the phase stack's rows
};

/// A region's call path in the worker's own tree: all that a share needs, in one cache line.
struct alignas(64) JoinedPath {
    const Thread* master = nullptr;
    NodeId theirs = 0; // in the master's tree
    NodeId own = 0;
    NodeId barrier = 0;           // of the implicit barrier below it
    std::uint32_t typical_ns = 0; // of waiting there
    RememberedRow row;            // of the barrier
};

/// The implicit barrier at the end of a region, on its master.
struct alignas(32) OwnBarrier {
    NodeId region = 0;
    NodeId barrier = 0;
    std::uint32_t* typical_ns = nullptr; // in the tree
    RememberedRow row;
};

/// A wait at the end of a region, in a barrier or for a lock. Its time is that of Thread::calls[0].
struct OpenMpWait {
    NodeId node = 0;                // of the event; 0: the thread does not wait
    const Thread* master = nullptr; // of a worker at the end of its share: the region's master
    std::uint64_t region = 0;       // number of that region
    bool may_be_over = false;       // of a lock: runtimes do not tell when it is not taken (omp_test_lock)
    bool goes_on = false;           // after a task that the thread is given: it is one event all the same
    std::uint64_t began_at = 0;     // of one that went on; 0: of others
};

struct OpenMpState {
    // The members that each region uses come first.
    OpenMpWait wait;
    std::uint64_t regions = 0;    // begun as master; the number of the last
    std::uint64_t alone = 0;      // the last ended region, if the master was its whole team: it waits for no other thread
    std::uint64_t last_ended = 0; // the last ended region of a team
    std::uint64_t last_ended_at = 0;
    /// Something of a runtime was measured.
    bool has_constructs() const { return regions != 0 || is_worker || event_end.typical() != 0; }
    OwnCost region_begin, region_end, share_begin, share_end, event_begin, event_end, event_count;
    RememberedRow idle_row;
    std::uint64_t phases_seen = 0; // changes of the main thread's phases (phase_log.hpp)
    JoinedPath* joined_now = nullptr;
    void* ompt = nullptr;     // wrappers/openmp/ompt.cpp's own state of the thread
    NodeId last_joined = 0;   // the path whose nodes the tracked frames inside it have
    NodeId idle = 0;          // of the time between regions
    bool is_worker = false;   // has worked in another thread's region
    std::uint32_t paused = 0; // waits that are interrupted by tasks, inside each other

    static constexpr std::uint32_t most_barriers = 16;
    OwnBarrier barriers[most_barriers]; // by region
    static constexpr std::uint32_t most_joined = 64;
    JoinedPath* joined = nullptr; // by master and region; from the arena, at the first such work
    JoinedPath only_joined;       // if memory was short for these
    alignas(64) EndedRegions ended;

    /// Begins of regions that run, by number, as far as they are asked for (LIBPROFILE_ORDER).
    struct RegionBegin {
        std::uint64_t region = 0;
        std::uint64_t at = 0;
    };
    static constexpr std::uint64_t most_begins = 16; // more do not nest
    RegionBegin begins[most_begins];

    std::uint64_t phases_missed = 0;   // dropped before the thread came
    std::uint64_t regions_refused = 0; // encountered where none can be measured; see begin_region()
    std::uint64_t shares_refused = 0;  // of measured regions, on this thread
    std::uint64_t waits_refused = 0;   // begun inside another event
};

} // namespace libprofile
