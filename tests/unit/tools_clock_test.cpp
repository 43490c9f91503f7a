// Times of ranks on one axis: machines in common, compared machines, files that do not have it; hostile blocks.
#include "tests/unit/tools_read_one.hpp"
#include "tools/analysis/clock_axis.hpp"
#include "tools/report/json.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <optional>

using namespace libprofile;
using namespace libprofile::test;
using namespace libprofile::tools;

namespace {

Profile with_clocks(const std::vector<std::optional<ClockRecord>>& clocks) {
    ProfileBuilder b(clocks.size());
    b.job(clocks.size());
    b.metrics();
    for (std::uint32_t r = 0; r < clocks.size(); ++r) {
        add_sample_rank(b, r);
        if (clocks[r]) b.clock(r, *clocks[r]);
    }
    return read_one(b.bytes());
}

constexpr std::uint64_t clock_second = 1000000000;

} // namespace

TEST(ClockAxis, OfOneMachineIsExactAndBeginsWithTheFirstRank) {
    // Rank 1's own clock goes too fast by a thousandth.
    const Profile p = with_clocks(
        {ClockRecord{5, 100 * clock_second, 7, 2 * clock_second, 2 * clock_second}, ClockRecord{5, 99 * clock_second, 7, 3003000000, 3 * clock_second}});
    EXPECT_TRUE(p.notes.empty());
    const ClockAxis axis(p);
    EXPECT_EQ(axis.at(0, 500), clock_second + 500);
    EXPECT_EQ(axis.at(1, 0), 0u);
    EXPECT_EQ(axis.at(1, 1001000000), clock_second);
    EXPECT_TRUE(axis.has(0) && axis.has(1));
    EXPECT_TRUE(axis.limits().empty());
    const nlohmann::json clocks = nlohmann::json::parse(report_json(p, {}))["clocks"];
    EXPECT_EQ(clocks[0], (nlohmann::json{{"begin_ns", clock_second}, {"own_ns", 2 * clock_second}, {"axis_ns", 2 * clock_second}, {"uncertainty_ns", 0}}));
}

TEST(ClockAxis, OfComparedMachinesHasTheirOffsetsAndSaysHowExactTheyAre) {
    // Rank 3 has the clock of rank 2, and was not told; nobody has compared that of rank 4.
    const Profile p = with_clocks({ClockRecord{5, 100 * clock_second, 0, 0, 0, 1, 0, 0},
                                   ClockRecord{6, 7 * clock_second, 0, 0, 0, 1, static_cast<std::int64_t>(94 * clock_second), 2500},
                                   ClockRecord{9, 500 * clock_second, 0, 0, 0, 1, -static_cast<std::int64_t>(399 * clock_second), 4000},
                                   ClockRecord{9, 501 * clock_second, 0}, ClockRecord{77, 3, 0}});
    const ClockAxis axis(p);
    EXPECT_EQ(axis.at(0, 0), 0u);
    EXPECT_EQ(axis.at(1, 0), clock_second);
    EXPECT_EQ(axis.at(2, 5), clock_second + 5);
    EXPECT_EQ(axis.at(3, 0), 2 * clock_second);
    EXPECT_EQ(axis.clock(3).uncertainty_ns, 4000u);
    EXPECT_FALSE(axis.has(4));
    EXPECT_EQ(axis.at(4, 8), 8u) << "since its own start";
    ASSERT_EQ(axis.limits().size(), 2u);
    EXPECT_NE(axis.limits()[0].find("to 4.00 µs or better"), std::string::npos) << axis.limits()[0];
    EXPECT_NE(axis.limits()[1].find("1 of 5 ranks"), std::string::npos) << axis.limits()[1];
    EXPECT_TRUE(nlohmann::json::parse(report_json(p, {}))["clocks"][4].is_null());
}

TEST(ClockAxis, WithoutComparisonOneMachineIsOnIt) {
    const Profile p = with_clocks({std::nullopt, ClockRecord{6, 7 * clock_second, 0}, ClockRecord{5, 7 * clock_second, 0}, ClockRecord{6, 8 * clock_second, 0},
                                   ClockRecord{0, 9 * clock_second, 0}});
    const ClockAxis axis(p);
    EXPECT_EQ(axis.at(3, 1), clock_second + 1);
    EXPECT_TRUE(axis.has(1) && !axis.has(0) && !axis.has(2) && !axis.has(4));
    EXPECT_EQ(axis.limits().size(), 1u);
    const Profile none = with_clocks({std::nullopt, std::nullopt});
    EXPECT_EQ(ClockAxis(none).at(1, 9), 9u);
    EXPECT_NE(ClockAxis(none).limits().at(0).find("each rank's time counts from its own start"), std::string::npos);
}

TEST(ClockAxis, BlocksThatMakeNoSenseAreDamage) {
    const std::uint64_t most = std::uint64_t{1} << 61, more = most + 1;
    EXPECT_EQ(ClockAxis(with_clocks({ClockRecord{5, most, most, most, most, 1, -static_cast<std::int64_t>(most), most}})).at(0, ~std::uint64_t{0}),
              ~std::uint64_t{0});
    EXPECT_EQ(ClockAxis(with_clocks({ClockRecord{5, 0, 0, 1, most}})).at(0, ~std::uint64_t{0}), ~std::uint64_t{0}) << "no overflow";
    const ClockRecord damaged[] = {{5, more},
                                   {5, 1, more},
                                   {5, 1, 1, more, 1},
                                   {5, 1, 1, 1, more},
                                   {5, 1, 1, 1, 1, 2},
                                   {5, 1, 1, 1, 1, 1, static_cast<std::int64_t>(more)},
                                   {5, 1, 1, 1, 1, 1, std::numeric_limits<std::int64_t>::min()},
                                   {5, 1, 1, 1, 1, 1, 0, more}};
    for (const ClockRecord& one : damaged) {
        const Profile p = with_clocks({one});
        EXPECT_FALSE(p.notes.empty());
        EXPECT_FALSE(ClockAxis(p).has(0));
    }
}
