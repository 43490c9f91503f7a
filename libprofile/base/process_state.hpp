// What every MPI call reads of the process, together in one cache line.
// Contract: each member is changed by its owner only, whose header says what it means: Session, LoadMap, PathTracker, Clock.
//
// Why: between two MPI calls a program computes, and what the runtime needs is then no longer in the processor's caches. Such
// a call costs what its distinct cache lines cost, more than its instructions. So what events use lies close together; see
// also the order of members in Thread, ThreadLocal, PhaseStack and KnownPath.
#pragma once

#include "format/option_table.hpp"
#include "libprofile/base/clock.hpp"

#include <atomic>
#include <cstdint>

namespace libprofile {

enum class SessionState : int { Idle, Starting, Measuring, Silent, Finished, Off };

using MarksMode = MarksChoice;

struct alignas(64) ProcessState {
    std::atomic<SessionState> session{SessionState::Idle};
    std::atomic<std::uint32_t> load_map_epoch{1};
    std::atomic<MarksMode> marks{MarksMode::Off};
    Clock clock;
};
static_assert(sizeof(ProcessState) == 64);
extern ProcessState process_state;

inline constexpr Clock& session_clock = process_state.clock;

} // namespace libprofile
