// Perfetto's trace: kept events (LIBPROFILE_TRACE=events) for ui.perfetto.dev and trace_processor.
//
// Ranks are processes and threads are threads. Slices are kept parts of the run, and in them what lies in them; where there is no slice, nothing was kept.
// Counters that were read at the borders of tasks and calls have a track of each thread, from 0 on.
// Flows lead from a send to the end of the call that received it, and from the creation of a task to its runs.
// Format: protos/perfetto/trace/perfetto_trace.proto of Perfetto; perfetto.dev/docs/reference/synthetic-track-event.
#include "tools/export/event_rows.hpp"
#include "tools/export/formats.hpp"
#include "tools/export/location_name.hpp"
#include "tools/export/proto_message.hpp"
#include "tools/names/labels.hpp"
#include "tools/reader/counters.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>
#include <utility>

namespace libprofile::tools {

namespace {

// Numbers of fields.
namespace trace {
constexpr unsigned packet = 1;
}
namespace trace_packet {
constexpr unsigned timestamp = 8, sequence = 10, track_event = 11, interned_data = 12, sequence_flags = 13, track_descriptor = 60;
constexpr std::uint64_t state_begins = 1, needs_state = 2;
} // namespace trace_packet
namespace track_descriptor {
constexpr unsigned uuid = 1, name = 2, process = 3, thread = 4, parent = 5, counter = 8;
}
namespace process_descriptor {
constexpr unsigned pid = 1, name = 6;
}
namespace thread_descriptor {
constexpr unsigned pid = 1, tid = 2, name = 5;
}
namespace track_event {
constexpr unsigned categories = 3, annotations = 4, type = 9, name_iid = 10, track = 11, name = 23, counter_value = 30, flows = 47, last_flows = 48;
constexpr std::uint64_t begin = 1, end = 2, instant = 3, counter = 4;
} // namespace track_event
namespace annotation {
constexpr unsigned name_iid = 1, number = 3, text = 6;
}
/// Also the field of InternedData that has them.
enum class Interned : unsigned { Category = 1, EventName = 2, AnnotationName = 3 };

class PerfettoTrace {
  public:
    PerfettoTrace(const Profile& profile, const ExportRequest& request, Sink& sink) : rows_(profile, request.choice), sink_(sink) {}

    Remarks write() {
        for (const Location* location : rows_.locations()) describe(*location);
        for (const Location* location : rows_.locations())
            for (const EventPart& part : location->events.parts)
                if (rows_.chosen().is_chosen(part)) add_part(*location, part);
        flush();
        return rows_.remarks();
    }

  private:
    static constexpr std::size_t written_at_once = std::size_t{1} << 20;
    static constexpr std::uint64_t first_task_flow = std::uint64_t{1} << 63; // beyond those of messages

    // 0 is the idle process there.
    static std::uint64_t pid(const Location& location) { return location.rank + 1; }
    std::uint64_t tid(const Location& location) const { return location.thread == 0 ? pid(location) : EventRows::most_ranks + rows_.position(location) + 2; }
    std::uint64_t track(const Location& location) const { return std::uint64_t{1} << 32 | rows_.position(location); }

    void describe(const Location& location) {
        if (described_.insert(location.rank).second) {
            ProtoMessage process, descriptor;
            process.number(process_descriptor::pid, pid(location));
            process.text(process_descriptor::name, fmt::format("rank {} on {}", location.rank, printable(rows_.host(location.rank))));
            descriptor.number(track_descriptor::uuid, pid(location));
            descriptor.message(track_descriptor::process, process);
            add_descriptor(descriptor);
        }
        ProtoMessage thread, descriptor;
        thread.number(thread_descriptor::pid, pid(location));
        thread.number(thread_descriptor::tid, tid(location));
        thread.text(thread_descriptor::name, location_name(location.rank, location.thread));
        descriptor.number(track_descriptor::uuid, track(location));
        descriptor.number(track_descriptor::parent, pid(location));
        descriptor.message(track_descriptor::thread, thread);
        add_descriptor(descriptor);
    }
    void add_descriptor(const ProtoMessage& descriptor) {
        ProtoMessage packet;
        packet.message(trace_packet::track_descriptor, descriptor);
        add(packet);
    }

    void add_part(const Location& location, const EventPart& part) {
        ProtoMessage event = begin_of(part.end_ns - part.begin_ns, "part");
        event.text(track_event::name, is_iteration(part) ? printable(rows_.names().iteration(part.phase, part.number)) : "window");
        add(location, part.begin_ns, track_event::begin, event);
        rows_.chosen().visit(
            location, part, [&](const EventSlice& slice) { enter(location, slice); }, [&](const EventSlice& slice) { leave(location, slice); });
        add(location, part.end_ns, track_event::end, {});
        add_counters(location, part);
    }

    void add_counters(const Location& location, const EventPart& part) {
        const KeptEvents& events = location.events;
        for (std::uint32_t i = part.counts_at; i < part.counts_at + part.counts; ++i) {
            const TracedCount& count = events.counts[i];
            if (!rows_.chosen().is_count_chosen(location, count)) continue;
            const auto [begin, end] = times_of(events, count);
            const std::uint64_t first = first_value_.try_emplace({rows_.position(location), count.counter}, count.begin).first->second;
            if (described_counters_.insert({rows_.position(location), count.counter}).second) describe_counter(location, count.counter);
            for (const auto& [at, value] : {std::pair(std::max(begin, part.begin_ns), count.begin), std::pair(end, count.end)})
                add_value(location, count.counter, at, value - std::min(first, value));
        }
    }
    /// Behind the tracks of all threads.
    std::uint64_t counter_track(const Location& location, std::uint8_t counter) const {
        return std::uint64_t{1} << 40 | std::uint64_t{counter} << 32 | rows_.position(location);
    }
    void describe_counter(const Location& location, std::uint8_t counter) {
        const std::vector<std::string> names = counter_names(rows_.profile(), location.rank);
        ProtoMessage descriptor;
        descriptor.number(track_descriptor::uuid, counter_track(location, counter));
        descriptor.text(track_descriptor::name, counter < names.size() ? printable(names[counter]) : fmt::format("counter {}", counter));
        descriptor.number(track_descriptor::parent, track(location));
        descriptor.message(track_descriptor::counter, {});
        add_descriptor(descriptor);
    }
    void add_value(const Location& location, std::uint8_t counter, std::uint64_t own_ns, std::uint64_t value) {
        ProtoMessage event, packet;
        event.number(track_event::type, track_event::counter);
        event.number(track_event::track, counter_track(location, counter));
        event.present_number(track_event::counter_value, value);
        packet.present_number(trace_packet::timestamp, rows_.time(location, own_ns));
        packet.message(trace_packet::track_event, event);
        add(packet);
    }

    ProtoMessage begin_of(std::uint64_t own_ns, const char* category) {
        ProtoMessage event;
        event.number(track_event::categories, interned(Interned::Category, category));
        annotate(event, "ns", own_ns);
        return event;
    }
    void enter(const Location& location, const EventSlice& slice) {
        const EventNames& names = rows_.names();
        const std::uint64_t task = task_of(location.events, slice);
        ProtoMessage event = begin_of(slice.own_ns, names.category(location, slice));
        if (slice.kind == EventSlice::Kind::Iteration)
            event.text(track_event::name, printable(names.name(location, slice))); // each has its own
        else
            event.number(track_event::name_iid, interned(Interned::EventName, printable(names.name(location, slice))));
        if (task != 0) annotate(event, "task", task);
        annotate_bytes(event, location, slice, MessageDirection::Sent, "bytes sent");
        annotate_bytes(event, location, slice, MessageDirection::Received, "bytes received");
        if (const CollectiveOperation* operation = rows_.collective(location, slice)) annotate_collective(event, location, slice, *operation);
        for (const TracedMessage& message : ChosenEvents::messages(location.events, slice))
            if (message.direction == MessageDirection::Sent) add_flow(event, track_event::flows, rows_.pair(location, message));
        if (slice.kind == EventSlice::Kind::TaskRun)
            add_flow(event, location.events.runs[slice.at].is_over ? track_event::last_flows : track_event::flows, flow_of_task(location, task));
        if (slice.kind == EventSlice::Kind::TaskCreation) {
            add_flow(event, track_event::flows, flow_of_task(location, task));
            return add(location, slice.begin_ns, track_event::instant, event);
        }
        add(location, slice.begin_ns, track_event::begin, event);
    }
    void leave(const Location& location, const EventSlice& slice) {
        if (slice.kind == EventSlice::Kind::TaskCreation) return;
        ProtoMessage event;
        for (const TracedMessage& message : ChosenEvents::messages(location.events, slice))
            if (message.direction == MessageDirection::Received) add_flow(event, track_event::last_flows, rows_.pair(location, message));
        add(location, slice.end_ns, track_event::end, event);
    }

    /// The same for all of a task; 0 if its creation is not shown.
    std::uint64_t flow_of_task(const Location& location, std::uint64_t task) {
        return rows_.creator(location.rank, task) == nullptr
                   ? 0
                   : first_task_flow + task_flows_.try_emplace({location.rank, task}, task_flows_.size()).first->second;
    }
    static void add_flow(ProtoMessage& event, unsigned field, std::uint64_t flow) {
        if (flow != 0) event.fixed64(field, flow);
    }
    void annotate(ProtoMessage& event, const char* name, std::uint64_t value) {
        ProtoMessage one;
        one.number(annotation::name_iid, interned(Interned::AnnotationName, name));
        one.present_number(annotation::number, value);
        event.message(track_event::annotations, one);
    }
    void annotate_text(ProtoMessage& event, const char* name, const std::string& value) {
        ProtoMessage one;
        one.number(annotation::name_iid, interned(Interned::AnnotationName, name));
        one.text(annotation::text, value);
        event.message(track_event::annotations, one);
    }
    void annotate_collective(ProtoMessage& event, const Location& location, const EventSlice& slice, const CollectiveOperation& operation) {
        annotate_text(event, "communicator", rows_.collectives().name(operation.communicator));
        annotate(event, "operation of the communicator", operation.number);
        if (!operation.is_whole) return;
        annotate(event, "last rank", rows_.location(operation.last().location).rank);
        annotate(event, "last one began later by ns", rows_.until_last(location, slice, operation));
    }
    void annotate_bytes(ProtoMessage& event, const Location& location, const EventSlice& slice, MessageDirection direction, const char* name) {
        std::uint64_t bytes = 0, count = 0;
        for (const TracedMessage& message : ChosenEvents::messages(location.events, slice)) {
            if (message.direction != direction) continue;
            bytes += message.bytes;
            ++count;
        }
        if (count != 0) annotate(event, name, bytes);
    }

    /// The number of a text, which is told with the packet that is added next.
    std::uint64_t interned(Interned kind, const std::string& text) {
        const auto [at, is_new] = interned_.try_emplace({kind, text}, interned_.size() + 1);
        if (is_new) {
            ProtoMessage entry;
            entry.number(1, at->second);
            entry.text(2, text);
            new_texts_.message(static_cast<unsigned>(kind), entry);
        }
        return at->second;
    }

    void add(const Location& location, std::uint64_t own_ns, std::uint64_t type, ProtoMessage event) {
        event.number(track_event::type, type);
        event.number(track_event::track, track(location));
        ProtoMessage packet;
        packet.present_number(trace_packet::timestamp, rows_.time(location, own_ns));
        packet.message(trace_packet::track_event, event);
        if (!new_texts_.is_empty()) packet.message(trace_packet::interned_data, std::exchange(new_texts_, {}));
        add(packet);
    }
    void add(ProtoMessage& packet) {
        packet.number(trace_packet::sequence, 1);
        packet.number(trace_packet::sequence_flags, std::exchange(is_begun_, true) ? trace_packet::needs_state : trace_packet::state_begins);
        ProtoMessage one;
        one.message(trace::packet, packet);
        out_ += one.serialized();
        if (out_.size() >= written_at_once) flush();
    }
    void flush() {
        sink_.add("trace.perfetto-trace", out_);
        out_.clear();
    }

    EventRows rows_;
    Sink& sink_;
    std::string out_;
    std::set<std::uint32_t> described_; // ranks
    std::map<std::pair<Interned, std::string>, std::uint64_t> interned_;
    std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint64_t> task_flows_; // by rank and task
    std::set<std::pair<std::uint32_t, std::uint8_t>> described_counters_;         // by location and counter
    std::map<std::pair<std::uint32_t, std::uint8_t>, std::uint64_t> first_value_; // the same
    ProtoMessage new_texts_;
    bool is_begun_ = false;
};

} // namespace

Remarks write_perfetto(const Profile& profile, const ExportRequest& request, Sink& sink) { return PerfettoTrace(profile, request, sink).write(); }

} // namespace libprofile::tools
