// In which order the calls and loops of one function or loop may run.
// Contract: thread-safe; follows() asks the source once for most pairs; allocates one byte for each pair of siblings that are not too many. Both
// arguments outlive it, and no context is added any more.
//
// Source: Wei and Mellor-Crummey (ICS 2018), Algorithm 1 (lines 1 to 3) and Algorithm 2 (line 11).
// Decision: where nothing is known of the code, its order in memory counts, and the order in which contexts were first seen for what is no code.
#pragma once

#include "tools/timeseries/contexts.hpp"

#include <atomic>
#include <memory>
#include <vector>

namespace libprofile::tools {

class FlowOrder {
  public:
    FlowOrder(const Contexts& contexts, const LoopSource* loops);

    /// Whether `later` may run after `earlier` in one pass of the loop, or one activation of the function, that is the parent of both. Nothing follows
    /// itself.
    bool follows(ContextId earlier, ContextId later) const;

  private:
    static constexpr std::uint32_t most_siblings = 256; // of which all pairs are kept

    bool ask(ContextId earlier, ContextId later) const;

    const Contexts* contexts_;
    const LoopSource* loops_;
    std::vector<std::size_t> first_;                             // by parent: where its pairs begin
    mutable std::unique_ptr<std::atomic<std::uint8_t>[]> pairs_; // 0: not asked yet, 1: no, 2: yes
};

} // namespace libprofile::tools
