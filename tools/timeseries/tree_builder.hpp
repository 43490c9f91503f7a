// Builds the temporal context tree of a thread from what was seen on it, in the order of time.
// Contract: belongs to one thread; allocates in proportion to the nodes; throws std::bad_alloc only. A loop is handed over as soon as it has ended, the
// inner ones first, so that it can be made small at once.
//
// Source: Wei and Mellor-Crummey (ICS 2018), section 3.1.
#pragma once

#include "tools/timeseries/time_node.hpp"

#include <functional>
#include <vector>

namespace libprofile::tools {

/// A loop that has ended.
struct EndedLoop {
    TimeNode& node;                          // children in the order of time, no clusters yet
    double begin = 0;                        // ns
    const std::vector<std::uint32_t>& known; // by child: its iteration, where the profile says so; else empty
};

class TreeBuilder {
  public:
    /// @param ended may be empty: then loops keep their children
    TreeBuilder(const Contexts& contexts, std::function<void(EndedLoop)> ended) : contexts_(&contexts), ended_(std::move(ended)) {}

    /// What lies in known loops from now on is in these iterations; by context. Contexts that are not listed are no known loops.
    using Iterations = std::vector<std::pair<ContextId, std::uint32_t>>;

    /// The thread was in `context` from `begin` to `end`. `common`: the innermost context that it did not leave since the time before. Times do not go
    /// back. What lies between two times belongs to their common context.
    void add(ContextId context, ContextId common, double begin, double end, const Iterations& iterations = {});
    /// The tree of the thread. Nothing may be added afterwards.
    TimeNode finish();

  private:
    struct Open {
        TimeNode node;
        double begin = 0;
        double inside_until = 0; // end of its last child
        std::uint32_t iteration = 0;
        bool is_known = false;
        std::vector<std::uint32_t> known; // by child
    };

    void open(ContextId context, double begin, const Iterations& iterations);
    void close(std::uint32_t level, double end);
    static std::uint32_t iteration_in(ContextId context, const Iterations& iterations);

    const Contexts* contexts_;
    std::function<void(EndedLoop)> ended_;
    std::vector<Open> open_;
    std::vector<ContextId> to_open_;
    double until_ = 0;
};

} // namespace libprofile::tools
