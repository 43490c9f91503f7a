// The constructs of OpenMP, and what is kept of a region and of a wait while they last.
// Contract: plain data. A region belongs to its master until it ends; a share and a paused wait belong to their thread.
#pragma once

#include "libprofile/base/function_records.hpp"
#include "libprofile/thread/thread.hpp"

#include <cstdint>

namespace libprofile {

enum class OpenMpConstruct : unsigned {
#define OMP(id, name, category, in_signature) id,
#include "format/openmp.def"
#undef OMP
    Count
};
/// The construct's number among the functions of call paths.
inline unsigned function_of(OpenMpConstruct construct) { return mpi_function_count + static_cast<unsigned>(construct); }

/// A region that is running, as its threads see it. The caller of begin_region() keeps it until its end.
struct ParallelRegion {
    Thread* master = nullptr;         // nullptr if it is not measured
    NodeId node = 0;                  // in the master's tree
    std::uint32_t refused_by = 0;     // index + 1 of the thread that encountered it, where something is recorded but not this region
    std::uint64_t number = 0;         // among the master's
    std::uintptr_t frame_address = 0; // on the master's stack
    /// When the one before was over. Workers mostly need only this, and have the members next to it in their caches already.
    std::uint64_t last_end = ~std::uint64_t{0};
};

/// One thread's part in it, in the frame of the trampoline.
struct RegionShare {
    Thread* thread = nullptr; // nullptr if it is not measured
    std::uintptr_t frame_address = 0;
    bool is_master = false;
    bool is_alone = false; // set by the wrapper before the end: the master is the whole team, and waits for no other thread
};

/// A wait during which the thread is given a task.
struct PausedWait {
    OpenMpWait wait;
    RunningCall call;
    std::uintptr_t frame_address = 0;
    std::uint32_t around = 0; // how many are interrupted around it
};

} // namespace libprofile
