#include "tools/export/chosen_events.hpp"

#include "tools/export/call_table.hpp"

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
    std::vector<EventSlice> slices;
    slices.reserve(part.intervals + part.inners);
    for (std::uint32_t i = part.intervals_at; i < part.intervals_at + part.intervals; ++i)
        slices.push_back({events.intervals[i].begin_ns, events.intervals[i].end_ns, i});
    for (std::uint32_t i = part.inners_at; i < part.inners_at + part.inners; ++i) {
        const TracedInner& inner = events.inners[i];
        if (inner.phase != EventPart::no_phase) slices.push_back({inner.begin_ns, inner.end_ns, EventSlice::no_interval, inner.phase, inner.number});
    }
    std::stable_sort(slices.begin(), slices.end(),
                     [](const EventSlice& a, const EventSlice& b) { return a.begin_ns != b.begin_ns ? a.begin_ns < b.begin_ns : a.end_ns > b.end_ns; });
    return slices;
}

MessagePairs::End ChosenEvents::other_end(std::size_t location, std::size_t message) const {
    const MessagePairs::End other = pairs_.other_end(location, message);
    if (!other.is_known()) return {};
    const std::vector<bool>& chosen = is_message_chosen_[other.location];
    return other.message < chosen.size() && chosen[other.message] ? other : MessagePairs::End{};
}

} // namespace libprofile::tools
