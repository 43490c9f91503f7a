#include "tools/reader/loop_phases.hpp"

#include "tools/reader/same_module.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>

namespace libprofile::tools {

namespace {

/// A phase that was made of a loop.
struct LoopPhase {
    const FoundLoop* loop = nullptr;  // of its first rank; what others saw of it is much the same
    std::vector<std::uint32_t> ranks; // that have the phase, in order
    std::uint32_t becomes = 0;
};

constexpr std::uint32_t no_phase = 0xffffffffu;

std::vector<LoopPhase> loop_phases(const Profile& profile) {
    std::vector<LoopPhase> phases(profile.phases.size());
    for (const Location& location : profile.locations) {
        for (const PhaseData& data : location.phases) {
            std::vector<std::uint32_t>& ranks = phases[data.phase].ranks;
            if (ranks.empty() || ranks.back() != location.rank) ranks.push_back(location.rank);
        }
        if (!location.loop_search) continue;
        for (const FoundLoop& loop : location.loop_search->loops)
            for (std::uint32_t p = 0; p < phases.size(); ++p)
                if (phases[p].loop == nullptr && profile.phases[p].kind == PhaseKind::Iterations && profile.phases[p].name == loop.recorded_as)
                    phases[p].loop = &loop;
    }
    return phases;
}

bool ran_together(const FoundLoop& a, const FoundLoop& b) {
    const std::uint64_t from = std::max(a.first_ns, b.first_ns), to = std::min(a.last_ns, b.last_ns);
    const std::uint64_t shorter = std::min(a.last_ns - std::min(a.first_ns, a.last_ns), b.last_ns - std::min(b.first_ns, b.last_ns));
    return from < to && to - from > shorter / 2;
}

bool is_same_loop(const LoopPhase& a, const LoopPhase& b) {
    const FoundLoop &one = *a.loop, &other = *b.loop;
    if (one.function == 0 || one.function != other.function || one.caller != other.caller || !is_same_module(one.module, other.module)) return false;
    if (one.is(LoopIsReplaced) != other.is(LoopIsReplaced) || !ran_together(one, other)) return false;
    std::vector<std::uint32_t> both;
    std::set_intersection(a.ranks.begin(), a.ranks.end(), b.ranks.begin(), b.ranks.end(), std::back_inserter(both));
    return both.empty();
}

} // namespace

void rename_loop_phase(Profile& profile, std::uint32_t phase, const std::string& name) {
    const std::vector<std::string>& recorded = profile.phases[phase].recorded_as;
    for (Location& location : profile.locations)
        if (location.loop_search)
            for (FoundLoop& loop : location.loop_search->loops)
                if (std::find(recorded.begin(), recorded.end(), loop.recorded_as) != recorded.end()) loop.phase = name;
    profile.phases[phase].name = name;
}

namespace {

/// By the time of all ranks together.
void mark_frames(Profile& profile) {
    const auto number_of = [&](const std::string& recorded_as) {
        std::uint32_t p = 0;
        while (p < profile.phases.size() && (profile.phases[p].kind != PhaseKind::Iterations || !profile.phases[p].is_called(recorded_as))) ++p;
        return p;
    };
    std::vector<std::uint64_t> time(profile.phases.size());
    for (const Location& location : profile.locations)
        for (const PhaseData& data : location.phases) time[data.phase] += data.wall_inclusive_ns;
    for (const Location& location : profile.locations) {
        if (!location.loop_search) continue;
        for (const FoundLoop& loop : location.loop_search->loops) {
            const std::uint32_t inner = number_of(loop.recorded_as), outer = loop.around.empty() ? no_phase : number_of(loop.around);
            if (outer < time.size() && inner < time.size() && inner != outer && is_frame_of(time[inner], time[outer])) profile.phases[outer].is_frame = true;
        }
    }
}

} // namespace

void unite_loops(Profile& profile) {
    std::vector<LoopPhase> phases = loop_phases(profile);
    std::vector<std::uint32_t> order; // of loops, those of most ranks first
    for (std::uint32_t p = 0; p < phases.size(); ++p) {
        phases[p].becomes = p;
        if (phases[p].loop == nullptr) continue;
        order.push_back(p);
        profile.phases[p].recorded_as = {profile.phases[p].name};
    }
    if (order.empty()) return;
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return phases[a].ranks.size() > phases[b].ranks.size(); });
    for (std::size_t i = 1; i < order.size(); ++i) {
        LoopPhase& phase = phases[order[i]];
        const auto same = std::find_if(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(i),
                                       [&](std::uint32_t p) { return phases[p].becomes == p && is_same_loop(phases[p], phase); });
        if (same == order.begin() + static_cast<std::ptrdiff_t>(i)) continue;
        phase.becomes = *same;
        profile.phases[*same].recorded_as.push_back(profile.phases[order[i]].name);
        std::vector<std::uint32_t> ranks;
        std::merge(phases[*same].ranks.begin(), phases[*same].ranks.end(), phase.ranks.begin(), phase.ranks.end(), std::back_inserter(ranks));
        phases[*same].ranks = std::move(ranks);
    }
    std::vector<std::uint32_t> number(phases.size(), no_phase);
    std::vector<Phase> left;
    for (std::uint32_t p = 0; p < phases.size(); ++p) {
        if (phases[p].becomes != p) continue;
        number[p] = static_cast<std::uint32_t>(left.size());
        left.push_back(std::move(profile.phases[p]));
    }
    profile.phases = std::move(left);
    for (Location& location : profile.locations) {
        renumber_phases(location, [&](std::uint32_t phase) { return number[phases[phase].becomes]; });
        std::sort(location.phases.begin(), location.phases.end(), [](const PhaseData& a, const PhaseData& b) { return a.phase < b.phase; });
    }
    for (std::uint32_t p = 0; p < profile.phases.size(); ++p)
        if (!profile.phases[p].recorded_as.empty()) rename_loop_phase(profile, p, profile.phases[p].name);
    mark_frames(profile);
}

} // namespace libprofile::tools
