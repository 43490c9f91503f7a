// Makes room in an event log that is full, where calls of loops far inside have filled it: of what tells nothing of the loops outside
// only the values are kept, added up.
//
// Contract: on the thread of the log, with its in-tool flag set; pages under the quota while it works, as many as the log at most.
//
// For loops of a function at level L, a call that comes again while none of the functions up to level L + 1 has returned is in a loop
// further inside, and no boundary (start_choice.hpp). So all its later occurrences can go, as far as they are in the same entry of
// that function. What is left is as if the log had never been full for L and all levels outside of it. L is as far inside as half of
// the log can go.
#pragma once

#include "libprofile/callpath/call_tree.hpp"
#include "libprofile/loops/event_log.hpp"

namespace libprofile {

/// Nothing that tells of loops at `least_level` or outside of it may go. `whole_from`: what comes before and behind is not added up;
/// where it is in the folded log. False: the log is as it was, since too little can go, or there is no memory.
bool fold(EventLog& log, const CallTree& tree, std::uint32_t least_level, EventLog::Position& whole_from) noexcept;

} // namespace libprofile
