#include "tools/analysis/cell_groups.hpp"

#include <algorithm>

namespace libprofile::tools {

std::size_t group_of(const Profile& profile, std::uint32_t path, std::uint32_t metric) {
    if (metric == 0) return static_cast<std::size_t>(category_of(profile, profile.paths[path]));
    return metric < cell_metrics ? category_groups + metric - 1 : group_count;
}

void add_groups(const std::vector<std::uint64_t>& condensed, std::uint64_t* groups) {
    for (std::size_t c = 0; c < category_groups; ++c) {
        const CatalogueId row = catalogue_of(static_cast<TimeCategory>(c));
        std::uint64_t own = condensed[static_cast<std::size_t>(row)];
        for (const CatalogueRow& child : metric_catalogue)
            if (child.parent == row) own -= std::min(own, condensed[static_cast<std::size_t>(child.id)]);
        groups[c] += own;
    }
    for (std::size_t i = 0; i < catalogue_size; ++i)
        if (metric_catalogue[i].kind == CatalogueKind::Direct)
            groups[category_groups + static_cast<std::size_t>(metric_catalogue[i].direct) - 1] += condensed[i];
    for (std::size_t i = 0; i < most_counter_metrics && catalogue_size + i < condensed.size(); ++i)
        groups[category_groups + metric_count - 1 + i] += condensed[catalogue_size + i];
}

} // namespace libprofile::tools
