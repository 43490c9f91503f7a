// What a thread knows of the parallel regions of OpenMP: of those that it is the master of, and of those that it works in.
// Contract: part of Thread; used by its own thread with the in-tool flag set, and by who closes the location; `ended` is read by
// workers, too. Async-signal-safe, never allocates.
#pragma once

#include "libprofile/base/own_cost.hpp"
#include "libprofile/callpath/call_tree.hpp"

#include <atomic>
#include <cstdint>

namespace libprofile {

struct Row;
struct Thread;

/// When the last regions of a master were over. A worker that waits at the end of a region may find out much later: whether
/// it waited for the others or for work, it cannot tell itself.
class EndedRegions {
  public:
    void add(std::uint64_t region, std::uint64_t at) noexcept {
        Ended& entry = ended_[region % kept];
        entry.region.store(0, std::memory_order_relaxed);
        entry.at.store(at, std::memory_order_release);
        entry.region.store(region, std::memory_order_release);
    }
    /// When region `region` was over; `never` if it is not, or was too long ago.
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

/// The row of a node in the interval that runs: one look-up as long as that is the same.
struct RememberedRow {
    Row* row = nullptr;
    std::uint64_t generation = 0; // of the phase stack's rows
};

/// The call path of a region, as a worker has it in its own tree: what a share of it needs, in one cache line.
struct alignas(64) JoinedPath {
    const Thread* master = nullptr;
    NodeId theirs = 0; // in the master's tree
    NodeId own = 0;
    NodeId barrier = 0;           // of the implicit barrier below it
    std::uint32_t typical_ns = 0; // of waiting there
    RememberedRow row;            // of the barrier
};

/// The implicit barrier at the end of a region that the thread is the master of.
struct alignas(32) OwnBarrier {
    NodeId region = 0;
    NodeId barrier = 0;
    std::uint32_t* typical_ns = nullptr; // in the tree
    RememberedRow row;
};

/// A thread waits: at the end of a region, in a barrier, for a lock. The time is that of Thread::calls[0].
struct OpenMpWait {
    NodeId node = 0;                // of the event; 0: it does not wait
    const Thread* master = nullptr; // of a worker at the end of its share: whose region that was
    std::uint64_t region = 0;       // of the end of a share: which
    bool may_be_over = false;       // a lock's: runtimes do not tell when it is not taken (omp_test_lock)
};

struct OpenMpState {
    // What each region uses comes first.
    OpenMpWait wait;
    std::uint64_t regions = 0;    // begun as master; the number of the last
    std::uint64_t alone = 0;      // the region that was over last, if the master was all of its team: it waits for nobody
    std::uint64_t last_ended = 0; // the last region of a team
    std::uint64_t last_ended_at = 0;
    OwnCost region_begin, region_end, share_begin, share_end, event_begin, event_end, event_count;
    RememberedRow idle_row;
    std::uint64_t phases_seen = 0; // changes of the main thread's phases (phase_log.hpp)
    JoinedPath* joined_now = nullptr;
    void* ompt = nullptr;   // what wrappers/openmp/ompt.cpp keeps of the thread
    NodeId last_joined = 0; // whose nodes the tracked frames inside of it have
    NodeId idle = 0;        // of the time between regions
    bool is_worker = false; // has worked in a region that is another thread's

    static constexpr std::uint32_t most_barriers = 16;
    OwnBarrier barriers[most_barriers]; // by region
    static constexpr std::uint32_t most_joined = 64;
    JoinedPath* joined = nullptr; // by master and region; from the arena, when it first works for somebody
    JoinedPath only_joined;       // if there was no memory for these
    alignas(64) EndedRegions ended;

    std::uint64_t phases_missed = 0;   // not kept any more when it came by
    std::uint64_t regions_refused = 0; // encountered where none can be measured; see begin_region()
    std::uint64_t shares_refused = 0;  // of measured regions, on this thread
    std::uint64_t waits_refused = 0;   // begun inside another event
};

} // namespace libprofile
