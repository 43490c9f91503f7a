#include "tools/export/iteration_begins.hpp"

#include <algorithm>
#include <map>
#include <numeric>

namespace libprofile::tools {

namespace {

using Begins = std::vector<std::vector<std::uint64_t>>;

constexpr std::size_t most_levels = 64; // as many phases can be open

/// By Profile's number of a phase its position in location.phases.
std::map<std::uint32_t, std::size_t> positions_of(const Location& location) {
    std::map<std::uint32_t, std::size_t> positions;
    for (std::size_t i = 0; i < location.phases.size(); ++i) positions.emplace(location.phases[i].phase, i);
    return positions;
}

/// Calls `visit(inner, entry)` for what lies in iterations of `data`; `inner`: position in location.phases.
template <class Visit> void for_each_inside(const std::map<std::uint32_t, std::size_t>& positions, const PhaseData& data, Visit visit) {
    if (!data.inside) return;
    for (const InsideData::Entry& entry : data.inside->entries) {
        const auto inner = positions.find(entry.phase);
        if (inner != positions.end() && entry.iteration < data.iteration_ns.size()) visit(inner->second, entry);
    }
}

/// Positions of location.phases, those around before those inside.
std::vector<std::size_t> outermost_first(const Location& location, const std::map<std::uint32_t, std::size_t>& positions) {
    std::vector<std::size_t> order(location.phases.size()), depth(order.size());
    std::iota(order.begin(), order.end(), 0u);
    bool has_changed = true;
    for (std::size_t round = 0; has_changed && round < most_levels; ++round) { // phases may lie in each other, in one iteration or another
        has_changed = false;
        for (std::size_t outer = 0; outer < order.size(); ++outer)
            for_each_inside(positions, location.phases[outer], [&](std::size_t inner, const InsideData::Entry&) {
                if (depth[inner] > depth[outer]) return;
                depth[inner] = depth[outer] + 1;
                has_changed = true;
            });
    }
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return depth[a] < depth[b]; });
    return order;
}

/// Each phase has its begins to a 1,024th of a gap, so iterations may seem to lie a little outside of the one that they are in: moves them into it.
void keep_inside(std::uint64_t begin, std::uint64_t wall, const InsideData::Entry& entry, const std::vector<std::uint64_t>& times,
                 std::vector<std::uint64_t>& begins) {
    const std::uint64_t last = std::min<std::uint64_t>(times.size(), entry.first + std::min<std::uint64_t>(entry.count, times.size()));
    std::uint64_t limit = begin + wall;
    for (std::uint64_t k = last; k-- > entry.first;) limit = begins[k] = std::min(begins[k], limit - std::min(limit, times[k]));
    std::uint64_t end = begin;
    for (std::uint64_t k = entry.first; k < last; ++k) {
        begins[k] = std::max(begins[k], end);
        end = begins[k] + times[k];
    }
}

} // namespace

bool are_begins_known(const Location& location) {
    return std::all_of(location.phases.begin(), location.phases.end(),
                       [](const PhaseData& data) { return data.iteration_begin_ns.size() == data.iteration_ns.size(); });
}

std::vector<std::vector<std::uint64_t>> iteration_begins(const Location& location) {
    const std::map<std::uint32_t, std::size_t> positions = positions_of(location);
    Begins begins;
    if (are_begins_known(location)) {
        for (const PhaseData& data : location.phases) begins.push_back(data.iteration_begin_ns);
        for (const std::size_t at : outermost_first(location, positions))
            for_each_inside(positions, location.phases[at], [&](std::size_t inner, const InsideData::Entry& entry) {
                if (inner != at)
                    keep_inside(begins[at][entry.iteration], location.phases[at].iteration_ns[entry.iteration], entry, location.phases[inner].iteration_ns,
                                begins[inner]);
            });
        return begins;
    }
    for (const PhaseData& data : location.phases) begins.emplace_back(data.iteration_ns.size());
    for (const std::size_t at : outermost_first(location, positions)) {
        const PhaseData& data = location.phases[at];
        std::uint64_t end = 0;
        for (std::size_t i = 0; i < data.iteration_ns.size(); ++i) {
            begins[at][i] = std::max(begins[at][i], end); // there is what the loop around wants
            end = begins[at][i] + data.iteration_ns[i];
        }
        std::uint64_t next = 0, iteration = ~std::uint64_t{0};
        for_each_inside(positions, data, [&](std::size_t inner, const InsideData::Entry& entry) {
            if (entry.iteration != iteration) next = begins[at][entry.iteration];
            iteration = entry.iteration;
            const std::vector<std::uint64_t>& times = location.phases[inner].iteration_ns;
            for (std::uint64_t k = entry.first; inner != at && k < times.size() && k - entry.first < entry.count; ++k) {
                begins[inner][k] = next;
                next += times[k];
            }
        });
    }
    return begins;
}

std::vector<std::vector<IterationRange>> iterations_within(const Location& location, std::uint32_t phase, IterationRange range) {
    const std::map<std::uint32_t, std::size_t> positions = positions_of(location);
    std::vector<std::vector<IterationRange>> all(location.phases.size()), level(all.size());
    const auto outer = positions.find(phase);
    if (outer != positions.end() && range.first < location.phases[outer->second].iteration_ns.size())
        level[outer->second].push_back({range.first, std::min<std::uint64_t>(range.last, location.phases[outer->second].iteration_ns.size() - 1)});
    for (std::size_t depth = 0; depth < most_levels; ++depth) {
        std::vector<std::vector<IterationRange>> next(all.size());
        for (std::size_t at = 0; at < all.size(); ++at) {
            if (level[at].empty()) continue;
            auto part = level[at].begin();
            for_each_inside(positions, location.phases[at], [&](std::size_t inner, const InsideData::Entry& entry) {
                while (part != level[at].end() && part->last < entry.iteration) ++part;
                const std::uint64_t there = location.phases[inner].iteration_ns.size();
                if (part != level[at].end() && part->first <= entry.iteration && entry.count != 0 && entry.first < there)
                    next[inner].push_back({entry.first, std::min(entry.first + entry.count, there) - 1});
            });
            all[at].insert(all[at].end(), level[at].begin(), level[at].end());
        }
        level = std::move(next);
        for (std::vector<IterationRange>& parts : level)
            std::sort(parts.begin(), parts.end(), [](const IterationRange& a, const IterationRange& b) { return a.first < b.first; });
    }
    for (std::vector<IterationRange>& parts : all)
        std::sort(parts.begin(), parts.end(), [](const IterationRange& a, const IterationRange& b) { return a.first < b.first; });
    return all;
}

} // namespace libprofile::tools
