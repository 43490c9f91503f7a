// The regions of one thread: what is open, what was counted on each call path, and how call paths are found.
//
// An instrumented function that is entered from another one finds its call path by (call path of that one, function) in a small
// cache: millions of calls cannot each look at the stack. Only the outermost one does, and named regions, as MPI calls do.
// A recursive function, also through others, stays on the call path of its first activation, so that the tree stays finite.
//
// Contract: belongs to one thread, used with its in-tool flag set; async-signal-safe but for outermost entries, which may ask
// the loader for modules (PathTracker::at_call); memory from the thread's arena. Entries that find no memory or no room are
// counted and left out; their exits then find nothing to end. So are those of functions in no module; their exits are not counted again.
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
    /// For the calling thread, at its first region. nullptr: no memory.
    static Regions* create(Thread& thread) noexcept;

    /// The function at `function` was entered; `frame` is that of the hook, `stack` the stack pointer of its caller.
    void enter_function(Thread& thread, std::uintptr_t function, std::uintptr_t frame, std::uintptr_t stack) noexcept;
    void exit_function(Thread& thread, std::uintptr_t function, std::uintptr_t stack) noexcept;
    /// The same where `stack` is exactly where the function's return address lies, at its entry and at its exit: two that have the same are
    /// never open at once, so functions left by an exception end when anything else is entered or left in their place.
    void enter_exactly(Thread& thread, std::uintptr_t function, std::uintptr_t frame, std::uintptr_t stack) noexcept;
    void exit_exactly(Thread& thread, std::uintptr_t function, std::uintptr_t stack) noexcept;

    /// A named region of a class (`kind`) begins: `id` is that of its name, which is known (region_names.hpp).
    void begin_named(Thread& thread, std::uint32_t kind, std::uint64_t id, std::uintptr_t frame) noexcept;
    /// The innermost open one of that class and id ends, and what is open inside of it.
    void end_named(Thread& thread, std::uint32_t kind, std::uint64_t id) noexcept;
    /// The innermost open one of the class ends, whatever its name is.
    void end_innermost(Thread& thread, std::uint32_t kind) noexcept;

    /// A non-local jump goes to `stack`: functions inside of that are left.
    void leave_to(Thread& thread, std::uintptr_t stack) noexcept;
    /// The thread ends: what is open was never ended.
    void finish() noexcept { counts_.repairs += named_.depth(); }
    /// The running hook of this thread is about to be left by a jump out of a signal handler, anywhere in it.
    void abandon_hook() noexcept { is_abandoned_ = true; }
    /// A region whose name found no place: its end is no mistake of the program's.
    void count_nameless() noexcept { ++counts_.without_memory; }

    const RegionCounts& counts() const { return counts_; }
    /// What entering and leaving a function costs, in ps: the mean of those that were measured; 0: none was.
    std::uint64_t pair_ps() const { return entry_costs_.mean_ps() + exit_costs_.mean_ps(); }

  private:
    struct Costs {
        std::uint64_t ns = 0;
        std::uint64_t count = 0;
        void add(std::uint64_t cost) noexcept {
            ns += cost < 1000 ? cost : 1000; // dearer ones were interrupted
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
    std::uint32_t epoch_ = 0;        // of the load map: what known_ says
    std::uint32_t beyond_ = 0;       // functions entered, and not left, for which there was no room
    std::uint32_t named_beyond_ = 0; // the same of named regions
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

/// The node of the call path that calls a function of ours, for its frame at `frame` (its return address lies at `frame` + 8). As for
/// MPI calls, a path that was met before is not walked again.
NodeId calling_path(Thread& thread, std::uintptr_t frame) noexcept;

} // namespace libprofile
