// Where growth is said to begin, of shapes that are none of those that are tried.
#include "tools/diagnosis/excess_pattern.hpp"
#include "tools/diagnosis/growth_course.hpp"

#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <random>
#include <vector>

namespace libprofile::test {
namespace {

using namespace libprofile::tools;

/// Overlap of the iterations with those that have a tenth of the largest or more.
double overlap_of_growth(const std::function<double(double)>& course, std::uint64_t seed) {
    constexpr std::size_t n = 800;
    std::mt19937_64 random(seed);
    std::normal_distribution<double> jitter(0, 5e5);
    std::vector<float> excess;
    for (std::size_t i = 0; i < n; ++i) excess.push_back(static_cast<float>(5e6 * course(static_cast<double>(i) / n) + jitter(random)));
    const ExcessPattern pattern = find_pattern(excess, {1e8, 1e8 * n / 100});
    if (pattern.kind != PatternKind::Growing) return 0;
    std::size_t both = 0, either = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const bool is_there = course(static_cast<double>(i) / n) >= 0.1 * course(1), is_said = pattern.excess[i] > 0;
        both += is_there && is_said ? 1 : 0;
        either += is_there || is_said ? 1 : 0;
    }
    return static_cast<double>(both) / static_cast<double>(either);
}

TEST(GrowthBegin, IsThatOfShapesThatBendEitherWayOrBoth) {
    const std::function<double(double)> courses[] = {[](double x) { return x; }, [](double x) { return std::log(1 + 8 * x) / std::log(9); },
                                                     [](double x) { return std::pow(x, 1.7); }, [](double x) { return x * x * (3 - 2 * x); },
                                                     [](double x) { return (1 - std::exp(-3 * x)) / (1 - std::exp(-3)); }};
    std::size_t right = 0, all = 0;
    for (const auto& course : courses)
        for (std::uint64_t seed = 1; seed <= 8; ++seed, ++all) right += overlap_of_growth(course, seed) >= 0.9 ? 1 : 0;
    EXPECT_GE(right * 10, all * 9) << right << " of " << all;
}

TEST(GrowthBegin, IsWhereTheOverlapIsExpectedToBeLargest) {
    std::array<double, courses_of_growth> weights{};
    weights[1] = 1; // certainly a square
    EXPECT_NEAR(growth_begins(weights), std::sqrt(0.1), 1e-9);
    weights[0] = weights[2] = 1; // or a line, or a root: neither end
    EXPECT_NEAR(growth_begins(weights), 0.1, 1e-9);
}

} // namespace
} // namespace libprofile::test
