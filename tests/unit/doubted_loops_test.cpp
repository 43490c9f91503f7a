// Which loops the machine code is asked about again.
#include "libprofile/loops/doubted_loops.hpp"

#include <gtest/gtest.h>

using namespace libprofile;

TEST(doubted_loops, one_is_asked_about_again_when_it_has_sixteen_times_as_many_passes) {
    DoubtedLoops doubted;
    EXPECT_FALSE(doubted.has(7, 16));
    doubted.add(7, 16);
    EXPECT_TRUE(doubted.has(7, 16));
    EXPECT_TRUE(doubted.has(7, 255));
    EXPECT_FALSE(doubted.has(7, 256));
    doubted.add(7, 256);
    EXPECT_TRUE(doubted.has(7, 4095));
    EXPECT_FALSE(doubted.has(7, 4096));
}

TEST(doubted_loops, those_that_show_in_turn_are_asked_about_once) {
    DoubtedLoops doubted;
    std::uint32_t asked = 0;
    for (std::uint32_t passes = 20; passes < 200; ++passes)
        for (const NodeId site : {3u, 5u, 8u}) {
            if (doubted.has(site, passes)) continue;
            doubted.add(site, passes);
            ++asked;
        }
    EXPECT_EQ(asked, 3u);
}

TEST(doubted_loops, of_many_the_oldest_is_forgotten) {
    DoubtedLoops doubted;
    for (NodeId site = 1; site <= 17; ++site) doubted.add(site, 100);
    EXPECT_FALSE(doubted.has(1, 100));
    for (NodeId site = 2; site <= 17; ++site) EXPECT_TRUE(doubted.has(site, 100)) << site;
}
