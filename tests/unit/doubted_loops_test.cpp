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
        for (const NodeId caller : {3u, 5u, 8u}) {
            if (doubted.has(caller, passes)) continue;
            doubted.add(caller, passes);
            ++asked;
        }
    EXPECT_EQ(asked, 3u);
}

TEST(doubted_loops, of_many_the_oldest_is_forgotten) {
    DoubtedLoops doubted;
    for (NodeId caller = 1; caller <= 17; ++caller) doubted.add(caller, 100);
    EXPECT_FALSE(doubted.has(1, 100));
    for (NodeId caller = 2; caller <= 17; ++caller) EXPECT_TRUE(doubted.has(caller, 100)) << caller;
}
