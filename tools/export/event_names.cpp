#include "tools/export/event_names.hpp"

#include "tools/names/labels.hpp"
#include "tools/timeline/task_types.hpp"

#include <fmt/format.h>

namespace libprofile::tools {

std::uint64_t task_of(const KeptEvents& events, const EventSlice& slice) {
    if (slice.kind == EventSlice::Kind::TaskRun) return events.runs[slice.at].task;
    return slice.kind == EventSlice::Kind::TaskCreation ? events.tasks[slice.at].number : 0;
}

EventNames::EventNames(const Profile& profile) : profile_(profile) {
    for (const Location& location : profile.locations)
        for (std::uint32_t at = 0; at < location.events.tasks.size(); ++at)
            creations_.emplace(std::pair(location.rank, location.events.tasks[at].number), Creation{&location, at});
}

EventNames::Creation EventNames::creation(std::uint32_t rank, std::uint64_t task) const {
    const auto at = creations_.find({rank, task});
    return at == creations_.end() ? Creation{} : at->second;
}

std::uint32_t EventNames::path(const Location& location, const EventSlice& slice) const {
    const KeptEvents& events = location.events;
    switch (slice.kind) {
    case EventSlice::Kind::Interval: return events.intervals[slice.at].path;
    case EventSlice::Kind::Iteration: return 0;
    case EventSlice::Kind::TaskCreation: return events.tasks[slice.at].path;
    case EventSlice::Kind::TaskRun: break;
    }
    const TracedTaskRun& run = events.runs[slice.at];
    if (run.path < profile_.paths.size() && is_code(profile_.paths[run.path].kind)) return run.path;
    const Creation made = creation(location.rank, run.task);
    return made.location == nullptr ? 0 : made.location->events.tasks[made.at].path;
}

std::string EventNames::iteration(std::uint32_t phase, std::uint64_t number) const { return fmt::format("{} {}", profile_.phases[phase].name, number + 1); }

std::string EventNames::name(const Location& location, const EventSlice& slice) const {
    switch (slice.kind) {
    case EventSlice::Kind::Interval: return label_of(profile_, profile_.paths[path(location, slice)]).name;
    case EventSlice::Kind::Iteration: {
        const TracedInner& inner = location.events.inners[slice.at];
        return iteration(inner.phase, inner.number);
    }
    case EventSlice::Kind::TaskRun: return task_place(profile_, function_around(profile_, path(location, slice))).function;
    case EventSlice::Kind::TaskCreation: break;
    }
    return "task creation";
}

const char* EventNames::category(const Location& location, const EventSlice& slice) const {
    switch (slice.kind) {
    case EventSlice::Kind::Interval: return kind_name(profile_.paths[path(location, slice)].kind);
    case EventSlice::Kind::Iteration: return "iteration";
    case EventSlice::Kind::TaskRun: return "task";
    case EventSlice::Kind::TaskCreation: break;
    }
    return "creation";
}

} // namespace libprofile::tools
