#include "tools/analysis/clock_axis.hpp"

#include "tools/text/layout.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <optional>

namespace libprofile::tools {

namespace {

/// What to add to a monotonic clock to get that of the axis, and how exact that is.
struct Relation {
    std::int64_t offset_ns = 0;
    std::uint64_t uncertainty_ns = 0;
};

/// By ClockRecord::id, of the clocks that are on the axis.
std::map<std::uint64_t, Relation> relations(const Profile& profile) {
    std::map<std::uint64_t, Relation> known;
    for (const auto& [rank, info] : profile.ranks)
        if (info.clock && info.clock->id != 0 && info.clock->is_measured != 0)
            known.try_emplace(info.clock->id, info.clock->offset_ns, info.clock->uncertainty_ns);
    if (!known.empty()) return known;
    const auto first =
        std::find_if(profile.ranks.begin(), profile.ranks.end(), [](const auto& rank) { return rank.second.clock && rank.second.clock->id != 0; });
    if (first != profile.ranks.end()) known.emplace(first->second.clock->id, Relation{});
    return known;
}

} // namespace

ClockAxis::ClockAxis(const Profile& profile) {
    const std::map<std::uint64_t, Relation> known = relations(profile);
    std::optional<std::int64_t> first;
    std::map<std::uint32_t, std::int64_t> origins;
    for (const auto& [rank, info] : profile.ranks) {
        RankClock& clock = clocks_[rank];
        if (!info.clock) continue;
        if (info.clock->own_ns != 0 && info.clock->monotonic_ns != 0) {
            clock.own_ns = info.clock->own_ns;
            clock.monotonic_ns = info.clock->monotonic_ns;
        }
        const auto relation = known.find(info.clock->id);
        if (relation == known.end()) continue;
        clock.is_common = true;
        clock.uncertainty_ns = relation->second.uncertainty_ns;
        const std::int64_t origin = static_cast<std::int64_t>(info.clock->origin_ns) + relation->second.offset_ns; // the reader bounds both
        origins.emplace(rank, origin);
        first = std::min(first.value_or(origin), origin);
    }
    for (const auto& [rank, origin] : origins) clocks_[rank].begin_ns = static_cast<std::uint64_t>(origin - *first);
}

const ClockAxis::RankClock& ClockAxis::clock(std::uint32_t rank) const {
    static const RankClock unknown;
    const auto at = clocks_.find(rank);
    return at == clocks_.end() ? unknown : at->second;
}

std::uint64_t ClockAxis::at(std::uint32_t rank, std::uint64_t own_ns) const {
    const RankClock& known = clock(rank);
    unsigned __int128 ns = own_ns;
    if (known.own_ns != 0) ns = ns * known.monotonic_ns / known.own_ns;
    ns += known.begin_ns;
    constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    return ns > most ? most : static_cast<std::uint64_t>(ns);
}

std::vector<std::string> ClockAxis::limits() const {
    std::uint64_t uncertainty = 0, apart = 0;
    for (const auto& [rank, clock] : clocks_) {
        uncertainty = std::max(uncertainty, clock.uncertainty_ns);
        if (!clock.is_common) ++apart;
    }
    std::vector<std::string> clauses;
    if (uncertainty != 0)
        clauses.push_back(fmt::format("clocks of different machines were compared when the job ended, to {} or better; how they drifted before is not known",
                                      duration(static_cast<double>(uncertainty), {})));
    if (apart != 0 && clocks_.size() > 1)
        clauses.push_back(apart == clocks_.size()
                              ? std::string("each rank's time counts from its own start, as the profile does not have how their clocks compare")
                              : fmt::format("the time of {} of {} ranks counts from their own start, as the profile does not have how "
                                            "their clocks compare with the others'",
                                            apart, clocks_.size()));
    return clauses;
}

} // namespace libprofile::tools
