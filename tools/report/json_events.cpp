#include "tools/report/json_events.hpp"

#include "tools/names/labels.hpp"
#include "tools/reader/counters.hpp"
#include "tools/timeline/message_pairs.hpp"

#include <optional>
#include <set>

namespace libprofile::tools {

namespace {

using Json = nlohmann::ordered_json;

/// A list of what `get` says of each element.
template <class T, class Get> Json column(const std::vector<T>& list, Get&& get) {
    Json values = Json::array();
    for (const T& element : list) values.push_back(get(element));
    return values;
}

Json processor_or_null(std::uint16_t processor) { return processor == no_processor ? Json() : Json(processor); }

Json counts_json(const Profile& profile, const Location& location) {
    const std::vector<TracedCount>& counts = location.events.counts;
    const std::vector<std::string> names = counter_names(profile, location.rank);
    return {{"of", column(counts, [](const TracedCount& c) { return c.is_of_run ? "run" : "interval"; })},
            {"event", column(counts, [](const TracedCount& c) { return c.event; })},
            {"counter", column(counts, [&](const TracedCount& c) { return c.counter < names.size() ? Json(names[c.counter]) : Json(); })},
            {"begin", column(counts, [](const TracedCount& c) { return c.begin; })},
            {"end", column(counts, [](const TracedCount& c) { return c.end; })}};
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
                        {"collectives", part.collectives},
                        {"inner", part.inners},
                        {"tasks", part.tasks},
                        {"runs", part.runs},
                        {"groups", part.groups},
                        {"counts", part.counts}});
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

const char* name_of(TaskDependence kind) {
    switch (kind) {
    case TaskDependence::In: return "in";
    case TaskDependence::Out: return "out";
    case TaskDependence::InOut: return "inout";
    case TaskDependence::MutexInOutSet: return "mutexinoutset";
    case TaskDependence::InOutSet: return "inoutset";
    }
    return "";
}

Json flags_json(std::uint8_t flags) {
    Json words = Json::array();
    if ((flags & TaskIsUndeferred) != 0) words.push_back("undeferred");
    if ((flags & TaskIsFinal) != 0) words.push_back("final");
    if ((flags & TaskIsUntied) != 0) words.push_back("untied");
    if ((flags & TaskIsOfLoop) != 0) words.push_back("taskloop");
    return words;
}

/// Those of tasks, and what is around them: no value may be booked for them, so that no phase lists them.
Json paths_json(const Profile& profile, const KeptEvents& events) {
    std::set<std::uint32_t> used;
    const auto add = [&](const auto& list) {
        for (const auto& event : list)
            for (std::uint32_t path = event.path; path != 0 && used.insert(path).second;) path = profile.paths[path].parent;
    };
    add(events.tasks);
    add(events.runs);
    Json list = Json::array();
    for (const std::uint32_t path : used) {
        const Label label = label_of(profile, profile.paths[path]);
        const std::uint32_t parent = profile.paths[path].parent;
        list.push_back({{"id", path},
                        {"parent", parent == 0 ? Json() : Json(parent)},
                        {"name", label.name},
                        {"file", label.file},
                        {"line", label.line},
                        {"module", label.module}});
    }
    return list;
}

Json tasks_json(const Profile& profile, const Location& location) {
    const KeptEvents& events = location.events;
    const auto rank = profile.ranks.find(location.rank);
    const auto node = [&](const TracedDependence& d) {
        const std::optional<std::uint32_t> known = rank != profile.ranks.end() && rank->second.pages ? rank->second.pages->node_of(d.address) : std::nullopt;
        return known ? Json(*known) : Json();
    };
    Json task = Json::array();
    for (std::size_t i = 0; i < events.tasks.size(); ++i)
        for (std::uint32_t d = 0; d < events.tasks[i].dependences; ++d) task.push_back(i);
    return {{"number", column(events.tasks, [](const TracedTask& t) { return t.number; })},
            {"creator", column(events.tasks, [](const TracedTask& t) { return t.creator; })},
            {"created_ns", column(events.tasks, [](const TracedTask& t) { return t.created_ns; })},
            {"path", column(events.tasks, [](const TracedTask& t) { return t.path; })},
            {"flags", column(events.tasks, [](const TracedTask& t) { return flags_json(t.flags); })},
            {"dependences",
             {{"task", std::move(task)},
              {"kind", column(events.dependences, [](const TracedDependence& d) { return name_of(d.kind); })},
              {"address", column(events.dependences, [](const TracedDependence& d) { return d.address; })},
              {"node", column(events.dependences, node)}}},
            {"runs",
             {{"task", column(events.runs, [](const TracedTaskRun& r) { return r.task; })},
              {"begin_ns", column(events.runs, [](const TracedTaskRun& r) { return r.begin_ns; })},
              {"end_ns", column(events.runs, [](const TracedTaskRun& r) { return r.end_ns; })},
              {"path", column(events.runs, [](const TracedTaskRun& r) { return r.path; })},
              {"is_over", column(events.runs, [](const TracedTaskRun& r) { return r.is_over; })},
              {"is_resumed", column(events.runs, [](const TracedTaskRun& r) { return r.is_resumed; })},
              {"processor", column(events.runs, [](const TracedTaskRun& r) { return processor_or_null(r.processor); })}}},
            {"groups",
             {{"task", column(events.groups, [](const TracedTaskGroup& g) { return g.task; })},
              {"begin_ns", column(events.groups, [](const TracedTaskGroup& g) { return g.begin_ns; })},
              {"end_ns", column(events.groups, [](const TracedTaskGroup& g) { return g.end_ns; })}}},
            {"call_paths", paths_json(profile, events)}};
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
                        {"processor", column(events.intervals, [](const TracedInterval& i) { return processor_or_null(i.processor); })},
                        {"counts", counts_json(profile, location)},
                        {"messages", messages_json(events, pairs, l)},
                        {"collectives",
                         {{"interval", column(events.collectives, [](const TracedCollective& c) { return c.interval; })},
                          {"communicator", column(events.collectives, [](const TracedCollective& c) { return c.communicator; })},
                          {"number", column(events.collectives, [](const TracedCollective& c) { return c.number; })}}},
                        {"inner",
                         {{"begin_ns", column(events.inners, [](const TracedInner& i) { return i.begin_ns; })},
                          {"end_ns", column(events.inners, [](const TracedInner& i) { return i.end_ns; })},
                          {"phase", column(events.inners, [](const TracedInner& i) { return phase_or_null(i.phase); })},
                          {"number", column(events.inners, [](const TracedInner& i) { return i.number + 1; })}}},
                        {"tasks", tasks_json(profile, location)}});
    }
    return list;
}

Json pages_json(const Profile& profile) {
    Json list = Json::array();
    for (const auto& [number, rank] : profile.ranks) {
        if (!rank.pages) continue;
        Json ranges = Json::array();
        for (const PageNodes::Range& range : rank.pages->ranges) ranges.push_back({{"begin", range.begin}, {"end", range.end}, {"node", range.node}});
        list.push_back({{"rank", number},
                        {"page_size", rank.pages->page_size},
                        {"error", rank.pages->error},
                        {"unknown", rank.pages->unknown},
                        {"left_out", rank.pages->left_out},
                        {"asked", rank.pages->asked},
                        {"asked_ns", rank.pages->asked_ns},
                        {"ranges", std::move(ranges)}});
    }
    return list;
}

} // namespace libprofile::tools
