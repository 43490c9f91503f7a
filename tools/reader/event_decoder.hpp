// The events of parts one after the other, whoever reads them: all of a block, or some of it from any event on.
// Contract: one thread; appends to the lists that it is given; throws std::bad_alloc only. Paths and phases are numbers of the file.
#pragma once

#include "format/counters.hpp"
#include "tools/reader/raw_records.hpp"

#include <array>

namespace libprofile::tools {

/// What the next event of a part is coded as difference to.
struct EventState {
    std::uint64_t at_ns = 0; // end of the last event with one
    std::uint64_t path = 0;  // of the last event with one
    std::uint16_t processor = no_processor;
    std::array<std::uint64_t, most_counters> counted = {};
};

class EventDecoder {
  public:
    explicit EventDecoder(KeptEvents& out) : out_(out) {}

    /// A part of which all events follow. @param processor of its head. False if that makes no sense
    bool begin(EventPart& part, std::uint64_t processor) {
        begin_at(part, {part.begin_ns, 0, no_processor, {}});
        return take_processor(processor);
    }
    /// A part from one of its events on. @param state that of the event before
    void begin_at(EventPart& part, const EventState& state) {
        part.intervals_at = size(out_.intervals);
        part.messages_at = size(out_.messages);
        part.collectives_at = size(out_.collectives);
        part.inners_at = size(out_.inners);
        part.tasks_at = size(out_.tasks);
        part.runs_at = size(out_.runs);
        part.groups_at = size(out_.groups);
        part.counts_at = size(out_.counts);
        state_ = state;
        last_ = Last::None;
    }
    /// False for an event that makes no sense.
    bool take(const EventRecord& event, const EventPart& part) {
        switch (event.type) {
        case EventType::Interval: return take_interval(event);
        case EventType::Message: return take_message(event, part);
        case EventType::Inner: return take_inner(event);
        case EventType::Task: return take_task(event, part);
        }
        return false;
    }
    /// Counts what was taken since begin().
    void end(EventPart& part) const {
        part.intervals = size(out_.intervals) - part.intervals_at;
        part.messages = size(out_.messages) - part.messages_at;
        part.collectives = size(out_.collectives) - part.collectives_at;
        part.inners = size(out_.inners) - part.inners_at;
        part.tasks = size(out_.tasks) - part.tasks_at;
        part.runs = size(out_.runs) - part.runs_at;
        part.groups = size(out_.groups) - part.groups_at;
        part.counts = size(out_.counts) - part.counts_at;
    }
    const EventState& state() const { return state_; }

  private:
    template <class T> static std::uint32_t size(const std::vector<T>& list) { return static_cast<std::uint32_t>(list.size()); }

    /// The begin; the state has the end.
    bool take_times(const EventRecord& event, std::uint64_t& begin) {
        begin = state_.at_ns + static_cast<std::uint64_t>(event.gap);
        const bool is_before = event.gap < 0;
        if (is_before ? begin >= state_.at_ns : begin < state_.at_ns) return false;
        state_.at_ns = begin + event.length;
        return state_.at_ns >= begin;
    }

    bool take_path(std::uint64_t difference, std::uint32_t& path) {
        state_.path += difference;
        path = static_cast<std::uint32_t>(state_.path);
        return state_.path <= max_id;
    }

    bool take_interval(const EventRecord& event) {
        TracedInterval interval;
        if (!take_path((event.rest >> 1) ^ (~(event.rest & 1) + 1), interval.path) || !take_times(event, interval.begin_ns)) return false;
        interval.end_ns = state_.at_ns;
        interval.processor = state_.processor;
        out_.intervals.push_back(interval);
        last_ = Last::Interval;
        return true;
    }

    bool take_message(const EventRecord& event, const EventPart& part) {
        constexpr std::uint64_t all_flags = MessageIsReceived | MessageHasPartner | MessageHasNumber;
        const bool has_interval = out_.intervals.size() > part.intervals_at;
        if (!has_interval || event.communicator > UINT32_MAX) return false;
        if (event.rest == MessageIsCollective) {
            out_.collectives.push_back({size(out_.intervals) - 1, static_cast<std::uint32_t>(event.communicator), event.number});
            return event.number != 0;
        }
        if (event.rest > all_flags || event.partner > max_id || event.tag < INT32_MIN || event.tag > INT32_MAX) return false;
        TracedMessage message;
        message.interval = size(out_.intervals) - 1;
        message.direction = (event.rest & MessageIsReceived) != 0 ? MessageDirection::Received : MessageDirection::Sent;
        if ((event.rest & MessageHasPartner) != 0) message.partner = static_cast<std::uint32_t>(event.partner);
        message.communicator = static_cast<std::uint32_t>(event.communicator);
        message.tag = static_cast<std::int32_t>(event.tag);
        message.bytes = event.bytes;
        message.number = event.number;
        out_.messages.push_back(message);
        return true;
    }

    bool take_inner(const EventRecord& event) {
        TracedInner inner;
        if (event.rest > max_id || !take_times(event, inner.begin_ns)) return false;
        inner.end_ns = state_.at_ns;
        inner.phase = static_cast<std::uint32_t>(event.rest);
        inner.number = event.number;
        out_.inners.push_back(inner);
        return true;
    }

    bool take_task(const EventRecord& event, const EventPart& part) {
        const std::uint64_t says = event.rest >> 2;
        switch (static_cast<TaskEvent>(event.rest & 3)) {
        case TaskEvent::Creation: return take_creation(event, says);
        case TaskEvent::Run: return take_run(event, says);
        case TaskEvent::Depends: return take_dependence(event, says, part);
        case TaskEvent::Further: return take_further(event, says);
        }
        return false;
    }

    bool take_creation(const EventRecord& event, std::uint64_t flags) {
        TracedTask task;
        if (flags > UINT8_MAX || event.number == 0 || !take_path(static_cast<std::uint64_t>(event.path), task.path) || !take_times(event, task.created_ns))
            return false;
        task.number = event.number;
        task.creator = event.creator;
        task.flags = static_cast<std::uint8_t>(flags);
        task.dependences_at = size(out_.dependences);
        out_.tasks.push_back(task);
        return true;
    }

    bool take_run(const EventRecord& event, std::uint64_t flags) {
        TracedTaskRun run;
        if (event.number == 0 || !take_path(static_cast<std::uint64_t>(event.path), run.path) || !take_times(event, run.begin_ns)) return false;
        run.end_ns = state_.at_ns;
        run.task = event.number;
        run.processor = state_.processor;
        run.is_over = (flags & TaskIsOver) != 0;
        run.is_resumed = (flags & TaskIsResumed) != 0;
        out_.runs.push_back(run);
        last_ = Last::Run;
        return true;
    }

    /// What a handler of the application did may have cut the part behind the creation: then the dependence is left out.
    bool take_dependence(const EventRecord& event, std::uint64_t kind, const EventPart& part) {
        if (kind < static_cast<std::uint64_t>(TaskDependence::In) || kind > static_cast<std::uint64_t>(TaskDependence::InOutSet)) return false;
        if (out_.tasks.size() == part.tasks_at) return true;
        out_.dependences.push_back({event.address, static_cast<TaskDependence>(kind)});
        ++out_.tasks.back().dependences;
        return true;
    }

    bool take_further(const EventRecord& event, std::uint64_t says) {
        switch (static_cast<FurtherEvent>(says)) {
        case FurtherEvent::Group: return take_group(event);
        case FurtherEvent::Moved: return event.number != 0 && take_processor(event.number);
        case FurtherEvent::Count: break;
        }
        return take_count(event, says - static_cast<std::uint64_t>(FurtherEvent::Count));
    }

    bool take_processor(std::uint64_t number_and_1) {
        state_.processor = number_and_1 == 0 ? no_processor : static_cast<std::uint16_t>(number_and_1 - 1);
        return number_and_1 <= no_processor;
    }

    /// Of an event that is not there, as behind a cut that a handler made: left out, but the values go on.
    bool take_count(const EventRecord& event, std::uint64_t counter) {
        if (counter >= most_counters) return false;
        TracedCount count;
        count.begin = state_.counted[counter] + static_cast<std::uint64_t>(event.gap);
        count.end = state_.counted[counter] = count.begin + event.length;
        if (count.end < count.begin) return false;
        count.counter = static_cast<std::uint8_t>(counter);
        count.is_of_run = last_ == Last::Run;
        if (last_ == Last::None) return true;
        count.event = (count.is_of_run ? size(out_.runs) : size(out_.intervals)) - 1;
        out_.counts.push_back(count);
        return true;
    }

    bool take_group(const EventRecord& event) {
        TracedTaskGroup group;
        if (!take_times(event, group.begin_ns)) return false;
        group.end_ns = state_.at_ns;
        group.task = event.number;
        out_.groups.push_back(group);
        return true;
    }

    KeptEvents& out_;
    EventState state_;
    enum class Last : std::uint8_t { None, Interval, Run };
    Last last_ = Last::None; // what counters are of
};

/// The head of a block.
inline void take_head(const EventsRecord& record, KeptEvents& events) {
    events.stride = record.stride;
    events.window_ns = record.window_ns;
    events.dropped_parts = record.dropped_parts;
    events.too_large = record.too_large;
    events.dropped_events = record.dropped_events;
}

/// Empties the lists, whose memory stays for others.
inline void clear_lists(KeptEvents& events) {
    events.parts.clear();
    events.intervals.clear();
    events.messages.clear();
    events.collectives.clear();
    events.inners.clear();
    events.tasks.clear();
    events.dependences.clear();
    events.runs.clear();
    events.groups.clear();
    events.counts.clear();
}

/// The head of a part. @param end of the part before. False if it makes no sense.
inline bool take_part(const EventPartRecord& record, std::uint64_t end, EventPart& part) {
    if (record.kind > static_cast<std::uint64_t>(PartKind::Iteration) || record.phase > max_id || record.reasons > UINT8_MAX) return false;
    part.kind = static_cast<PartKind>(record.kind);
    part.phase = static_cast<std::uint32_t>(record.phase);
    part.number = record.number;
    part.reasons = static_cast<std::uint8_t>(record.reasons);
    part.begin_ns = end + record.left_out;
    part.end_ns = part.begin_ns + record.length;
    return part.begin_ns >= end && part.end_ns >= part.begin_ns;
}

} // namespace libprofile::tools
