// Where on a thread's stack the parallel regions of OpenMP begin that it is in, and whose call path what lies inside of them
// continues.
// Contract: belongs to one thread, changed with its in-tool flag set; async-signal-safe, never allocates.
//
// A worker's stack begins in the OpenMP runtime; what called the region is on another thread's stack. So the call path of the region
// is known from its master, and frames of the stack count from the region's place on.
#pragma once

#include "libprofile/callpath/call_tree.hpp"

#include <cstdint>

namespace libprofile {

class ParallelPlaces {
  public:
    static constexpr std::uint32_t most = 16;

    bool is_empty() const { return depth_ == 0; }
    /// A region of call path `node` begins: frames whose return address lies below `boundary` are inside. `is_worker`: what lies
    /// outside is nobody's call path. False: too many are nested.
    bool enter(std::uintptr_t boundary, NodeId node, bool is_worker) noexcept {
        leave(boundary); // those that were left by a jump, or by the end of the thread that had this stack
        if (depth_ == most) return false;
        place_[depth_] = {boundary, node, is_worker};
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        ++depth_;
        return true;
    }
    /// The region that was entered at `boundary` ends, and all inside of it.
    void leave(std::uintptr_t boundary) noexcept {
        while (depth_ != 0 && place_[depth_ - 1].boundary <= boundary) --depth_;
    }
    void clear() noexcept { depth_ = 0; }

    std::uint32_t depth() const { return depth_; }
    /// How many regions the frame whose return address lies in `slot` is inside of.
    std::uint32_t level_of(std::uintptr_t slot) const {
        std::uint32_t level = depth_;
        while (level != 0 && place_[level - 1].boundary <= slot) --level;
        return level;
    }
    /// Of the region at `level`, from 1.
    NodeId node(std::uint32_t level) const { return place_[level - 1].node; }
    /// Frames outside all regions belong to the OpenMP runtime.
    bool begins_in_runtime() const { return depth_ != 0 && place_[0].is_worker; }

  private:
    struct Place {
        std::uintptr_t boundary;
        NodeId node;
        bool is_worker;
    };
    std::uint32_t depth_ = 0;
    Place place_[most] = {};
};

} // namespace libprofile
