#include "tools/export/chrome_events.hpp"

#include "tools/names/labels.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace libprofile::tools {

namespace {

struct Slice {
    std::uint64_t begin, end;
    std::string name;
    const char* category;
    std::string part;
};

} // namespace

ChromeEvents::ChromeEvents(const Profile& profile, const TableChoice& choice, const ClockAxis& axis)
    : profile_(profile), choice_(choice), axis_(axis), pairs_(profile), is_message_chosen_(profile.locations.size()) {
    for (const Location* location : locations_of_choice(profile, choice)) {
        std::vector<bool>& chosen = is_message_chosen_[static_cast<std::size_t>(location - profile.locations.data())];
        chosen.resize(location->events.messages.size());
        for (const EventPart& part : location->events.parts)
            for (std::uint32_t m = 0; is_chosen(part) && m < part.messages; ++m) chosen[part.messages_at + m] = true;
    }
}

bool ChromeEvents::is_chosen(const EventPart& part) const {
    const bool is_iteration = part.kind == PartKind::Iteration && part.phase != EventPart::no_phase;
    if (choice_.has_phase && (!is_iteration || !profile_.phases[part.phase].is_called(choice_.phase))) return false;
    return !choice_.iterations || (is_iteration && part.number >= choice_.iterations->first && part.number <= choice_.iterations->last);
}

std::uint64_t ChromeEvents::slices(const Location& location) const {
    std::uint64_t count = 0;
    for (const EventPart& part : location.events.parts)
        if (is_chosen(part)) count += part.intervals + part.inners;
    return count;
}

std::uint64_t ChromeEvents::first_begin(const Location& location) const {
    for (const EventPart& part : location.events.parts)
        if (is_chosen(part)) return axis_.at(location.rank, part.begin_ns);
    return ~std::uint64_t{0};
}

/// Events before the first one of all have times below 0.
double ChromeEvents::microseconds(const Location& location, std::uint64_t own_ns, std::uint64_t begin) const {
    return static_cast<double>(static_cast<std::int64_t>(axis_.at(location.rank, own_ns) - begin)) / 1e3;
}

void ChromeEvents::add_message(std::size_t at, std::size_t number, std::uint64_t begin, std::uint64_t row, const std::function<void(const Json&)>& emit) const {
    const Location& location = profile_.locations[at];
    const TracedMessage& message = location.events.messages[number];
    const MessagePairs::End other = pairs_.other_end(at, number);
    if (!other.is_known()) return;
    const std::vector<bool>& chosen = is_message_chosen_[other.location];
    if (other.message >= chosen.size() || !chosen[other.message]) return; // an arrow to nowhere
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
    std::vector<Slice> slices;
    for (const EventPart& part : events.parts) {
        if (!is_chosen(part)) continue;
        const bool is_iteration = part.kind == PartKind::Iteration && part.phase != EventPart::no_phase;
        const std::string where = is_iteration ? fmt::format("{} {}", profile_.phases[part.phase].name, part.number + 1) : "";
        for (std::uint32_t i = part.intervals_at; i < part.intervals_at + part.intervals; ++i) {
            const TracedInterval& interval = events.intervals[i];
            const CallPath& path = profile_.paths[interval.path];
            slices.push_back({interval.begin_ns, interval.end_ns, label_of(profile_, path).name, kind_name(path.kind), where});
        }
        for (std::uint32_t i = part.inners_at; i < part.inners_at + part.inners; ++i) {
            const TracedInner& inner = events.inners[i];
            if (inner.phase == EventPart::no_phase) continue;
            slices.push_back({inner.begin_ns, inner.end_ns, fmt::format("{} {}", profile_.phases[inner.phase].name, inner.number + 1), "iteration", where});
        }
    }
    std::stable_sort(slices.begin(), slices.end(), [](const Slice& a, const Slice& b) {
        return a.begin != b.begin ? a.begin < b.begin : a.end > b.end; // what lies inside another one comes after it
    });
    for (const Slice& slice : slices) {
        Json json = {{"ph", "X"},
                     {"pid", location.rank},
                     {"tid", row},
                     {"ts", microseconds(location, slice.begin, begin)},
                     {"dur", microseconds(location, slice.end, begin) - microseconds(location, slice.begin, begin)},
                     {"name", slice.name},
                     {"cat", slice.category},
                     {"args", {{"ns", slice.end - slice.begin}}}};
        if (!slice.part.empty()) json["args"]["iteration"] = slice.part;
        emit(json);
    }
    for (const EventPart& part : events.parts)
        for (std::uint32_t m = part.messages_at; is_chosen(part) && m < part.messages_at + part.messages; ++m) add_message(at, m, begin, row, emit);
}

} // namespace libprofile::tools
