// What libprofile may claim about its own share.
#include "format/own_share.hpp"
#include "libprofile/thread/thread.hpp"

#include <gtest/gtest.h>
#include <memory>

using namespace libprofile;

TEST(OwnShare, SamplesCountWhereTheySayMoreThanWhatWasBooked) {
    // 0.9 % of 10 s were booked, one sample in ten hit libprofile.
    EXPECT_TRUE(do_samples_say_more(100, 1000, 90'000'000, 10'000'000'000));
    EXPECT_FALSE(do_samples_say_more(9, 1000, 90'000'000, 10'000'000'000));
    EXPECT_FALSE(do_samples_say_more(100, 1000, 1'000'000'000, 10'000'000'000));
    EXPECT_FALSE(do_samples_say_more(0, 1000, 1'000'000'000, 10'000'000'000));
}

TEST(OwnShare, WhatIsNotBookedMakesALargeShareABound) {
    EXPECT_FALSE(is_lower_bound(49'999'999, 10'000'000'000, false));
    EXPECT_TRUE(is_lower_bound(50'000'000, 10'000'000'000, false));
    EXPECT_TRUE(is_lower_bound(1, 10'000'000'000, true));
}

TEST(OwnShare, AFewSamplesAreChance) {
    for (std::uint64_t inside = 0; inside <= 10; ++inside) EXPECT_FALSE(do_samples_say_more(inside, 10, 0, 100'000'000)) << inside;
    for (std::uint64_t inside = 0; inside <= 4; ++inside) EXPECT_FALSE(do_samples_say_more(inside, 200, 0, 2'000'000'000)) << inside;
    EXPECT_FALSE(do_samples_say_more(15, 1000, 90'000'000, 10'000'000'000));
    EXPECT_TRUE(do_samples_say_more(5, 200, 0, 2'000'000'000));
}

TEST(OwnShare, AJobThatSleepsIsNotDearForTheLittleThatItDoes) {
    // 5 of 7 samples in 10 s, of which 0.5 % were booked.
    EXPECT_FALSE(do_samples_say_more(5, 7, 50'000'000, sampled_time(7, 100, 10'000'000'000)));
    // 700 of 1,000 in 2,000 s: that is 7 s, and 8 s were booked.
    EXPECT_FALSE(do_samples_say_more(700, 1000, 8'000'000'000, sampled_time(1000, 100, 2'000'000'000'000)));
    EXPECT_TRUE(do_samples_say_more(700, 1000, 2'000'000'000, sampled_time(1000, 100, 2'000'000'000'000)));
    EXPECT_EQ(sampled_time(1000, 100, 5'000'000'000), 5'000'000'000u);
    EXPECT_EQ(sampled_time(1000, 0, 5'000'000'000), 0u);
}

TEST(OwnShare, ASharesBoundsAreWilsons) {
    EXPECT_FALSE(is_share_known(5, 10));
    EXPECT_FALSE(is_share_known(47, 95));
    EXPECT_TRUE(is_share_known(48, 96));
    EXPECT_TRUE(is_share_known(2, 50));
    EXPECT_FALSE(is_share_known(35, 50));
}

TEST(OwnShare, NothingIsSaidOfAJobThatWasNotSampledOrTookNoTime) {
    EXPECT_FALSE(do_samples_say_more(0, 0, 1, 1));
    EXPECT_FALSE(do_samples_say_more(10, 10, 0, 0));
    EXPECT_TRUE(do_samples_say_more(UINT64_MAX / 2, UINT64_MAX / 2, UINT64_MAX / 4, UINT64_MAX / 2));
}

TEST(OwnShare, WhatOthersDidMeanwhileIsNotOurWork) {
    const auto thread = std::make_unique<Thread>();
    EXPECT_EQ(thread->own_time(1000, 1500, 7000), 500u) << "nothing was read: all may be ours";
    EXPECT_EQ(thread->own_time(1000, 9000, 7000), 7000u) << "but not more than the thread has used";
    thread->mark_cpu(1000, 600);
    EXPECT_EQ(thread->own_time(1000, 6000, 5600), 5000u);
    EXPECT_EQ(thread->own_time(1000, 6000, 900), 300u) << "5 us, of which it ran 0.3";
    EXPECT_EQ(thread->own_time(2000, 6000, 5600), 4000u) << "it ran until the work began";
    EXPECT_EQ(thread->own_time(1000, 6000, 9000), 5000u) << "two clocks never agree to the nanosecond";
}
