#include "tools/analysis/cell_groups.hpp"

#include <algorithm>
#include <array>

namespace libprofile::tools {

std::size_t group_of(const Profile& profile, std::uint32_t path, std::uint32_t metric) {
    if (metric == 0) return static_cast<std::size_t>(category_of(profile, profile.paths[path]));
    return metric < cell_metrics ? category_groups + metric - 1 : group_count;
}

namespace {

/// Which rows of the catalogue are left out of a category's own time, and which are groups: found once, as iterations are many.
struct GroupRows {
    struct Row {
        std::size_t group = 0, row = 0;
    };
    std::array<std::size_t, category_groups> category{}; // its row
    std::array<Row, catalogue_size> left_out{}, direct{};
    std::size_t left_out_size = 0, direct_size = 0;

    constexpr GroupRows() {
        for (std::size_t c = 0; c < category_groups; ++c) {
            const CatalogueId id = catalogue_of(static_cast<TimeCategory>(c));
            category[c] = static_cast<std::size_t>(id);
            for (const CatalogueRow& child : metric_catalogue)
                if (child.parent == id) left_out[left_out_size++] = {c, static_cast<std::size_t>(child.id)};
        }
        for (std::size_t i = 0; i < catalogue_size; ++i)
            if (metric_catalogue[i].kind == CatalogueKind::Direct)
                direct[direct_size++] = {category_groups + static_cast<std::size_t>(metric_catalogue[i].direct) - 1, i};
    }
};

constexpr GroupRows group_rows;

} // namespace

void add_groups(const std::vector<std::uint64_t>& condensed, std::uint64_t* groups) {
    std::array<std::uint64_t, category_groups> own;
    for (std::size_t c = 0; c < category_groups; ++c) own[c] = condensed[group_rows.category[c]];
    for (std::size_t i = 0; i < group_rows.left_out_size; ++i) {
        const auto [group, row] = group_rows.left_out[i];
        own[group] -= std::min(own[group], condensed[row]);
    }
    for (std::size_t c = 0; c < category_groups; ++c) groups[c] += own[c];
    for (std::size_t i = 0; i < group_rows.direct_size; ++i) groups[group_rows.direct[i].group] += condensed[group_rows.direct[i].row];
    for (std::size_t i = 0; i < most_counter_metrics && catalogue_size + i < condensed.size(); ++i)
        groups[category_groups + metric_count - 1 + i] += condensed[catalogue_size + i];
}

} // namespace libprofile::tools
