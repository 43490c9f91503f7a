// Sums by call path: those of a map, for one thread after the other.
#include "tools/reader/path_sums.hpp"

#include <gtest/gtest.h>
#include <map>
#include <random>

namespace libprofile::tools {
namespace {

TEST(PathSums, AreThoseOfAMapAndStartAnewAfterEachThread) {
    std::mt19937_64 random(7);
    constexpr std::size_t paths = 1000; // no multiple of a stretch
    PathSums sums(3, paths);
    for (int thread = 0; thread < 200; ++thread) {
        std::map<std::uint32_t, std::map<std::uint32_t, std::uint64_t>> expected;
        const auto add = [&](std::uint32_t metric, std::uint32_t path, std::uint64_t value) {
            sums.add(metric, path, value);
            if ((expected[metric][path] += value) == 0) expected[metric].erase(path); // what adds up to nothing is not there
        };
        for (std::size_t n = random() % 300; n > 0; --n) {
            const auto metric = static_cast<std::uint32_t>(random() % 3), path = static_cast<std::uint32_t>(random() % paths);
            add(metric, path, random() % 5);
            if (random() % 8 == 0) add(metric, path, std::uint64_t{0} - expected[metric][path]);
        }
        std::map<std::uint32_t, std::map<std::uint32_t, std::uint64_t>> found;
        sums.take([&](std::uint32_t metric, const PathColumn& column) {
            ASSERT_TRUE(std::is_sorted(column.path.begin(), column.path.end()));
            ASSERT_EQ(column.path.size(), column.value.size());
            for (std::size_t i = 0; i < column.path.size(); ++i) ASSERT_TRUE(found[metric].emplace(column.path[i], column.value[i]).second);
        });
        std::erase_if(expected, [](const auto& metric) { return metric.second.empty(); });
        ASSERT_EQ(found, expected);
    }
}

} // namespace
} // namespace libprofile::tools
