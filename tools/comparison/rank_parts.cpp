#include "tools/comparison/rank_parts.hpp"

#include "libprofile/base/hashing.hpp"
#include "tools/analysis/poll_functions.hpp"

#include <algorithm>
#include <map>

namespace libprofile::tools {

namespace {

constexpr std::size_t most_groups = 12; // that can be told apart in a sentence

/// What ranks of one group have in common, the finest first: how often they make each call, on which call paths, which function calls which.
enum class Level : std::uint8_t { Visits, Paths, Pairs };

bool have_ranks(const RunGroup& group, const std::vector<std::uint32_t>& ranks) {
    return std::all_of(group.runs.begin(), group.runs.end(), [&](const Run& run) { return ranks_of(run) == ranks; });
}

/// By position of a rank: a hash of its calls. Polls do not count: how often they are made is chance.
std::vector<std::uint64_t> hashes_of(const Frame& frame, const FrameColumn& visits, Level level) {
    const FrameNodes& nodes = frame.nodes;
    std::vector<std::uint64_t> hashes;
    std::vector<std::uint32_t> seen(nodes.size()); // by node: the last rank, from 1
    std::vector<std::uint64_t> pairs;
    const auto close = [&] {
        std::sort(pairs.begin(), pairs.end());
        pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
        for (const std::uint64_t pair : pairs) hashes.back() += mix(pair);
        pairs.clear();
    };
    for (std::size_t p = 0; p < frame.places.size(); ++p) {
        if (p == 0 || frame.places[p].rank != frame.places[p - 1].rank) {
            if (p != 0) close();
            hashes.push_back(0);
        }
        for (std::uint64_t i = visits.begin[p]; i < visits.begin[p + 1]; ++i) {
            std::uint32_t node = visits.node[i];
            if (visits.value[i] == 0 || is_poll(frame.texts[nodes.name[node]])) continue;
            if (level == Level::Visits) hashes.back() += mix(mix(node) ^ static_cast<std::uint64_t>(visits.value[i]));
            const auto rank = static_cast<std::uint32_t>(hashes.size());
            if (level == Level::Paths && seen[node] != rank) hashes.back() += mix(node);
            if (level != Level::Pairs) seen[node] = rank;
            for (; level == Level::Pairs && node != 0 && seen[node] != rank; node = nodes.parent[node]) {
                seen[node] = rank;
                pairs.push_back(std::uint64_t{nodes.name[nodes.parent[node]]} << 32 | nodes.name[node]);
            }
        }
    }
    if (!hashes.empty()) close();
    return hashes;
}

std::map<std::uint64_t, std::vector<std::uint32_t>> groups_of(const Frame& frame, const FrameColumn& visits, Level level) {
    std::map<std::uint64_t, std::vector<std::uint32_t>> groups;
    const std::vector<std::uint64_t> hashes = hashes_of(frame, visits, level);
    for (std::uint32_t rank = 0; rank < hashes.size(); ++rank) groups[hashes[rank]].push_back(rank);
    return groups;
}

} // namespace

std::vector<RankPart> rank_parts(const RunGroup& before, const RunGroup& after) {
    std::vector<RankPart> parts;
    const std::vector<std::uint32_t> of_before = ranks_of(before.runs.front()), of_after = ranks_of(after.runs.front());
    if (!have_ranks(before, of_before) || !have_ranks(after, of_after)) return parts;
    if (of_before == of_after) {
        for (std::uint32_t rank = 0; rank < of_before.size(); ++rank) parts.push_back({{rank}, {rank}});
        return parts;
    }
    const Frame &a = before.runs.front().frame, &b = after.runs.front().frame;
    const FrameColumn *visits_a = a.find_column("visits"), *visits_b = b.find_column("visits");
    if (visits_a == nullptr || visits_b == nullptr) return parts;
    for (const Level level : {Level::Visits, Level::Paths, Level::Pairs}) {
        auto in_a = groups_of(a, *visits_a, level), in_b = groups_of(b, *visits_b, level);
        const auto has_partner = [&](const auto& group) { return in_b.count(group.first) != 0; };
        if (in_a.size() != in_b.size() || in_a.size() > most_groups || !std::all_of(in_a.begin(), in_a.end(), has_partner)) continue;
        for (auto& [hash, ranks] : in_a) parts.push_back({std::move(ranks), std::move(in_b[hash])});
        std::sort(parts.begin(), parts.end(), [](const RankPart& x, const RankPart& y) { return x.before < y.before; });
        break;
    }
    return parts;
}

} // namespace libprofile::tools
