#include "tools/view/task_place_columns.hpp"

#include <algorithm>

namespace libprofile::tools {

TaskPlaceColumns::TaskPlaceColumns(const Profile& profile, NamedColumns& columns) {
    const bool is_known =
        std::any_of(profile.ranks.begin(), profile.ranks.end(), [](const auto& rank) { return rank.second.pages && !rank.second.pages->ranges.empty(); });
    if (!is_known) return;
    tasks_ = &columns.column("task_nodes", "nodes");
    data_ = &columns.column("data_nodes", "nodes");
}

void TaskPlaceColumns::add(const RankInfo& rank, std::uint32_t node, std::span<const TracedDependence> dependences) {
    if (tasks_ == nullptr) return;
    tasks_->add(node == TaskPlaces::unknown ? 0 : std::uint64_t{node} + 1);
    for (const TracedDependence& dependence : dependences) {
        const auto data = rank.pages ? rank.pages->node_of(dependence.address) : std::nullopt;
        data_->add(data ? std::uint64_t{*data} + 1 : 0);
    }
}

} // namespace libprofile::tools
