#include "libprofile/callpath/parallel_frames.hpp"
#include "libprofile/phases/phase_log.hpp"
#include "libprofile/thread/openmp_state.hpp"

#include <gtest/gtest.h>

namespace libprofile {
namespace {

TEST(ParallelFrames, FramesBelowABoundaryAreInside) {
    ParallelFrames frames;
    EXPECT_TRUE(frames.is_empty());
    ASSERT_TRUE(frames.enter(0x8000, 5, true));
    ASSERT_TRUE(frames.enter(0x4000, 7, false));
    EXPECT_TRUE(frames.begins_in_runtime());
    EXPECT_EQ(frames.level_of(0x9000), 0u);
    EXPECT_EQ(frames.level_of(0x8000), 0u);
    EXPECT_EQ(frames.level_of(0x7ff8), 1u);
    EXPECT_EQ(frames.level_of(0x4000), 1u);
    EXPECT_EQ(frames.level_of(0x3ff8), 2u);
    EXPECT_EQ(frames.node(1), 5u);
    EXPECT_EQ(frames.node(2), 7u);
    frames.leave(0x4000);
    EXPECT_EQ(frames.depth(), 1u);
}

TEST(ParallelFrames, RegionsThatWereLeftByAJumpAreGoneWhenOneBeginsFartherOut) {
    ParallelFrames frames;
    for (std::uintptr_t at = 0x8000; at >= 0x5000; at -= 0x1000) ASSERT_TRUE(frames.enter(at, 1, false));
    ASSERT_TRUE(frames.enter(0x7000, 2, false));
    EXPECT_EQ(frames.depth(), 2u);
    EXPECT_EQ(frames.level_of(0x6ff8), 2u);
    EXPECT_EQ(frames.node(2), 2u);
}

TEST(ParallelFrames, NestingBeyondTheMostIsRefused) {
    ParallelFrames frames;
    std::uintptr_t at = 0x10000;
    for (std::uint32_t i = 0; i < ParallelFrames::most; ++i, at -= 0x100) ASSERT_TRUE(frames.enter(at, i + 1, false));
    EXPECT_FALSE(frames.enter(at, 99, false));
    EXPECT_EQ(frames.depth(), ParallelFrames::most);
}

TEST(EndedRegions, KnowsTheLastOnesOnly) {
    EndedRegions ended;
    EXPECT_EQ(ended.end_of(1), EndedRegions::never);
    for (std::uint64_t region = 1; region <= 100; ++region) ended.add(region, region * 1000);
    EXPECT_EQ(ended.end_of(100), 100000u);
    EXPECT_EQ(ended.end_of(37), 37000u);
    EXPECT_EQ(ended.end_of(36), EndedRegions::never);
    EXPECT_EQ(ended.end_of(101), EndedRegions::never);
}

TEST(PhaseLog, ChangesThatAreNotKeptAnyMoreAreRefused) {
    static PhaseLog log;
    for (std::uint64_t i = 0; i < PhaseLog::kept + 10; ++i) log.add({i, "step", PhaseKind::Iterations, i % 2 == 0});
    PhaseChange change;
    EXPECT_FALSE(log.read(9, change));
    ASSERT_TRUE(log.read(11, change));
    EXPECT_EQ(change.at, 11u);
    EXPECT_FALSE(change.begins);
}

} // namespace
} // namespace libprofile
