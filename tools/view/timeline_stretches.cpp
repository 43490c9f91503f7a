#include "tools/view/timeline_stretches.hpp"

#include "tools/analysis/iteration_values.hpp"

#include <algorithm>
#include <map>

namespace libprofile::tools {

namespace {

/// An iteration without events.
struct BareIteration {
    std::uint64_t begin_ns = 0, end_ns = 0;
    std::uint32_t data = 0; // position in Location::phases
    std::uint64_t number = 0;
    std::size_t parts_before = 0; // that have events
};

/// In the order of time.
std::vector<BareIteration> bare_iterations(const Location& location, const std::vector<ShownSpan>& shown) {
    std::vector<BareIteration> all, bare;
    for (std::uint32_t d = 0; d < location.phases.size(); ++d) {
        const PhaseData& data = location.phases[d];
        const std::size_t known = std::min(data.iteration_begin_ns.size(), data.iteration_ns.size());
        for (std::size_t i = 0; i < known; ++i) all.push_back({data.iteration_begin_ns[i], data.iteration_begin_ns[i] + data.iteration_ns[i], d, i});
    }
    std::sort(all.begin(), all.end(), [](const BareIteration& a, const BareIteration& b) {
        return a.begin_ns != b.begin_ns ? a.begin_ns < b.begin_ns : a.end_ns > b.end_ns; // outer ones first
    });
    std::size_t next = 0;
    std::uint64_t end = 0;
    for (const BareIteration& one : all) {
        if (one.begin_ns < end || one.end_ns <= one.begin_ns) continue;
        end = one.end_ns;
        const std::uint64_t middle = one.begin_ns + (one.end_ns - one.begin_ns) / 2;
        while (next < shown.size() && shown[next].end_ns <= middle) ++next;
        if (next < shown.size() && shown[next].begin_ns <= middle) continue;
        bare.push_back(one);
        bare.back().parts_before = next;
    }
    return bare;
}

void add_values(const Profile& profile, const Location& location, std::uint32_t d, const std::map<std::uint64_t, std::size_t>& stretch_of,
                std::vector<SummedStretch>& stretches) {
    const PhaseData& data = location.phases[d];
    IterationValues values(profile, location, data);
    auto wanted = stretch_of.begin();
    values.begin_with(wanted->first);
    for (std::uint64_t i = wanted->first; wanted != stretch_of.end() && values.next(); ++i) {
        if (i != wanted->first) continue;
        SummedStretch& stretch = stretches[wanted->second];
        TimelineSums sums = {};
        values.for_each([&](const MetricValues& one) { add_calls(sums, one); });
        std::uint64_t calls = 0;
        for (const std::uint64_t ns : sums) calls += ns;
        sums[0] = data.iteration_ns[i] > calls ? data.iteration_ns[i] - calls : 0;
        for (std::size_t s = 0; s < sums.size(); ++s) stretch.sums[s] += sums[s];
        stretch.is_exact = stretch.is_exact && values.is_exact();
        ++wanted;
    }
}

} // namespace

std::vector<std::vector<SummedStretch>> summed_stretches(const Profile& profile, const ChosenParts& parts, std::size_t room) {
    std::vector<std::vector<ShownSpan>> shown(profile.locations.size());
    for (std::size_t l = 0; l < shown.size(); ++l) {
        const std::vector<EventPart>& all = profile.locations[l].events.parts;
        for (std::size_t p = 0; p < all.size(); ++p)
            if (parts.is_in[l][p]) shown[l].push_back({all[p].begin_ns, all[p].end_ns});
    }
    return summed_stretches(profile, shown, room);
}

std::vector<std::vector<SummedStretch>> summed_stretches(const Profile& profile, const std::vector<std::vector<ShownSpan>>& shown, std::size_t room) {
    std::vector<std::vector<BareIteration>> bare;
    std::size_t all = 0;
    for (std::size_t l = 0; l < profile.locations.size(); ++l) {
        const Location& location = profile.locations[l];
        bare.push_back(location.events.stride == 0 && !location.left_events ? std::vector<BareIteration>() : bare_iterations(location, shown[l]));
        all += bare.back().size();
    }
    const std::size_t most = std::max<std::size_t>(1, (all + room - 1) / std::max<std::size_t>(room, 1));
    std::vector<std::vector<SummedStretch>> list;
    for (std::size_t l = 0; l < profile.locations.size(); ++l) {
        const Location& location = profile.locations[l];
        std::vector<SummedStretch>& stretches = list.emplace_back();
        std::map<std::uint32_t, std::map<std::uint64_t, std::size_t>> stretch_of; // by phase data, then number
        const BareIteration* before = nullptr;
        for (const BareIteration& one : bare[l]) {
            const bool goes_on = before != nullptr && before->data == one.data && before->number + 1 == one.number &&
                                 before->parts_before == one.parts_before && stretches.back().count < most;
            if (!goes_on) stretches.push_back({one.begin_ns, one.end_ns, location.phases[one.data].phase, one.number, 0});
            stretches.back().end_ns = one.end_ns;
            ++stretches.back().count;
            stretch_of[one.data][one.number] = stretches.size() - 1;
            before = &one;
        }
        for (const auto& [d, numbers] : stretch_of) add_values(profile, location, d, numbers, stretches);
    }
    return list;
}

} // namespace libprofile::tools
