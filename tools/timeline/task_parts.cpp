#include "tools/timeline/task_parts.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace libprofile::tools {

std::vector<TaskStretch> task_stretches(const Profile& profile, std::uint32_t rank) {
    std::map<std::tuple<PartKind, std::uint32_t, std::uint64_t>, TaskStretch> by_key; // windows first, by number
    for (std::uint32_t l = 0; l < profile.locations.size(); ++l) {
        if (profile.locations[l].rank != rank) continue;
        const std::vector<EventPart>& parts = profile.locations[l].events.parts;
        for (std::uint32_t p = 0; p < parts.size(); ++p) {
            const EventPart& part = parts[p];
            const bool is_window = part.kind == PartKind::Window;
            TaskStretch& stretch = by_key[{part.kind, is_window ? EventPart::no_phase : part.phase, part.number}];
            if (stretch.parts.empty()) {
                stretch.kind = part.kind;
                stretch.phase = is_window ? EventPart::no_phase : part.phase;
                stretch.first = stretch.last = part.number;
                stretch.begin_ns = part.begin_ns;
            }
            stretch.begin_ns = std::min(stretch.begin_ns, part.begin_ns);
            stretch.parts.push_back({l, p});
        }
    }
    std::vector<TaskStretch> stretches;
    for (auto& [key, stretch] : by_key) {
        TaskStretch* before = stretches.empty() ? nullptr : &stretches.back();
        if (before != nullptr && stretch.kind == PartKind::Window && before->kind == PartKind::Window && stretch.first - before->last == 1) {
            before->last = stretch.last;
            before->begin_ns = std::min(before->begin_ns, stretch.begin_ns);
            before->parts.insert(before->parts.end(), stretch.parts.begin(), stretch.parts.end());
        } else {
            stretches.push_back(std::move(stretch));
        }
    }
    std::erase_if(stretches, [&](const TaskStretch& stretch) {
        return std::none_of(stretch.parts.begin(), stretch.parts.end(), [&](const TaskPart& at) {
            const EventPart& part = profile.locations[at.location].events.parts[at.part];
            return part.tasks != 0 || part.runs != 0;
        });
    });
    std::stable_sort(stretches.begin(), stretches.end(), [](const TaskStretch& a, const TaskStretch& b) { return a.begin_ns < b.begin_ns; });
    return stretches;
}

std::vector<TaskPart> parts_of(const std::vector<TaskStretch>& stretches) {
    std::vector<TaskPart> parts;
    for (const TaskStretch& stretch : stretches) parts.insert(parts.end(), stretch.parts.begin(), stretch.parts.end());
    return parts;
}

} // namespace libprofile::tools
