// What a thread did, event by event, in the parts of its run that were kept (LIBPROFILE_TRACE=events).
// Contract: plain data, as model.hpp. Times are ns since the clock of the rank began.
#pragma once

#include "format/events.hpp"
#include "format/partners.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <vector>

namespace libprofile::tools {

/// A hardware thread by the kernel's number, where an event ended.
inline constexpr std::uint16_t no_processor = UINT16_MAX;

/// A call of MPI, a wait or construct of OpenMP, or a visit to a named region. It may have begun before its part did, and others may lie in it.
struct TracedInterval {
    std::uint64_t begin_ns = 0;
    std::uint64_t end_ns = 0;
    std::uint32_t path = 0;
    std::uint16_t processor = no_processor;
};

/// One end of a message of the call `interval`.
struct TracedMessage {
    static constexpr std::uint32_t unknown_rank = UINT32_MAX;
    std::uint32_t interval = 0; // position in KeptEvents::intervals
    MessageDirection direction = MessageDirection::Sent;
    std::uint32_t partner = unknown_rank; // rank of MPI_COMM_WORLD
    std::uint32_t communicator = 0;       // a hash of its ranks; 0: those of MPI_COMM_WORLD
    std::int32_t tag = 0;
    std::uint64_t bytes = 0;
    std::uint64_t number = 0; // among those of its process with the same direction, partner, communicator and tag, from 1 on; 0: not known
};

/// The call `interval` is a collective operation.
struct TracedCollective {
    std::uint32_t interval = 0;     // position in KeptEvents::intervals
    std::uint32_t communicator = 0; // as in TracedMessage
    std::uint64_t number = 0;       // among those of its communicator, from 1 on: the same on all its ranks
};

/// An iteration inside another one.
struct TracedInner {
    std::uint64_t begin_ns = 0;
    std::uint64_t end_ns = 0;
    std::uint32_t phase = 0; // position in Profile::phases
    std::uint64_t number = 0;
};

/// An address that a task depends on.
struct TracedDependence {
    std::uint64_t address = 0;
    TaskDependence kind = TaskDependence::In;
};

/// The creation of a task of OpenMP.
struct TracedTask {
    std::uint64_t number = 0;  // unique in its process, from 1 on
    std::uint64_t creator = 0; // the number of the task that made it; 0: the implicit task of this thread
    std::uint64_t created_ns = 0;
    std::uint32_t path = 0;                            // of its creation
    std::uint8_t flags = 0;                            // TaskFlag
    std::uint32_t dependences_at = 0, dependences = 0; // positions in KeptEvents::dependences
};

/// A stretch of a task's execution by this thread. Another task may run inside it, and waits lie in it.
struct TracedTaskRun {
    std::uint64_t begin_ns = 0;
    std::uint64_t end_ns = 0;
    std::uint64_t task = 0; // its number; the creation may lie in another thread, or in a part that is not there
    std::uint32_t path = 0; // of the function that runs
    bool is_over = false;   // else it was suspended
    bool is_resumed = false;
    std::uint16_t processor = no_processor;
};

/// A counter that the user chose, at both ends of an interval or a run.
struct TracedCount {
    std::uint64_t begin = 0; // value; its origin is arbitrary
    std::uint64_t end = 0;
    std::uint32_t event = 0;  // position in KeptEvents::intervals or KeptEvents::runs
    std::uint8_t counter = 0; // position in RankAffinity::counters
    bool is_of_run = false;
};

/// A taskgroup: at its end all tasks that were made in it, and theirs, are over.
struct TracedTaskGroup {
    std::uint64_t begin_ns = 0;
    std::uint64_t end_ns = 0;
    std::uint64_t task = 0; // that waited; 0: the implicit task of this thread
};

/// A stretch of the run of which all events are there that ended in it.
struct EventPart {
    static constexpr std::uint32_t no_phase = UINT32_MAX;
    PartKind kind = PartKind::Window;
    std::uint32_t phase = no_phase; // of an iteration: position in Profile::phases; no_phase if that is not there
    std::uint64_t number = 0;
    std::uint8_t reasons = 0; // PartReason
    std::uint64_t begin_ns = 0;
    std::uint64_t end_ns = 0;
    // What it has: ranges of positions in KeptEvents, in the order of ends.
    std::uint32_t intervals_at = 0, intervals = 0;
    std::uint32_t messages_at = 0, messages = 0;
    std::uint32_t collectives_at = 0, collectives = 0;
    std::uint32_t inners_at = 0, inners = 0;
    std::uint32_t tasks_at = 0, tasks = 0; // creations
    std::uint32_t runs_at = 0, runs = 0;
    std::uint32_t groups_at = 0, groups = 0;
    std::uint32_t counts_at = 0, counts = 0;
};

struct KeptEvents {
    std::uint64_t stride = 0; // 0: nothing was recorded
    std::uint64_t window_ns = 0;
    std::uint64_t dropped_parts = 0;
    std::uint64_t too_large = 0;
    std::uint64_t dropped_events = 0;
    std::vector<EventPart> parts; // in the order of time
    std::vector<TracedInterval> intervals;
    std::vector<TracedMessage> messages;
    std::vector<TracedCollective> collectives;
    std::vector<TracedInner> inners;
    std::vector<TracedTask> tasks;
    std::vector<TracedDependence> dependences; // of one task after another
    std::vector<TracedTaskRun> runs;
    std::vector<TracedTaskGroup> groups;
    std::vector<TracedCount> counts; // in the order of their events' ends
};

/// Events that were left in their file, because they may be larger than memory: where they are, and what the numbers there mean.
struct EventsElsewhere {
    std::filesystem::path file;
    std::uint64_t at = 0; // of the stored payload of the Events block
    std::uint64_t stored_size = 0, raw_size = 0;
    std::uint32_t crc = 0;
    std::shared_ptr<std::vector<std::uint32_t>> paths; // positions in Profile::paths, by node; threads may share them
    std::map<std::uint32_t, std::uint32_t> phases;     // positions in Profile::phases, by number
};

} // namespace libprofile::tools
