#include "tools/view/ran_on_column.hpp"

#include "tools/timeline/task_places.hpp"

#include <algorithm>
#include <optional>

namespace libprofile::tools {

namespace {

bool knows_several_nodes(const RankInfo& rank) {
    if (!rank.affinity) return false;
    std::optional<std::uint32_t> first;
    return std::any_of(rank.affinity->processors.begin(), rank.affinity->processors.end(), [&](const Processor& processor) {
        if (!processor.numa_node) return false;
        if (!first) first = processor.numa_node;
        return *first != *processor.numa_node;
    });
}

} // namespace

RanOnColumn::RanOnColumn(const Profile& profile, NamedColumns& columns, const char* name) : profile_(profile) {
    if (std::any_of(profile.ranks.begin(), profile.ranks.end(), [](const auto& rank) { return knows_several_nodes(rank.second); }))
        nodes_ = &columns.column("ran_on", name);
}

void RanOnColumn::add(std::uint32_t rank, std::uint16_t processor) {
    if (nodes_ == nullptr) return;
    const auto info = profile_.ranks.find(rank);
    const auto node = info == profile_.ranks.end() ? std::nullopt : node_of_processor(info->second, processor);
    nodes_->add(node ? std::uint64_t{*node} + 1 : 0);
}

} // namespace libprofile::tools
