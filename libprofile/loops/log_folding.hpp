// Makes room in a full event log. Calls of loops far inside say nothing of the loops outside: only the sums of their values are kept.
//
// Contract: on the thread of the log, with its in-tool flag set; scratch pages under the quota, at most as many as the log has.
//
// Take loops of a function at level L. A call that comes again while none of the functions up to level L + 1 has returned belongs to a loop
// further inside, and starts no pass (start_choice.hpp). All its later occurrences in the same entry of that function can go. For L and all
// levels outside it, the log is then as if it had never been full. L is the innermost level that lets half of the log go.
#pragma once

#include "libprofile/callpath/call_tree.hpp"
#include "libprofile/loops/event_log.hpp"

namespace libprofile {

/// Keeps all that tells of loops at `least_level` or outside it. Values before and after `whole_from` stay apart; it becomes the position in the
/// folded log. Returns false, and leaves the log alone, if too little can go or memory is short.
bool fold(EventLog& log, const CallTree& tree, std::uint32_t least_level, EventLog::Position& whole_from) noexcept;

} // namespace libprofile
