#include "tools/diagnosis/rank_gains.hpp"

#include "tools/analysis/totals.hpp"
#include "tools/diagnosis/own_work.hpp"

#include <algorithm>

namespace libprofile::tools {

RankGains::RankGains(const Profile& profile) {
    for (const Location* location : main_threads(profile)) {
        if (location == nullptr) continue;
        const MetricValues values = totals(profile, *location);
        const auto at = [&](CatalogueId id) { return static_cast<double>(values[static_cast<std::size_t>(id)]); };
        mpi_[location->rank] = at(CatalogueId::Mpi) - own_work_in_mpi(profile, *location);
        local_[location->rank] = at(CatalogueId::Execution) - mpi_[location->rank];
    }
}

std::pair<std::uint32_t, double> RankGains::of_run(const std::map<std::uint32_t, double>& gains) const {
    double before = 0, after = 0;
    std::uint32_t longest = 0;
    for (const auto& [rank, local] : local_) {
        const auto gain = gains.find(rank);
        if (local > before) before = local, longest = rank;
        after = std::max(after, local - (gain == gains.end() ? 0 : gain->second));
    }
    return {longest, before - after};
}

} // namespace libprofile::tools
