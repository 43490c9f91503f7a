// Loops of which the machine code has not proved that they are the time loop. Reading it again costs up to milliseconds, so each is asked about
// again only when it has had many more passes. Several loops of a solver may show in turn.
// Contract: plain data of one thread.
#pragma once

#include "libprofile/callpath/call_tree.hpp"

#include <cstdint>

namespace libprofile {

class DoubtedLoops {
  public:
    /// The loop that enters this call site has `passes` now. Whether it was doubted when it had a sixteenth of them or more.
    bool has(NodeId site, std::uint32_t passes) const {
        for (const Doubted& loop : loops_)
            if (loop.site == site && passes / 16 < loop.passes) return true;
        return false;
    }
    /// Replaces the oldest.
    void add(NodeId site, std::uint32_t passes) {
        Doubted* place = &loops_[next_];
        for (Doubted& loop : loops_)
            if (loop.site == site) place = &loop;
        if (place == &loops_[next_]) next_ = (next_ + 1) % most;
        *place = {site, passes};
    }

  private:
    static constexpr std::uint32_t most = 16;
    struct Doubted {
        NodeId site = 0; // never that of a loop
        std::uint32_t passes = 0;
    };
    Doubted loops_[most];
    std::uint32_t next_ = 0;
};

} // namespace libprofile
