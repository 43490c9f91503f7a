#include "tools/export/chrome_events.hpp"

#include <fmt/format.h>

namespace libprofile::tools {

ChromeEvents::ChromeEvents(const Profile& profile, const TableChoice& choice, const ClockAxis& axis)
    : profile_(profile), axis_(axis), chosen_(profile, choice), names_(profile), collectives_(profile, axis) {}

std::uint64_t ChromeEvents::slices(const Location& location) const {
    std::uint64_t count = 0;
    for (const EventPart& part : location.events.parts)
        if (chosen_.is_chosen(part)) count += chosen_.count(location, part);
    return count;
}

std::uint64_t ChromeEvents::first_begin(const Location& location) const {
    const EventPart* first = chosen_.first_part(location.events);
    return first == nullptr ? ~std::uint64_t{0} : axis_.at(location.rank, first->begin_ns);
}

/// Events before the first one of all have times below 0.
double ChromeEvents::microseconds(const Location& location, std::uint64_t own_ns, std::uint64_t begin) const {
    return static_cast<double>(static_cast<std::int64_t>(axis_.at(location.rank, own_ns) - begin)) / 1e3;
}

/// Which operation of its communicator a call is, and who came last.
void ChromeEvents::add_collective(std::size_t at, const EventSlice& slice, Json& arguments) const {
    if (slice.kind != EventSlice::Kind::Interval) return;
    const CollectiveOperation* operation = collectives_.of(at, slice.at);
    if (operation == nullptr) return;
    arguments["communicator"] = collectives_.name(operation->communicator);
    arguments["operation"] = operation->number;
    if (!operation->is_whole) return;
    const Location& location = profile_.locations[at];
    arguments["last_rank"] = profile_.locations[operation->last().location].rank;
    arguments["last_later_ns"] = operation->last().begin_ns - axis_.at(location.rank, location.events.intervals[slice.at].begin_ns);
}

void ChromeEvents::add_message(std::size_t at, std::size_t number, std::uint64_t begin, std::uint64_t row, const std::function<void(const Json&)>& emit) const {
    const Location& location = profile_.locations[at];
    const TracedMessage& message = location.events.messages[number];
    const MessagePairs::End other = chosen_.other_end(at, number);
    if (!other.is_known()) return; // an arrow to nowhere
    const TracedInterval& call = location.events.intervals[message.interval];
    const bool is_sent = message.direction == MessageDirection::Sent;
    const std::uint64_t id = is_sent ? std::uint64_t{at} << 32 | number : std::uint64_t{other.location} << 32 | other.message;
    Json arrow = {{"ph", is_sent ? "s" : "f"},
                  {"id", fmt::format("{:x}", id)},
                  {"pid", location.rank},
                  {"tid", row},
                  {"ts", microseconds(location, is_sent || call.end_ns == call.begin_ns ? call.begin_ns : call.end_ns - 1, begin)},
                  {"name", "message"},
                  {"cat", "message"},
                  {"args", {{"tag", message.tag}, {"bytes", message.bytes}}}};
    if (!is_sent) arrow["bp"] = "e";
    emit(arrow);
}

void ChromeEvents::add(std::size_t at, std::uint64_t begin, const std::function<std::uint64_t(const Location&)>& row_of,
                       const std::function<void(const Json&)>& emit) const {
    const Location& location = profile_.locations[at];
    const KeptEvents& events = location.events;
    const std::uint64_t row = row_of(location);
    for (const EventPart& part : events.parts) {
        if (!chosen_.is_chosen(part)) continue;
        for (const EventSlice& slice : chosen_.slices(location, part)) {
            const bool is_creation = slice.kind == EventSlice::Kind::TaskCreation;
            Json json = {{"ph", is_creation ? "i" : "X"},
                         {"pid", location.rank},
                         {"tid", row},
                         {"ts", microseconds(location, slice.begin_ns, begin)},
                         {"dur", microseconds(location, slice.end_ns, begin) - microseconds(location, slice.begin_ns, begin)},
                         {"name", names_.name(location, slice)},
                         {"cat", names_.category(location, slice)},
                         {"args", {{"ns", slice.own_ns}}}};
            if (is_creation) {
                json.erase("dur");
                json["s"] = "t"; // drawn as high as its thread's row
            }
            if (const std::uint64_t task = task_of(events, slice); task != 0) json["args"]["task"] = task;
            add_collective(at, slice, json["args"]);
            if (is_iteration(part)) json["args"]["iteration"] = names_.iteration(part.phase, part.number);
            emit(json);
        }
    }
    for (const EventPart& part : events.parts)
        for (std::uint32_t m = part.messages_at; chosen_.is_chosen(part) && m < part.messages_at + part.messages; ++m) add_message(at, m, begin, row, emit);
}

} // namespace libprofile::tools
