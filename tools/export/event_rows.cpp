#include "tools/export/event_rows.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace libprofile::tools {

EventRows::EventRows(const Profile& profile, const TableChoice& choice)
    : profile_(profile), chosen_(profile, choice), names_(profile), axis_(profile), collectives_(profile, axis_) {
    for (const Location* location : locations_of_choice(profile, choice)) {
        const EventPart* first = chosen_.first_part(location->events);
        if (first == nullptr) continue;
        if (location->rank > most_ranks) throw ExportError(fmt::format("rank {} is beyond what can be written", location->rank));
        locations_.push_back(location);
        begin_ = std::min(begin_, axis_.at(location->rank, first->begin_ns));
    }
    if (locations_.empty())
        throw ExportError("no events were recorded in what is chosen: run the job with LIBPROFILE_TRACE=events, or choose other ranks and iterations");
    for (const Location* location : locations_)
        for (const EventPart& part : location->events.parts)
            if (chosen_.is_chosen(part)) end_ = std::max(end_, time(*location, part.end_ns));
}

std::uint64_t EventRows::time(const Location& location, std::uint64_t own_ns) const {
    const std::uint64_t at = axis_.at(location.rank, own_ns);
    return at - std::min(at, begin_);
}

std::vector<std::string> EventRows::remarks() const {
    std::vector<std::string> list = chosen_.remarks();
    for (std::string& limit : axis_.limits()) list.push_back(std::move(limit));
    return list;
}

std::string EventRows::host(std::uint32_t rank) const {
    const auto info = profile_.ranks.find(rank);
    return info == profile_.ranks.end() || info->second.host.empty() ? "unknown host" : info->second.host;
}

std::uint64_t EventRows::pair(const Location& location, const TracedMessage& message) const {
    const auto number = static_cast<std::uint32_t>(&message - location.events.messages.data());
    const MessagePairs::End other = chosen_.other_end(position(location), number);
    if (!other.is_known()) return 0;
    const bool is_sent = message.direction == MessageDirection::Sent;
    return (is_sent ? std::uint64_t{position(location)} << 32 | number : std::uint64_t{other.location} << 32 | other.message) + 1;
}

const CollectiveOperation* EventRows::collective(const Location& location, const EventSlice& slice) const {
    return slice.kind == EventSlice::Kind::Interval ? collectives_.of(position(location), slice.at) : nullptr;
}

std::uint64_t EventRows::until_last(const Location& location, const EventSlice& slice, const CollectiveOperation& operation) const {
    return operation.last().begin_ns - axis_.at(location.rank, location.events.intervals[slice.at].begin_ns);
}

const Location* EventRows::creator(std::uint32_t rank, std::uint64_t task) const {
    const EventNames::Creation creation = names_.creation(rank, task);
    if (creation.location == nullptr || !std::binary_search(locations_.begin(), locations_.end(), creation.location)) return nullptr;
    return chosen_.is_task_chosen(*creation.location, creation.at) ? creation.location : nullptr;
}

} // namespace libprofile::tools
