#include "tools/export/chosen_events.hpp"

#include <algorithm>

namespace libprofile::tools {

bool is_iteration(const EventPart& part) { return part.kind == PartKind::Iteration && part.phase != EventPart::no_phase; }

ChosenEvents::ChosenEvents(const Profile& profile, const TableChoice& choice)
    : profile_(profile), choice_(choice), passing_(profile, choice.events), pairs_(profile), is_message_chosen_(profile.locations.size()) {
    for (const Location* location : locations_of_choice(profile, choice)) {
        const std::size_t l = position(*location);
        std::vector<bool>& chosen = is_message_chosen_[l];
        chosen.resize(location->events.messages.size());
        for (const EventPart& part : location->events.parts)
            for (std::uint32_t m = 0; is_chosen(part) && m < part.messages; ++m)
                chosen[part.messages_at + m] = passing_.interval(l, location->events.messages[part.messages_at + m].interval);
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

/// Calls visit(kind, at, begin, end).
template <class Visit> void ChosenEvents::visit_passing(const Location& location, const EventPart& part, Visit visit) const {
    using Kind = EventSlice::Kind;
    const KeptEvents& events = location.events;
    const std::size_t l = position(location);
    for (std::uint32_t i = part.runs_at; i < part.runs_at + part.runs; ++i)
        if (passing_.run(l, i)) visit(Kind::TaskRun, i, events.runs[i].begin_ns, events.runs[i].end_ns);
    for (std::uint32_t i = part.intervals_at; i < part.intervals_at + part.intervals; ++i)
        if (passing_.interval(l, i)) visit(Kind::Interval, i, events.intervals[i].begin_ns, events.intervals[i].end_ns);
    for (std::uint32_t i = part.inners_at; i < part.inners_at + part.inners; ++i)
        if (events.inners[i].phase != EventPart::no_phase) visit(Kind::Iteration, i, events.inners[i].begin_ns, events.inners[i].end_ns);
    for (std::uint32_t i = part.tasks_at; i < part.tasks_at + part.tasks; ++i)
        if (passing_.creation(l, i)) visit(Kind::TaskCreation, i, events.tasks[i].created_ns, events.tasks[i].created_ns);
}

std::uint64_t ChosenEvents::count(const Location& location, const EventPart& part) const {
    std::uint64_t slices = 0;
    visit_passing(location, part, [&](EventSlice::Kind, std::uint32_t, std::uint64_t, std::uint64_t) { ++slices; });
    return slices;
}

std::vector<std::string> ChosenEvents::remarks() const {
    if (!passing_.is_active()) return {};
    std::uint64_t passed = 0, all = 0;
    for (const Location* location : locations_of_choice(profile_, choice_))
        for (const EventPart& part : location->events.parts) {
            if (!is_chosen(part)) continue;
            all += std::uint64_t{part.intervals} + part.runs;
            visit_passing(*location, part, [&](EventSlice::Kind kind, std::uint32_t, std::uint64_t, std::uint64_t) {
                passed += kind == EventSlice::Kind::Interval || kind == EventSlice::Kind::TaskRun ? 1 : 0;
            });
        }
    return {passing_.left_out(passed, all, "calls, regions and stretches of tasks") + "; where nothing is shown a thread was not always computing"};
}

std::vector<EventSlice> ChosenEvents::slices(const Location& location, const EventPart& part) const {
    using Kind = EventSlice::Kind;
    std::vector<EventSlice> slices;
    slices.reserve(std::size_t{part.intervals} + part.inners + part.runs + part.tasks);
    const auto add = [&](Kind kind, std::uint32_t at, std::uint64_t begin_ns, std::uint64_t end_ns) {
        slices.push_back({kind, at, begin_ns, end_ns, end_ns - std::min(begin_ns, end_ns)});
    };
    visit_passing(location, part, add);
    // A task is created before it runs, even if no time passes in between.
    std::stable_sort(slices.begin(), slices.end(), [](const EventSlice& a, const EventSlice& b) {
        if (a.begin_ns != b.begin_ns) return a.begin_ns < b.begin_ns;
        if ((a.kind == Kind::TaskCreation) != (b.kind == Kind::TaskCreation)) return a.kind == Kind::TaskCreation;
        return a.end_ns > b.end_ns;
    });
    return slices;
}

bool ChosenEvents::is_count_chosen(const Location& location, const TracedCount& count) const {
    return count.is_of_run ? passing_.run(position(location), count.event) : passing_.interval(position(location), count.event);
}

bool ChosenEvents::is_task_chosen(const Location& location, std::uint32_t at) const {
    const KeptEvents& events = location.events;
    const auto next =
        std::upper_bound(events.parts.begin(), events.parts.end(), at, [](std::uint32_t task, const EventPart& part) { return task < part.tasks_at; });
    return next != events.parts.begin() && is_chosen(*std::prev(next)) && passing_.creation(position(location), at);
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
