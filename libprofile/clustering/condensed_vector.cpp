#include "libprofile/clustering/condensed_vector.hpp"

#include "libprofile/session/mpi_events.hpp"

namespace libprofile {

TimeCategory category_of(const Node& node) noexcept {
    switch (node.kind) {
    case NodeKind::Mpi: return mpi_functions[node.a].category;
    case NodeKind::Overhead: return TimeCategory::Overhead;
    case NodeKind::OffCpu: return TimeCategory::OffCpu;
    case NodeKind::NotRecorded: return TimeCategory::NotRecorded;
    default: return TimeCategory::Compute;
    }
}

CondensedVector condense(Accumulator& rows, const CallTree& tree) noexcept {
    std::uint64_t direct[metric_count] = {};
    std::uint64_t by_category[static_cast<std::size_t>(TimeCategory::Count)] = {};
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const Row& row = rows[i];
        by_category[static_cast<std::size_t>(category_of(tree[row.node]))] += row[Metric::Time];
        for (std::size_t m = 0; m < metric_count; ++m) direct[m] += row.values[m];
    }
    CondensedVector result;
    derive_catalogue(direct, by_category, result.values);
    return result;
}

CondensedVector condense(const IterationProfile& profile, const CallTree& tree) noexcept {
    std::uint64_t direct[metric_count] = {};
    std::uint64_t by_category[static_cast<std::size_t>(TimeCategory::Count)] = {};
    for (std::uint32_t i = 0; i < profile.size; ++i) {
        const Cell& cell = profile.cells[i];
        direct[cell.metric()] += cell.value;
        if (cell.metric() == static_cast<std::uint32_t>(Metric::Time))
            by_category[static_cast<std::size_t>(category_of(tree[cell.node()]))] += cell.value;
    }
    CondensedVector result;
    derive_catalogue(direct, by_category, result.values);
    return result;
}

} // namespace libprofile
