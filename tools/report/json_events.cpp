#include "tools/report/json_events.hpp"

#include "tools/timeline/message_pairs.hpp"

namespace libprofile::tools {

namespace {

using Json = nlohmann::ordered_json;

/// A list of what `get` says of each element.
template <class T, class Get> Json column(const std::vector<T>& list, Get&& get) {
    Json values = Json::array();
    for (const T& element : list) values.push_back(get(element));
    return values;
}

Json phase_or_null(std::uint32_t phase) { return phase == EventPart::no_phase ? Json() : Json(phase); }

Json parts_json(const KeptEvents& events) {
    Json list = Json::array();
    for (const EventPart& part : events.parts) {
        Json reasons = Json::array();
        if ((part.reasons & PartHasItsTurn) != 0) reasons.push_back("turn");
        if ((part.reasons & PartIsSlow) != 0) reasons.push_back("slow");
        if ((part.reasons & PartIsFirstOfKind) != 0) reasons.push_back("first");
        list.push_back({{"kind", part.kind == PartKind::Iteration ? "iteration" : "window"},
                        {"phase", phase_or_null(part.phase)},
                        {"number", part.number + (part.kind == PartKind::Iteration ? 1 : 0)},
                        {"reasons", std::move(reasons)},
                        {"begin_ns", part.begin_ns},
                        {"end_ns", part.end_ns},
                        {"intervals", part.intervals},
                        {"messages", part.messages},
                        {"inner", part.inners}});
    }
    return list;
}

Json messages_json(const KeptEvents& events, const MessagePairs& pairs, std::size_t location) {
    Json peer = Json::array(), thread = Json::array();
    for (std::size_t i = 0; i < events.messages.size(); ++i) {
        const MessagePairs::End other = pairs.other_end(location, i);
        peer.push_back(other.is_known() ? Json(other.message) : Json());
        thread.push_back(other.is_known() ? Json(pairs.thread(other)) : Json());
    }
    return {{"interval", column(events.messages, [](const TracedMessage& m) { return m.interval; })},
            {"direction", column(events.messages, [](const TracedMessage& m) { return m.direction == MessageDirection::Sent ? "sent" : "received"; })},
            {"partner", column(events.messages, [](const TracedMessage& m) { return m.partner == TracedMessage::unknown_rank ? Json() : Json(m.partner); })},
            {"communicator", column(events.messages, [](const TracedMessage& m) { return m.communicator; })},
            {"tag", column(events.messages, [](const TracedMessage& m) { return m.tag; })},
            {"bytes", column(events.messages, [](const TracedMessage& m) { return m.bytes; })},
            {"number", column(events.messages, [](const TracedMessage& m) { return m.number == 0 ? Json() : Json(m.number); })},
            {"other_end", std::move(peer)},
            {"other_thread", std::move(thread)}};
}

} // namespace

Json events_json(const Profile& profile) {
    Json list = Json::array();
    const MessagePairs pairs(profile);
    for (std::size_t l = 0; l < profile.locations.size(); ++l) {
        const Location& location = profile.locations[l];
        const KeptEvents& events = location.events;
        if (events.stride == 0) continue;
        list.push_back({{"rank", location.rank},
                        {"thread", location.thread},
                        {"stride", events.stride},
                        {"window_ns", events.window_ns},
                        {"dropped_parts", events.dropped_parts},
                        {"too_large", events.too_large},
                        {"dropped_events", events.dropped_events},
                        {"parts", parts_json(events)},
                        {"begin_ns", column(events.intervals, [](const TracedInterval& i) { return i.begin_ns; })},
                        {"end_ns", column(events.intervals, [](const TracedInterval& i) { return i.end_ns; })},
                        {"path", column(events.intervals, [](const TracedInterval& i) { return i.path; })},
                        {"messages", messages_json(events, pairs, l)},
                        {"inner",
                         {{"begin_ns", column(events.inners, [](const TracedInner& i) { return i.begin_ns; })},
                          {"end_ns", column(events.inners, [](const TracedInner& i) { return i.end_ns; })},
                          {"phase", column(events.inners, [](const TracedInner& i) { return phase_or_null(i.phase); })},
                          {"number", column(events.inners, [](const TracedInner& i) { return i.number + 1; })}}}});
    }
    return list;
}

} // namespace libprofile::tools
