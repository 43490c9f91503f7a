#include "format/metrics.hpp"

#include <gtest/gtest.h>
#include <numeric>
#include <set>
#include <string>

namespace libprofile {

TEST(Metrics, CatalogueRowsStandAtTheirIds) {
    std::set<std::string> names;
    for (std::size_t i = 0; i < catalogue_size; ++i) {
        EXPECT_EQ(static_cast<std::size_t>(metric_catalogue[i].id), i);
        EXPECT_TRUE(names.insert(metric_catalogue[i].name).second) << metric_catalogue[i].name;
    }
}

TEST(Metrics, ParentsComeBeforeTheirChildren) {
    for (const CatalogueRow& row : metric_catalogue) {
        if (row.parent == CatalogueId::None) continue;
        EXPECT_LT(row.parent, row.id) << row.name;
    }
}

TEST(Metrics, TotalTimeIsTheSumOfAllCategories) {
    std::uint64_t direct[metric_count] = {};
    std::uint64_t by_category[static_cast<std::size_t>(TimeCategory::Count)];
    std::iota(std::begin(by_category), std::end(by_category), 1);
    std::uint64_t derived[catalogue_size];
    derive_catalogue(direct, by_category, derived);
    EXPECT_EQ(derived[static_cast<std::size_t>(CatalogueId::Total)], std::accumulate(std::begin(by_category), std::end(by_category), std::uint64_t{0}));
    EXPECT_EQ(derived[static_cast<std::size_t>(CatalogueId::Total)], derived[static_cast<std::size_t>(CatalogueId::Overhead)] +
                                                                         derived[static_cast<std::size_t>(CatalogueId::NotRecorded)] +
                                                                         derived[static_cast<std::size_t>(CatalogueId::Execution)]);
}

TEST(Metrics, SumsAreThoseOfTheirChildren) {
    std::uint64_t direct[metric_count];
    std::iota(std::begin(direct), std::end(direct), 100);
    const std::uint64_t by_category[static_cast<std::size_t>(TimeCategory::Count)] = {};
    std::uint64_t derived[catalogue_size];
    derive_catalogue(direct, by_category, derived);
    for (const CatalogueRow& row : metric_catalogue) {
        if (row.kind != CatalogueKind::Sum) continue;
        std::uint64_t sum = 0;
        for (const CatalogueRow& child : metric_catalogue)
            if (child.parent == row.id) sum += derived[static_cast<std::size_t>(child.id)];
        EXPECT_EQ(derived[static_cast<std::size_t>(row.id)], sum) << row.name;
    }
}

} // namespace libprofile
