// Branches of a loop's body: what a pass enters instead of a call site that it leaves out.
// Contract: as SiteCode.
#pragma once

#include "libprofile/loops/loop_calls.hpp"
#include "libprofile/loops/site_code.hpp"

#include <cstdint>

namespace libprofile {

struct Alternatives {
    AlternativeSites sites;
    NodeId open = 0;          // a pass may enter this site and none of `sites`; 0: no site that was entered
    bool is_exact = false;    // each pass that enters a site enters exactly one of these
    bool is_complete = false; // every pass enters one of these
};

/// Finds those of `first` among the sites of `loop` that were entered. `first` comes first in the list.
Alternatives find_alternatives(SiteCode& code, const Loop& loop, NodeId first, const LoopCalls& calls) noexcept;

} // namespace libprofile
