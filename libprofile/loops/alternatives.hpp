// Where passes of a loop may leave out a call site, what they enter in its place: branches of the loop's body.
// Contract: as SiteCode.
#pragma once

#include "libprofile/loops/loop_calls.hpp"
#include "libprofile/loops/site_code.hpp"

#include <cstdint>

namespace libprofile {

struct Alternatives {
    AlternativeSites sites;
    NodeId open = 0;          // passes may enter this one and none of them; 0: none that was entered
    bool is_exact = false;    // each pass that enters a site enters exactly one of these
    bool is_complete = false; // no pass enters none of them
};

/// Those of `place`, the first of them, among the sites of `loop` that were entered.
Alternatives find_alternatives(SiteCode& code, const Loop& loop, NodeId first, const LoopCalls& calls) noexcept;

} // namespace libprofile
