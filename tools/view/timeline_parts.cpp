#include "tools/view/timeline_parts.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <tuple>

namespace libprofile::tools {

namespace {

/// The same part on all threads.
struct PartGroup {
    std::uint64_t number = 0, threads = 0, bytes = 0, events = 0;
    bool is_in = false;
};

auto key_of(const EventPart& part) { return std::tuple(part.kind, part.phase, part.number); }

/// How coarse a stride may be that keeps this number.
int coarseness(std::uint64_t number) { return number == 0 ? 64 : std::countr_zero(number); }

} // namespace

std::uint64_t event_bytes_of(const EventPart& part) {
    return 12 + std::uint64_t{7} * part.intervals + std::uint64_t{12} * part.messages + std::uint64_t{8} * part.inners + std::uint64_t{20} * part.tasks +
           std::uint64_t{8} * part.runs;
}

ChosenParts choose_parts(const Profile& profile, std::uint64_t room) {
    std::map<std::tuple<PartKind, std::uint32_t, std::uint64_t>, PartGroup> groups;
    for (const Location& location : profile.locations)
        for (const EventPart& part : location.events.parts) {
            PartGroup& group = groups[key_of(part)];
            group.number = part.number;
            ++group.threads;
            group.bytes += event_bytes_of(part);
            group.events += std::uint64_t{part.intervals} + part.messages + part.inners + part.tasks + part.runs;
        }
    std::vector<PartGroup*> order;
    for (auto& [key, group] : groups) order.push_back(&group);
    std::stable_sort(order.begin(), order.end(), [](const PartGroup* a, const PartGroup* b) {
        if (a->threads != b->threads) return a->threads > b->threads;
        return coarseness(a->number) > coarseness(b->number);
    });
    ChosenParts chosen;
    chosen.all = groups.size();
    for (PartGroup* group : order) {
        group->is_in = group->bytes <= room;
        if (group->is_in)
            room -= group->bytes;
        else {
            ++chosen.left_out;
            chosen.events_left_out += group->events;
        }
    }
    for (const Location& location : profile.locations) {
        std::vector<bool>& is_in = chosen.is_in.emplace_back();
        for (const EventPart& part : location.events.parts) is_in.push_back(groups[key_of(part)].is_in);
    }
    return chosen;
}

} // namespace libprofile::tools
