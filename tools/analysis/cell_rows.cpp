#include "tools/analysis/cell_rows.hpp"

namespace libprofile::tools {

CellRows::CellRows(const Profile& profile, const std::vector<std::size_t>& rows) : profile_(profile) {
    const std::vector<MetricRow> all = metric_rows(profile);
    contributes_.resize(all.size());
    for (std::size_t base = 0; base < all.size(); ++base)
        for (int row = static_cast<int>(base); row >= 0; row = all[static_cast<std::size_t>(row)].parent)
            for (std::uint32_t m = 0; m < rows.size(); ++m)
                if (rows[m] == static_cast<std::size_t>(row)) contributes_[base].push_back(m);
    for (std::size_t i = 0; i < catalogue_size; ++i)
        if (metric_catalogue[i].kind == CatalogueKind::Direct) direct_[static_cast<std::size_t>(metric_catalogue[i].direct)] = i;
}

std::size_t CellRows::row_of(std::uint32_t path, std::uint32_t metric) const {
    if (path == 0 && metric == 0) // it is unknown what it was spent in (inside.hpp)
        return static_cast<std::size_t>(CatalogueId::Total);
    if (metric == 0) return static_cast<std::size_t>(catalogue_of(category_of(profile_, profile_.paths[path])));
    return metric < metric_count ? direct_[metric] : catalogue_size + metric - metric_count;
}

} // namespace libprofile::tools
