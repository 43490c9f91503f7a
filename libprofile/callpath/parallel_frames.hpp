// The parallel regions of OpenMP that a thread is in: the frame address at which each begins, and the call path that frames inside continue.
// Contract: belongs to one thread, changed with its in-tool flag set; async-signal-safe, never allocates.
//
// A worker's stack begins in the OpenMP runtime; the caller of the region is on another thread's stack. So the region's call path comes from
// its master, and the worker's frames count from the region's frame address on.
#pragma once

#include "libprofile/callpath/call_tree.hpp"

#include <cstdint>

namespace libprofile {

class ParallelFrames {
  public:
    static constexpr std::uint32_t most = 16;

    bool is_empty() const { return depth_ == 0; }
    /// A region with call path `node` begins. Frames whose return address lies below `frame` are inside. `is_worker`: frames outside belong
    /// to no call path. Returns false if too many regions are nested.
    bool enter(std::uintptr_t frame, NodeId node, bool is_worker) noexcept {
        leave(frame); // regions left by a jump, or by the end of the thread that had this stack
        if (depth_ == most) return false;
        regions_[depth_] = {frame, node, is_worker};
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        ++depth_;
        return true;
    }
    /// The region that was entered at `frame` ends, and all regions inside of it.
    void leave(std::uintptr_t frame) noexcept {
        while (depth_ != 0 && regions_[depth_ - 1].frame <= frame) --depth_;
    }
    void clear() noexcept { depth_ = 0; }

    std::uint32_t depth() const { return depth_; }
    /// Returns the number of regions around the frame whose return address lies in `slot`.
    std::uint32_t level_of(std::uintptr_t slot) const {
        std::uint32_t level = depth_;
        while (level != 0 && regions_[level - 1].frame <= slot) --level;
        return level;
    }
    /// The call path of the region at `level`, counted from 1.
    NodeId node(std::uint32_t level) const { return regions_[level - 1].node; }
    /// Returns true if frames outside all regions belong to the OpenMP runtime.
    bool begins_in_runtime() const { return depth_ != 0 && regions_[0].is_worker; }

  private:
    struct Region {
        std::uintptr_t frame;
        NodeId node;
        bool is_worker;
    };
    std::uint32_t depth_ = 0;
    Region regions_[most] = {};
};

} // namespace libprofile
