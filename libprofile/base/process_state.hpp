// The part of the process's state that every MPI call reads, in one cache line.
// Contract: only its owner changes a member, and the owner's header says what it means: Session, LoadMap, PathTracker, Clock,
// processor_number().
//
// Why: the program computes between two MPI calls, and that evicts the runtime's data from the processor's caches. The number of
// distinct cache lines then determines the cost of a call more than the number of instructions. So the data of events lie close
// together; see also the order of members in Thread, ThreadLocal, PhaseStack and KnownPath.
#pragma once

#include "format/option_table.hpp"
#include "libprofile/base/clock.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace libprofile {

enum class SessionState : int { Idle, Starting, Measuring, Silent, Finished, Off };

struct alignas(64) ProcessState {
    std::atomic<SessionState> session{SessionState::Idle};
    std::atomic<std::uint32_t> load_map_epoch{1};
    std::atomic<MarksChoice> marks{MarksChoice::Off};
    std::uint32_t clock_reading_ns = 0; // what two readings of the clock show without anything between them (events/calibration.hpp)
    Clock clock;
    std::ptrdiff_t rseq_offset = 0; // of the thread's area from the thread pointer; 0: not known

    /// Both as one number.
    static constexpr std::uint64_t both(SessionState session, std::uint32_t load_map_epoch) {
        return std::uint64_t{load_map_epoch} << 32 | static_cast<std::uint32_t>(session);
    }
    /// `session` and `load_map_epoch` in one reading.
    std::uint64_t session_and_epoch() const noexcept {
        using Both [[gnu::may_alias]] = std::uint64_t;
        return __atomic_load_n(reinterpret_cast<const Both*>(&session), __ATOMIC_ACQUIRE);
    }
};
static_assert(sizeof(ProcessState) == 64 && offsetof(ProcessState, load_map_epoch) == offsetof(ProcessState, session) + sizeof(std::uint32_t));
extern ProcessState process_state;

inline constexpr Clock& session_clock = process_state.clock;

} // namespace libprofile
