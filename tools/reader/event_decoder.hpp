// The events of parts one after the other, whoever reads them: all of a block, or some of it from any event on.
// Contract: one thread; appends to the lists that it is given; throws std::bad_alloc only. Paths and phases are numbers of the file.
#pragma once

#include "tools/reader/raw_records.hpp"

namespace libprofile::tools {

class EventDecoder {
  public:
    explicit EventDecoder(KeptEvents& out) : out_(out) {}

    /// A part of which all events follow.
    void begin(EventPart& part) { begin_at(part, part.begin_ns, 0); }
    /// A part from one of its events on. @param at, path those of the event before, as place() gave them
    void begin_at(EventPart& part, std::uint64_t at, std::uint64_t path) {
        part.intervals_at = size(out_.intervals);
        part.messages_at = size(out_.messages);
        part.inners_at = size(out_.inners);
        part.tasks_at = size(out_.tasks);
        part.runs_at = size(out_.runs);
        part.groups_at = size(out_.groups);
        at_ = at;
        path_ = path;
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
        part.inners = size(out_.inners) - part.inners_at;
        part.tasks = size(out_.tasks) - part.tasks_at;
        part.runs = size(out_.runs) - part.runs_at;
        part.groups = size(out_.groups) - part.groups_at;
    }
    std::uint64_t at() const { return at_; }     // end of the last event with one
    std::uint64_t path() const { return path_; } // of the last event with one

  private:
    template <class T> static std::uint32_t size(const std::vector<T>& list) { return static_cast<std::uint32_t>(list.size()); }

    /// The begin; at_ becomes the end.
    bool take_times(const EventRecord& event, std::uint64_t& begin) {
        begin = at_ + static_cast<std::uint64_t>(event.gap);
        const bool is_before = event.gap < 0;
        if (is_before ? begin >= at_ : begin < at_) return false;
        at_ = begin + event.length;
        return at_ >= begin;
    }

    bool take_path(std::uint64_t difference, std::uint32_t& path) {
        path_ += difference;
        path = static_cast<std::uint32_t>(path_);
        return path_ <= max_id;
    }

    bool take_interval(const EventRecord& event) {
        TracedInterval interval;
        if (!take_path((event.rest >> 1) ^ (~(event.rest & 1) + 1), interval.path) || !take_times(event, interval.begin_ns)) return false;
        interval.end_ns = at_;
        out_.intervals.push_back(interval);
        return true;
    }

    bool take_message(const EventRecord& event, const EventPart& part) {
        constexpr std::uint64_t all_flags = MessageIsReceived | MessageHasPartner | MessageHasNumber;
        const bool has_interval = out_.intervals.size() > part.intervals_at;
        if (!has_interval || event.rest > all_flags || event.partner > max_id || event.communicator > UINT32_MAX || event.tag < INT32_MIN ||
            event.tag > INT32_MAX)
            return false;
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
        inner.end_ns = at_;
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
        case TaskEvent::Group: return take_group(event, says);
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
        run.end_ns = at_;
        run.task = event.number;
        run.is_over = (flags & TaskIsOver) != 0;
        run.is_resumed = (flags & TaskIsResumed) != 0;
        out_.runs.push_back(run);
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

    bool take_group(const EventRecord& event, std::uint64_t says) {
        TracedTaskGroup group;
        if (says != 0 || !take_times(event, group.begin_ns)) return false;
        group.end_ns = at_;
        group.task = event.number;
        out_.groups.push_back(group);
        return true;
    }

    KeptEvents& out_;
    std::uint64_t at_ = 0;
    std::uint64_t path_ = 0;
};

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
