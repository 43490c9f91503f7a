// Loops inside each other in made-up streams of MPI calls: which levels there are, and how many passes each has.
#include "libprofile/loops/loop_levels.hpp"
#include "tests/unit/call_stream.hpp"

using namespace libprofile;

namespace {

class loop_levels : public Stream {
  protected:
    /// The one loop that the search finds, and its levels.
    LoopLevels levels() {
        EXPECT_EQ(search.find(now, found, 4), 1u);
        return find_levels(EventList(log), tree, found[0]);
    }
    /// A function at level 3, called at `site`, with so many passes of two calls each; `common`: of its first call.
    void solve(std::uint64_t site, int passes, std::uint32_t common, std::uint64_t pass_ns = 400000) {
        for (int i = 0; i < passes; ++i) {
            call({10, site, 30}, send, i == 0 ? common : 3, pass_ns / 2);
            call({10, site, 31}, barrier, 3, pass_ns / 2);
        }
    }
};

} // namespace

TEST_F(loop_levels, steps_inside_output_intervals_are_a_level) {
    for (int i = 0; i < 20; ++i) solve(20, 10, i == 0 ? 0 : 2);
    const LoopLevels all = levels();
    ASSERT_EQ(all.count, 2u);
    EXPECT_EQ(all.found, 0u);
    EXPECT_EQ(all.level[1].around, 1u);
    EXPECT_EQ(all.level[1].candidate.caller, path_of({10, 20}));
    EXPECT_EQ(all.level[1].candidate.entries.count, 200u);
    EXPECT_EQ(all.level[1].candidate.entries.activations, 20u);
    const Loop inner = start_of(all.level[1].candidate);
    EXPECT_EQ(tree[inner.start].a, barrier);
    EXPECT_NEAR(static_cast<double>(inner.passes), 200, 1);
}

TEST_F(loop_levels, a_solver_is_found_over_all_its_calls_and_the_few_steps_around_it) {
    int passes = 0;
    for (int i = 0; i < 6; ++i) {
        call({10, 19}, send, i == 0 ? 0 : 2);
        call({10, 20, 29}, barrier, 2); // before the loop
        solve(20, 10 + i * 37 % 41, 3);
        passes += 10 + i * 37 % 41;
    }
    const LoopLevels all = levels();
    ASSERT_EQ(all.count, 2u);
    EXPECT_EQ(all.found, 1u);
    EXPECT_EQ(all.level[1].around, 1u);
    EXPECT_EQ(all.level[0].candidate.entries.site, path_of({10, 19})) << "the first in the code";
    EXPECT_EQ(all.level[0].candidate.entries.count, 6u);
    EXPECT_EQ(found[0].entries.activations, 6u);
    const Loop inner = start_of(found[0]);
    EXPECT_EQ(inner.site, path_of({10, 20, 31}));
    EXPECT_NEAR(static_cast<double>(inner.passes), passes, 1);
    EXPECT_FALSE(inner.sites.has(path_of({10, 20, 29})));
    EXPECT_FALSE(inner.is_ambiguous);
    Loop outer;
    ASSERT_TRUE(begin_by_entries(EventList(log), tree, all.level[0].candidate, traits, outer));
    EXPECT_EQ(outer.passes, 6u);
    EXPECT_TRUE(outer.sites.has(path_of({10, 20})));
}

TEST_F(loop_levels, a_function_that_is_called_from_two_places_has_a_level_for_each) {
    for (int i = 0; i < 12; ++i) {
        solve(20, 10, i == 0 ? 0 : 2);
        solve(21, 10, 2);
    }
    const LoopLevels all = levels();
    ASSERT_EQ(all.count, 3u);
    for (std::uint32_t i = 1; i < 3; ++i) {
        EXPECT_EQ(all.level[i].around, 1u);
        EXPECT_EQ(all.level[i].candidate.entries.count, 120u);
    }
}

TEST_F(loop_levels, stages_of_a_step_and_short_passes_are_none) {
    for (int i = 0; i < 50; ++i) solve(20, 3, i == 0 ? 0 : 2);
    EXPECT_EQ(levels().count, 1u);
    search.start(now);
    log.start(64 << 20, now);
    for (int i = 0; i < 50; ++i) solve(20, 10, i == 0 ? 0 : 2, 60000);
    EXPECT_EQ(levels().count, 1u);
}

TEST_F(loop_levels, what_a_solver_does_again_and_again_is_a_level_if_it_takes_long) {
    for (const std::uint64_t pass_ns : {400000, 4000000}) {
        search.start(now);
        log.start(64 << 20, now);
        for (int step = 0; step < 20; ++step)
            for (int iteration = 0; iteration < 10; ++iteration)
                for (int pass = 0; pass < 10; ++pass) call({10, 20, 30, 40}, barrier, pass != 0 ? 4 : iteration != 0 ? 3 : step != 0 ? 2 : 0, pass_ns);
        const LoopLevels all = levels();
        ASSERT_EQ(all.count, pass_ns == 400000 ? 2u : 3u);
        EXPECT_EQ(all.level[1].candidate.entries.count, 200u);
        for (std::uint32_t i = 1; i < all.count; ++i) EXPECT_EQ(all.level[i].around, i);
    }
}

TEST_F(loop_levels, what_has_little_of_the_time_is_none) {
    for (int i = 0; i < 50; ++i) {
        call({10, 19}, barrier, i == 0 ? 0 : 2, 10000000);
        solve(20, 10, 2);
    }
    EXPECT_EQ(levels().count, 1u);
}
