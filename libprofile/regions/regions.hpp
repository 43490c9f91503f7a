// The regions of one thread: which are open, their counts on each call path, and how call paths are found.
//
// An instrumented function that is entered from another one finds its call path by (that one's call path, function) in a small cache: millions
// of calls cannot each walk the stack. Only the outermost one does, and named regions, as MPI calls do. A recursive function, also through
// others, stays on the call path of its first activation, so the tree stays finite.
//
// Contract: belongs to one thread, used with its in-tool flag set. Async-signal-safe except outermost entries, which may ask the loader for
// modules (PathTracker::at_call). Memory from the thread's arena. Entries without memory or room are counted and left out; their exits then
// find nothing to end. So are functions in no module, but their exits are not counted again.
#pragma once

#include "libprofile/base/hashing.hpp"
#include "libprofile/base/own_cost.hpp"
#include "libprofile/base/process_state.hpp"
#include "libprofile/phases/segment_source.hpp"
#include "libprofile/regions/open_regions.hpp"
#include "libprofile/regions/region_counter.hpp"
#include "libprofile/thread/thread.hpp"

#include <cstdint>

namespace libprofile {

/// Losses and repairs of one thread; see RegionsRecord.
struct RegionCounts {
    std::uint64_t repairs = 0;
    std::uint64_t left = 0;
    std::uint64_t unmatched = 0;
    std::uint64_t too_deep = 0;
    std::uint64_t without_memory = 0;
    std::uint64_t without_module = 0;
};

class Regions : public SegmentSource {
  public:
    /// Creates the regions of the calling thread, at its first region. Returns nullptr if memory is short.
    static Regions* create(Thread& thread) noexcept;

    /// The function at `function` was entered. `frame` is the hook's frame, `stack` the stack pointer of its caller.
    void enter_function(Thread& thread, std::uintptr_t function, std::uintptr_t frame, std::uintptr_t stack) noexcept;
    void exit_function(Thread& thread, std::uintptr_t function, std::uintptr_t stack) noexcept;
    /// The same if `stack` is exactly the function's return slot, at its entry and at its exit. Two functions with the same slot are never open at
    /// once, so functions left by an exception end when another one is entered or left at their slot.
    void enter_exactly(Thread& thread, std::uintptr_t function, std::uintptr_t frame, std::uintptr_t stack) noexcept;
    void exit_exactly(Thread& thread, std::uintptr_t function, std::uintptr_t stack) noexcept;

    /// A named region of class `kind` begins. `id` is that of its name, which must be known (region_names.hpp).
    void begin_named(Thread& thread, std::uint32_t kind, std::uint64_t id, std::uintptr_t frame) noexcept;
    /// Ends the innermost open region of that class and id, and all inside of it.
    void end_named(Thread& thread, std::uint32_t kind, std::uint64_t id) noexcept;
    /// Ends the innermost open region of the class, whatever its name is.
    void end_innermost(Thread& thread, std::uint32_t kind) noexcept;

    /// A non-local jump goes to `stack`: leaves the functions inside of that.
    void leave_to(Thread& thread, std::uintptr_t stack) noexcept;
    /// The thread ends: regions still open were never ended.
    void finish() noexcept { counts_.repairs += named_.depth(); }
    /// A jump out of a signal handler is about to leave this thread's running hook, at any point.
    void abandon_hook() noexcept { is_abandoned_ = true; }
    /// Counts a region whose name found no room: its end is not a mistake of the program.
    void count_unnamed() noexcept { ++counts_.without_memory; }

    const RegionCounts& counts() const { return counts_; }
    /// The cost of entering and leaving a function in ps: the mean of the measured ones; 0 if none was measured.
    std::uint64_t pair_ps() const { return entry_costs_.mean_ps() + exit_costs_.mean_ps(); }

  private:
    struct Costs {
        std::uint64_t ns = 0;
        std::uint64_t count = 0;
        void add(std::uint64_t cost) noexcept {
            ns += cost < 1000 ? cost : 1000; // more expensive ones were interrupted
            ++count;
        }
        std::uint64_t mean_ps() const { return count == 0 ? 0 : ns * 1000 / count; }
    };
    struct KnownFunction {
        std::uint64_t key = 0;
        NodeId parent = 0;
        RegionCounter* counter = nullptr;
    };
    static constexpr unsigned known_bits = 10;
    static constexpr unsigned table_bits = 10;

    explicit Regions(Arena& arena) : arena_(&arena) {}
    static void book_all(SegmentSource& self, PhaseStack& phases, std::uint64_t now) noexcept;
    void touch(RegionCounter& counter) noexcept {
        if (counter.is_touched) [[likely]]
            return;
        counter.is_touched = true;
        counter.next_touched = touched_;
        touched_ = &counter;
    }
    KnownFunction& known(NodeId parent, std::uint64_t key) noexcept { return known_[short_hash(key ^ (std::uint64_t{parent} << 20), known_bits)]; }
    RegionCounter* counter_of(NodeId node) noexcept;
    [[gnu::cold]] void book_counted(RegionCounter& counter, Row& row) noexcept;
    RegionCounter* find_function(Thread& thread, NodeId parent, std::uintptr_t function) noexcept;
    RegionCounter* function_below(Thread& thread, NodeId parent, std::uintptr_t function) noexcept;
    RegionCounter* outermost_function(Thread& thread, std::uintptr_t function, std::uintptr_t frame) noexcept;
    void recover() noexcept;
    bool is_beyond(std::uintptr_t function, std::uintptr_t stack) noexcept;
    template <class IsMeant> bool end_named_region(Thread& thread, IsMeant is_meant) noexcept;
    void drop_left(std::uintptr_t stack, std::uint64_t now, std::uint64_t own) noexcept;
    [[gnu::cold]] void count_refused(std::uintptr_t function) noexcept;
    [[gnu::cold]] void count_unmatched(std::uintptr_t function) noexcept;
    bool find_exit(std::uintptr_t function, std::uintptr_t stack, std::uint64_t now, std::uint64_t own) noexcept;

    OpenRegions functions_;
    OwnCost entries_;
    OwnCost exits_;
    RegionCounter* touched_ = nullptr;
    std::uint32_t epoch_ = 0;        // of the load map for known_; 0: nothing is known
    std::uint32_t beyond_ = 0;       // functions entered without room and not yet left
    std::uint32_t named_beyond_ = 0; // the same for named regions
    bool is_abandoned_ = false;
    KnownFunction* known_ = nullptr;
    OpenRegions named_;
    Arena* arena_;
    RegionCounter** table_ = nullptr; // by node
    StableArray<RegionCounter, 6> counters_;
    RegionCounts counts_;
    Costs entry_costs_;
    Costs exit_costs_;
};

/// The node of the call path that calls a function of ours with its frame at `frame` (its return address lies at `frame` + 8). As for MPI
/// calls, a known path is not walked again.
NodeId calling_path(Thread& thread, std::uintptr_t frame) noexcept;

} // namespace libprofile
