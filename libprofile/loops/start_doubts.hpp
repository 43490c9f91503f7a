// What speaks against the chosen start of a loop.
// Contract: on the thread of the log, with its in-tool flag set; async-signal-safe, allocates nothing.
#pragma once

#include "libprofile/loops/pass_evidence.hpp"

namespace libprofile {

/// Sets the doubts about `loop`: is_opaque, is_nested, may_miss, is_copied, and is_ambiguous with `other` if there is none yet.
void doubt_start(const LoopCalls& calls, PassEvidence& evidence, Loop& loop) noexcept;

} // namespace libprofile
