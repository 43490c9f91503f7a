// Loops of a thread whose iterations the profile knows: marked ones, and those that the runtime has found. They take the place of what samples say.
// Contract: the constructor adds contexts; const functions are thread-safe. Throws std::bad_alloc only.
//
// Decisions: the loop stands where the call paths of its samples and waits part: it replaces the loop of the code that all of them are in, or is put below the
// last call that goes on through all of them. What is between two iterations lies outside.
#pragma once

#include "tools/timeseries/trace_entries.hpp"
#include "tools/timeseries/tree_builder.hpp"

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace libprofile::tools {

struct TimeSpan {
    double begin = 0, end = 0; // ns on the clock of the rank
};

/// The iterations of a phase on one thread, in the order of time, none overlapping another.
struct KnownIterations {
    std::uint64_t phase = 0;
    std::vector<TimeSpan> iterations;
};

class KnownLoops {
  public:
    KnownLoops() = default;
    /// @param known outer loops before those inside them. Loops in which fewer than two samples or waits lie are left out
    KnownLoops(Contexts& contexts, const Trace& trace, const std::vector<KnownIterations>& known);

    struct Loop {
        ContextId replaced = 0; // Loop: it took its place; else it is below this context
        std::vector<TimeSpan> iterations;
        std::unordered_map<ContextId, ContextId> inside; // of contexts of samples and waits
        ContextId context = 0;
    };
    const std::vector<Loop>& loops() const { return loops_; }
    bool empty() const { return loops_.empty(); }

    /// The context of a sample at this time, which is `context` without known loops.
    ContextId context_at(ContextId context, double time) const;
    /// The iterations that are running at this time.
    TreeBuilder::Iterations at(double time) const;
    /// The first begin or end of an iteration after `one`, not after `other`.
    std::optional<double> border(double one, double other) const;

  private:
    static const TimeSpan* find(const Loop& loop, double time);

    std::vector<Loop> loops_;
};

} // namespace libprofile::tools
