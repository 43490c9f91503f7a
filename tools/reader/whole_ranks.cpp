#include "tools/reader/whole_ranks.hpp"

#include <algorithm>
#include <map>

namespace libprofile::tools {

namespace {

bool are_there(const RawTables& tables, std::uint32_t thread) { return tables.modules && tables.functions && tables.trees.contains(thread); }

} // namespace

bool WholeRanks::has_map(const LocationRecord& location) {
    const std::pair key(static_cast<std::uint32_t>(location.map_rank), static_cast<std::uint32_t>(location.map_thread));
    const auto [known, is_new] = is_good_map_.emplace(key, false);
    if (is_new) known->second = check_map(key.first, key.second);
    return known->second;
}

bool WholeRanks::check_map(std::uint32_t rank, std::uint32_t thread) const {
    const auto lender = file_->ranks.find(rank);
    if (!are_there(file_->tables, 0) || lender == file_->ranks.end()) return false;
    const auto map = lender->second.node_maps.find(thread);
    const std::size_t nodes = file_->tables.trees.at(0).nodes.size();
    return map != lender->second.node_maps.end() && std::all_of(map->second.begin(), map->second.end(), [&](std::uint32_t node) { return node <= nodes; });
}

bool WholeRanks::has_tables(const RawRank& rank) {
    return std::all_of(rank.locations.begin(), rank.locations.end(), [&](const auto& location) {
        return location.second.paths_in == static_cast<std::uint64_t>(PathsIn::OwnTree) ? are_there(rank.tables, location.first) : has_map(location.second);
    });
}

bool WholeRanks::is_whole(const RawRank& rank) {
    if (!rank.info || !rank.info->complete || rank.locations.size() != rank.info->threads || !has_tables(rank)) return false;
    std::map<std::uint32_t, std::uint64_t> wall; // by thread
    for (const RawPhase& phase : rank.phases) {
        if (phase.metrics_found.size() < phase.metrics_expected) return false;
        wall[phase.thread] += phase.data.wall_ns;
    }
    return std::all_of(rank.locations.begin(), rank.locations.end(), [&](const auto& location) { return wall[location.first] == location.second.wall_ns; });
}

void prefer_whole_ranks(std::vector<RawFile>& files) {
    for (const RawFile& unfinished : files) {
        if (!unfinished.partial || !unfinished.metrics) continue;
        WholeRanks whole(unfinished);
        for (const auto& [number, rank] : unfinished.ranks) {
            if (!whole.is_whole(rank)) continue;
            for (RawFile& other : files)
                if (const auto live = other.ranks.find(number);
                    &other != &unfinished && live != other.ranks.end() && live->second.info && live->second.info->checkpoint)
                    other.ranks.erase(live);
        }
    }
}

} // namespace libprofile::tools
