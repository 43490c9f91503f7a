// A time loop that the runtime found, as several ranks found it.
// Contract: plain data.
#pragma once

#include "tools/reader/model.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace libprofile::tools {

/// A loop, and the ranks that found it at the same call site.
struct LoopOfRanks {
    const FoundLoop* loop = nullptr; // of the first of them, or of the first with another call site that may be the right one
    std::vector<std::uint64_t> ranks;
    std::uint64_t flags = 0;  // LoopFlag, of any of them
    std::uint64_t fewest = 0; // iterations, of the rank with fewest
    std::uint64_t most = 0;
    std::uint64_t missed = 0;        // at most, of a rank
    bool was_cut_off = false;        // a rank ended in the middle of it, or of what came later: it was killed
    std::string around = {};         // the phase of the loop whose passes call it; empty if there is none
    double share = 0;                // of the time since the search began, in iterations; mean over these ranks
    std::vector<std::string> doubts; // what speaks against it, in sentences without an end
    bool is_sure() const { return doubts.empty() && !is(LoopIsReplaced); }
    bool is(LoopFlag flag) const { return (flags & flag) != 0; }
};

} // namespace libprofile::tools
