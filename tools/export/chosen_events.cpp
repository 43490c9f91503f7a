#include "tools/export/chosen_events.hpp"

#include <algorithm>

namespace libprofile::tools {

bool is_iteration(const EventPart& part) { return part.kind == PartKind::Iteration && part.phase != EventPart::no_phase; }

ChosenEvents::ChosenEvents(const Profile& profile, const TableChoice& choice)
    : profile_(profile), choice_(choice), pairs_(profile), is_message_chosen_(profile.locations.size()) {
    for (const Location* location : locations_of_choice(profile, choice)) {
        std::vector<bool>& chosen = is_message_chosen_[static_cast<std::size_t>(location - profile.locations.data())];
        chosen.resize(location->events.messages.size());
        for (const EventPart& part : location->events.parts)
            for (std::uint32_t m = 0; is_chosen(part) && m < part.messages; ++m) chosen[part.messages_at + m] = true;
    }
}

bool ChosenEvents::is_chosen(const EventPart& part) const {
    if (choice_.has_phase && (!is_iteration(part) || !profile_.phases[part.phase].is_called(choice_.phase))) return false;
    return !choice_.iterations || (is_iteration(part) && part.number >= choice_.iterations->first && part.number <= choice_.iterations->last);
}

const EventPart* ChosenEvents::first_part(const KeptEvents& events) const {
    const auto first = std::find_if(events.parts.begin(), events.parts.end(), [&](const EventPart& part) { return is_chosen(part); });
    return first == events.parts.end() ? nullptr : &*first;
}

std::vector<EventSlice> ChosenEvents::slices(const KeptEvents& events, const EventPart& part) const {
    using Kind = EventSlice::Kind;
    std::vector<EventSlice> slices;
    slices.reserve(std::size_t{part.intervals} + part.inners + part.runs + part.tasks);
    const auto add = [&](Kind kind, std::uint32_t at, std::uint64_t begin_ns, std::uint64_t end_ns) {
        slices.push_back({kind, at, begin_ns, end_ns, end_ns - std::min(begin_ns, end_ns)});
    };
    for (std::uint32_t i = part.runs_at; i < part.runs_at + part.runs; ++i) add(Kind::TaskRun, i, events.runs[i].begin_ns, events.runs[i].end_ns);
    for (std::uint32_t i = part.intervals_at; i < part.intervals_at + part.intervals; ++i)
        add(Kind::Interval, i, events.intervals[i].begin_ns, events.intervals[i].end_ns);
    for (std::uint32_t i = part.inners_at; i < part.inners_at + part.inners; ++i)
        if (events.inners[i].phase != EventPart::no_phase) add(Kind::Iteration, i, events.inners[i].begin_ns, events.inners[i].end_ns);
    for (std::uint32_t i = part.tasks_at; i < part.tasks_at + part.tasks; ++i)
        add(Kind::TaskCreation, i, events.tasks[i].created_ns, events.tasks[i].created_ns);
    // A task is created before it runs, even if no time passes in between.
    std::stable_sort(slices.begin(), slices.end(), [](const EventSlice& a, const EventSlice& b) {
        if (a.begin_ns != b.begin_ns) return a.begin_ns < b.begin_ns;
        if ((a.kind == Kind::TaskCreation) != (b.kind == Kind::TaskCreation)) return a.kind == Kind::TaskCreation;
        return a.end_ns > b.end_ns;
    });
    return slices;
}

bool ChosenEvents::is_task_chosen(const KeptEvents& events, std::uint32_t at) const {
    const auto next =
        std::upper_bound(events.parts.begin(), events.parts.end(), at, [](std::uint32_t task, const EventPart& part) { return task < part.tasks_at; });
    return next != events.parts.begin() && is_chosen(*std::prev(next));
}

std::span<const TracedMessage> ChosenEvents::messages(const KeptEvents& events, const EventSlice& slice) {
    if (slice.kind != EventSlice::Kind::Interval) return {};
    struct ByInterval {
        bool operator()(const TracedMessage& message, std::uint32_t interval) const { return message.interval < interval; }
        bool operator()(std::uint32_t interval, const TracedMessage& message) const { return interval < message.interval; }
    };
    const auto [first, last] = std::equal_range(events.messages.begin(), events.messages.end(), slice.at, ByInterval{});
    return {first, last};
}

MessagePairs::End ChosenEvents::other_end(std::size_t location, std::size_t message) const {
    const MessagePairs::End other = pairs_.other_end(location, message);
    if (!other.is_known()) return {};
    const std::vector<bool>& chosen = is_message_chosen_[other.location];
    return other.message < chosen.size() && chosen[other.message] ? other : MessagePairs::End{};
}

} // namespace libprofile::tools
