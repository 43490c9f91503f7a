// Begins of iterations in two bytes each.
#include "libprofile/phases/begin_times.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace libprofile {

namespace {

std::vector<std::uint64_t> gaps_in(const BeginTimes& times) {
    std::vector<unsigned char> all;
    times.for_each_piece([&](const unsigned char* bytes, std::size_t size) { all.insert(all.end(), bytes, bytes + size); });
    std::vector<std::uint64_t> gaps;
    for (std::size_t i = 0; i < times.size(); ++i) gaps.push_back(GapCode::decode(static_cast<std::uint16_t>(all[2 * i] | all[2 * i + 1] << 8)));
    EXPECT_EQ(all.size(), times.size() * GapCode::bytes);
    return gaps;
}

} // namespace

TEST(BeginTimes, GapsAreExactOrShortByLessThanA1024th) {
    std::mt19937_64 random(7);
    for (std::uint64_t gap = 0; gap < 2048; ++gap) ASSERT_EQ(GapCode::decode(GapCode::encode(gap)), gap);
    for (int i = 0; i < 100000; ++i) {
        const std::uint64_t gap = random() >> random() % 64, coded = GapCode::decode(GapCode::encode(gap));
        ASSERT_LE(coded, gap);
        ASSERT_LE(gap - coded, gap / 1024);
    }
    EXPECT_LE(GapCode::decode(GapCode::encode(~std::uint64_t{0})), ~std::uint64_t{0});
}

TEST(BeginTimes, ErrorsDoNotAddUpAndIterationsDoNotOverlap) {
    std::mt19937_64 random(3);
    Arena arena;
    Pool pool(arena);
    BeginTimes times;
    std::vector<std::uint64_t> begins, walls;
    std::uint64_t now = 123456789;
    for (int i = 0; i < 20000; ++i) {
        if (i != 0) now += random() % 50 == 0 ? random() % 10'000'000'000 : random() % 2 == 0 ? 0 : random() % 5000;
        begins.push_back(now);
        walls.push_back(random() % 1'000'000);
        times.append(now, walls.back(), pool);
        now += walls.back();
    }
    const std::vector<std::uint64_t> gaps = gaps_in(times);
    ASSERT_EQ(gaps.size(), begins.size());
    std::uint64_t end = times.first();
    for (std::size_t i = 0; i < gaps.size(); ++i) {
        const std::uint64_t begin = end + gaps[i];
        ASSERT_LE(begin, begins[i]);
        ASSERT_LE(begins[i] - begin, (begins[i] - end) / 1024) << i; // what was cut before is in this gap
        end = begin + walls[i];
    }
}

TEST(BeginTimes, AnIterationThatSeemsToBeginBeforeTheLastOneEndedDoesNotShiftLaterOnes) {
    Arena arena;
    Pool pool(arena);
    BeginTimes times;
    times.append(1000, 100, pool);
    times.append(1050, 100, pool); // as if clocks of processors differed
    times.append(2000, 100, pool);
    EXPECT_EQ(gaps_in(times), (std::vector<std::uint64_t>{0, 0, 800}));
}

} // namespace libprofile
