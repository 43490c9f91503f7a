// Sorting of stretches that ascend: any order comes out sorted, equal values in their order.
#include "tools/reader/merge_runs.hpp"

#include <gtest/gtest.h>
#include <random>
#include <utility>

namespace libprofile::tools {
namespace {

TEST(MergeRuns, AnyOrderComesOutSortedAndStable) {
    std::mt19937 random(3);
    for (int round = 0; round < 2000; ++round) {
        std::vector<std::pair<unsigned, unsigned>> values(random() % 60);
        const unsigned range = 1 + random() % 30, stretch = 1 + random() % 20;
        for (unsigned i = 0; i < values.size(); ++i) values[i] = {i % stretch == 0 ? random() % range : values[i - 1].first + random() % 2, i};
        std::vector<std::pair<unsigned, unsigned>> expected = values;
        std::stable_sort(expected.begin(), expected.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
        merge_runs(values, [](const auto& a, const auto& b) { return a.first < b.first; });
        ASSERT_EQ(values, expected);
    }
}

} // namespace
} // namespace libprofile::tools
