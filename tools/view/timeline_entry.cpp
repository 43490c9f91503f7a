#include "tools/view/timeline_entry.hpp"

#include "tools/text/layout.hpp"
#include "tools/view/task_columns.hpp"
#include "tools/view/timeline_columns.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <optional>

namespace libprofile::tools {

namespace {

using Json = nlohmann::ordered_json;

bool has_events(const Profile& profile) {
    return std::any_of(profile.locations.begin(), profile.locations.end(), [](const Location& location) { return location.events.stride != 0; });
}

std::uint64_t room_for_all(const Profile& profile) {
    std::uint64_t sum = 0;
    for (const Location& location : profile.locations)
        for (const EventPart& part : location.events.parts) sum += event_bytes_of(part);
    return sum;
}

/// What was not kept, and what the page leaves out: sentences without a full stop.
Json notes(const Profile& profile, const ChosenParts& chosen, std::size_t stretches, std::size_t most_bytes, bool served) {
    std::uint64_t stride = 1, dropped = 0, events = 0;
    for (const Location& location : profile.locations) {
        stride = std::max(stride, location.events.stride);
        dropped += location.events.dropped_parts;
        events += location.events.dropped_events;
    }
    Json list = Json::array();
    if (dropped != 0)
        list.push_back(
            fmt::format("the job kept the events of one iteration in {}, from the first on, of each rank's slowest ones and of the first of each kind; "
                        "{} other events are not there, and a larger LIBPROFILE_TRACE_MEMORY keeps more",
                        stride, count(static_cast<double>(events))));
    if (chosen.left_out != 0)
        list.push_back(fmt::format("{} of {} kept parts with {} events are not in this page, which has room for {}; libprofile {}",
                                   count(static_cast<double>(chosen.left_out)), count(static_cast<double>(chosen.all)),
                                   count(static_cast<double>(chosen.events_left_out)), byte_size(static_cast<double>(most_bytes)),
                                   served ? "report --format json --trace has all" : "view --serve shows more"));
    if (stretches != 0) list.push_back("iterations without events have stripes of lighter colours: their sums are known, not the order of what they did");
    return list;
}

} // namespace

Json timeline_entry(const Profile& profile, const ClockAxis& axis, const PageTables& tables, std::size_t most_bytes, bool served, Sections& sections) {
    if (!has_events(profile)) return nullptr;
    const MessagePairs pairs(profile);
    std::uint64_t room = room_for_all(profile);
    ChosenParts chosen;
    std::vector<std::vector<SummedStretch>> stretches;
    std::optional<NamedColumns> columns;
    std::optional<TimelineColumns> events;
    std::optional<CollectiveColumns> collectives;
    std::optional<CounterColumns> counters;
    std::optional<TaskColumns> tasks;
    std::size_t most = most_stretches;
    for (;;) {
        chosen = choose_parts(profile, room);
        stretches = summed_stretches(profile, chosen, most);
        columns.emplace();
        events.emplace(profile, tables, pairs, chosen, stretches, *columns);
        collectives.emplace(profile, axis, *events, *columns);
        counters.emplace(profile, chosen, *columns);
        tasks.emplace(profile, tables, chosen, *columns);
        columns->compress();
        if (columns->bytes() <= most_bytes || (room == 0 && most <= 1)) break;
        // What is there shrinks faster than its room: sums of what was left out come in its place.
        const double part = 0.85 * static_cast<double>(most_bytes) / static_cast<double>(columns->bytes());
        room = room < 1000 ? 0 : static_cast<std::uint64_t>(static_cast<double>(room) * part);
        if (room == 0) most /= 4;
    }

    std::uint64_t end = 0;
    std::size_t all_stretches = 0;
    for (std::size_t l = 0; l < profile.locations.size(); ++l) {
        const Location& one = profile.locations[l];
        all_stretches += stretches[l].size();
        for (std::size_t p = 0; p < one.events.parts.size(); ++p)
            if (chosen.is_in[l][p]) end = std::max(end, axis.at(one.rank, one.events.parts[p].end_ns));
        for (const SummedStretch& stretch : stretches[l]) end = std::max(end, axis.at(one.rank, stretch.end_ns));
    }
    Json entry = timeline_lists(profile, axis, *columns, *events, *collectives, &*counters, &*tasks, chosen.left_out == 0, sections);
    entry["end"] = end;
    entry["notes"] = notes(profile, chosen, all_stretches, most_bytes, served);
    return entry;
}

Json timeline_lists(const Profile& profile, const ClockAxis& axis, const NamedColumns& columns, const TimelineColumns& events,
                    const CollectiveColumns& collectives, const CounterColumns* counters, const TaskColumns* tasks, bool has_all, Sections& sections) {
    Json parts = Json::array(), intervals = Json::array(), messages = Json::array(), inners = Json::array(), summed = Json::array(), begin = Json::array(),
         own = Json::array(), scaled = Json::array(), complete = Json::array(), states = Json::array(), created = Json::array(), runs = Json::array();
    for (std::size_t l = 0; l < profile.locations.size(); ++l) {
        const Location& one = profile.locations[l];
        const TimelineColumns::Counts& counts = events.counts()[l];
        const ClockAxis::RankClock& clock = axis.clock(one.rank);
        parts.push_back(counts.parts);
        intervals.push_back(counts.intervals);
        messages.push_back(counts.messages);
        inners.push_back(counts.inners);
        summed.push_back(counts.stretches);
        created.push_back(tasks == nullptr ? 0 : tasks->counts()[l].tasks);
        runs.push_back(tasks == nullptr ? 0 : tasks->counts()[l].runs);
        begin.push_back(clock.begin_ns);
        own.push_back(clock.own_ns == 0 ? 1 : clock.own_ns);
        scaled.push_back(clock.own_ns == 0 ? 1 : clock.monotonic_ns);
        // Then nothing happened between two parts: the runtime makes none of a short time without events.
        complete.push_back(one.events.dropped_parts == 0 && has_all);
    }
    for (const TimelineStateName& state : timeline_state_names) states.push_back({{"key", state.key}, {"name", state.name}});
    Json entry = {{"states", states},
                  {"communicators", collectives.communicators()},
                  {"counters", counters == nullptr ? Json::array() : counters->counters()},
                  {"types", tasks == nullptr ? Json::array() : tasks->types()},
                  {"rows",
                   {{"parts", parts},
                    {"intervals", intervals},
                    {"messages", messages},
                    {"collectives", collectives.counts()},
                    {"counts", counters == nullptr ? std::vector<std::size_t>() : counters->counts()},
                    {"inners", inners},
                    {"stretches", summed},
                    {"tasks", created},
                    {"runs", runs},
                    {"begin", begin},
                    {"own", own},
                    {"axis", scaled},
                    {"complete", complete}}}};
    entry.update(columns.add_to(sections));
    return entry;
}

} // namespace libprofile::tools
