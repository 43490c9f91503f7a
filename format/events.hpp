// The Events block of the profile file: what a thread did, event by event, in the parts of the run that were kept (LIBPROFILE_TRACE=events).
// Contract: plain data; no allocation; `describe` runs with an Encoder or a Decoder.
//
// A thread's time is cut into parts: the iterations of its rank, and windows of time where there are none. A part has all events that ended in it, or
// none of them. Its number decides whether it stays, so all ranks keep the same ones.
#pragma once

#include "format/codec.hpp"

#include <cstdint>

namespace libprofile {

/// What cuts a part out of the run.
enum class PartKind : std::uint8_t {
    Window = 0,    // no iteration was open; number: position of the window on the axis of real time
    Iteration = 1, // of the rank's main thread, none open around it; number: its number in the phase
};

/// Why a part was kept. Any of these.
enum PartReason : std::uint8_t {
    PartHasItsTurn = 1,    // its number is a multiple of the stride: other ranks have it, too
    PartIsSlow = 2,        // an iteration, one of the longest of its rank
    PartIsFirstOfKind = 4, // an iteration, the first of its cluster
};

struct EventsRecord {
    std::uint64_t thread = 0;
    std::uint64_t stride = 1;         // parts whose number is a multiple of this, a power of 2, are there
    std::uint64_t window_ns = 0;      // length of a window
    std::uint64_t dropped_parts = 0;  // that are not there
    std::uint64_t too_large = 0;      // of these: parts with more events than memory
    std::uint64_t dropped_events = 0; // events of the parts that are not there
    std::uint64_t parts = 0;
};
template <class Codec> void describe(Codec& c, EventsRecord& r) {
    c.number(r.thread);
    c.number(r.stride);
    c.number(r.window_ns);
    c.number(r.dropped_parts);
    c.number(r.too_large);
    c.number(r.dropped_events);
    c.number(r.parts);
}

/// Parts are in the order of time, and do not overlap.
struct EventPartRecord {
    std::uint64_t kind = 0;  // PartKind
    std::uint64_t phase = 0; // of an iteration: the number of its phase in the main thread
    std::uint64_t number = 0;
    std::uint64_t reasons = 0;  // PartReason
    std::uint64_t left_out = 0; // ns since the end of the part before; for the first, since the rank's clock began
    std::uint64_t length = 0;   // ns
    std::uint64_t events = 0;
    std::uint64_t processor = 0; // + 1, on which the thread was when it began; 0: not known
};
template <class Codec> void describe(Codec& c, EventPartRecord& r) {
    c.number(r.kind);
    c.number(r.phase);
    c.number(r.number);
    c.number(r.reasons);
    c.number(r.left_out);
    c.number(r.length);
    c.number(r.events);
    c.number(r.processor);
}

/// What the lowest two bits of an event's first number say.
enum class EventType : std::uint8_t {
    Interval = 0, // rest: call path, as difference to that of the interval before (zigzag); gap, length
    Message = 1,  // rest: MessageFlag; partner if known, communicator, tag, bytes, number if known. Of the interval before it.
                  // If it is collective: communicator, number
    Inner = 2,    // an iteration that lies in the part's, or in none that is a part; rest: its phase; gap, length, number
    Task = 3,     // rest: a TaskEvent in the lowest two bits, then what that says
};
/// Of tasks of OpenMP. A task's number is unique in its process, from 1 on; 0 is the implicit task of the thread.
enum class TaskEvent : std::uint8_t {
    Creation = 0, // a task was created; rest: TaskFlag; call path, gap (no length), number, creator
    Run = 1,      // a stretch of its execution is over; rest: TaskRunFlag; call path, gap, length, number
    Depends = 2,  // of the creation before it; rest: TaskDependence; address
    Further = 3,  // rest: a FurtherEvent
};
/// What came later, and is rarer.
enum class FurtherEvent : std::uint64_t {
    Group = 0, // a taskgroup is over, and all tasks made in it; gap, length, number of the task that waited
    Moved = 1, // the thread is on another processor, also where the events behind this one ended; its number + 1
    Count = 2, // and up: a counter, by its position + 2, of the interval or run before it. Its value at the begin of that, as difference to the value of the
               // counter that the part had last (0 at first); by how much it has grown until the end
};
enum TaskFlag : std::uint64_t {
    TaskIsUndeferred = 1, // its creator waits for it
    TaskIsFinal = 2,
    TaskIsUntied = 4,
    TaskIsOfLoop = 8, // a taskloop made it
};
enum TaskRunFlag : std::uint64_t {
    TaskIsOver = 1,   // else it was suspended, and goes on later
    TaskIsResumed = 2 // it had run before
};
enum class TaskDependence : std::uint8_t { In = 1, Out = 2, InOut = 3, MutexInOutSet = 4, InOutSet = 5 };
enum MessageFlag : std::uint64_t {
    MessageIsReceived = 1,
    MessageHasPartner = 2,
    MessageHasNumber = 4,
    MessageIsCollective = 8, // no message, but a collective operation of the communicator's ranks. Alone
};

/// One event, in the order in which they end. A gap is from the end of the event with a gap before it in the part (from the part's begin) to its own begin;
/// below 0 if that one lies in it, or it began before its part did. A call path is coded as difference to the one before it in the part.
struct EventRecord {
    EventType type = EventType::Interval;
    std::uint64_t rest = 0;
    std::int64_t gap = 0;      // Interval, Inner, Task; Count: difference of its values
    std::uint64_t length = 0;  // Interval, Inner, Task; ns; Count: growth
    std::uint64_t number = 0;  // Inner; Task; Moved; Message: how many messages of this process had this direction, partner, communicator and tag before, + 1
    std::uint64_t partner = 0; // Message: rank of MPI_COMM_WORLD
    std::uint64_t communicator = 0; // Message: a hash of its ranks, 0 if they are those of MPI_COMM_WORLD
    std::int64_t tag = 0;
    std::uint64_t bytes = 0;
    std::int64_t path = 0;     // Task: difference
    std::uint64_t creator = 0; // Task: the task that made it
    std::uint64_t address = 0; // Task: of what it depends on
};
/// The rest of a task's event.
constexpr std::uint64_t task_rest(TaskEvent event, std::uint64_t says) { return says << 2 | static_cast<std::uint64_t>(event); }
constexpr std::uint64_t further_rest(FurtherEvent event, std::uint64_t counter = 0) {
    return task_rest(TaskEvent::Further, static_cast<std::uint64_t>(event) + counter);
}
template <class Codec> void describe_further(Codec& c, EventRecord& r) {
    const std::uint64_t says = r.rest >> 2;
    if (says != static_cast<std::uint64_t>(FurtherEvent::Moved)) {
        c.signed_number(r.gap);
        c.number(r.length);
    }
    if (says < static_cast<std::uint64_t>(FurtherEvent::Count)) c.number(r.number);
}
template <class Codec> void describe_task(Codec& c, EventRecord& r) {
    const auto event = static_cast<TaskEvent>(r.rest & 3);
    if (event == TaskEvent::Further) return describe_further(c, r);
    if (event == TaskEvent::Depends) return c.number(r.address);
    c.signed_number(r.path);
    c.signed_number(r.gap);
    if (event != TaskEvent::Creation) c.number(r.length);
    c.number(r.number);
    if (event == TaskEvent::Creation) c.number(r.creator);
}
template <class Codec> void describe(Codec& c, EventRecord& r) {
    std::uint64_t first = r.rest << 2 | static_cast<std::uint64_t>(r.type);
    c.number(first);
    r.type = static_cast<EventType>(first & 3);
    r.rest = first >> 2;
    if (r.type == EventType::Message && r.rest == MessageIsCollective) {
        c.number(r.communicator);
        return c.number(r.number);
    }
    if (r.type == EventType::Message) {
        if ((r.rest & MessageHasPartner) != 0) c.number(r.partner);
        c.number(r.communicator);
        c.signed_number(r.tag);
        c.number(r.bytes);
        if ((r.rest & MessageHasNumber) != 0) c.number(r.number);
        return;
    }
    if (r.type == EventType::Task) return describe_task(c, r);
    c.signed_number(r.gap);
    c.number(r.length);
    if (r.type == EventType::Inner) c.number(r.number);
}

} // namespace libprofile
