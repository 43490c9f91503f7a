// Loops in made-up streams of MPI calls: which function's they are, how many passes, and where a pass begins.
#include "tests/unit/call_stream.hpp"

using namespace libprofile;

namespace {

using loop_search = Stream;

} // namespace

TEST_F(loop_search, passes_are_entries_of_one_call_site_while_the_function_stays) {
    for (int i = 0; i < 50; ++i) {
        call({10, 20}, send, i == 0 ? 0 : 1);
        call({10, 21}, barrier, 2);
    }
    // The function at level 2 is entered anew from the same place each time: the loop is its caller's.
    ASSERT_EQ(search.find(now, found, 4), 1u);
    EXPECT_EQ(found[0].level, 1u);
    EXPECT_EQ(found[0].entries.count, 50u);
    const Loop loop = start_of(found[0]);
    EXPECT_EQ(loop.site, path_of({10}));
    EXPECT_EQ(tree[loop.start].a, barrier);
    EXPECT_NEAR(static_cast<double>(loop.passes), 50, 1);
}

TEST_F(loop_search, a_function_that_stays_has_the_loop_itself) {
    for (int i = 0; i < 50; ++i) {
        call({10, 20}, send, i == 0 ? 0 : 2);
        call({10, 21}, barrier, 2);
    }
    ASSERT_EQ(search.find(now, found, 4), 1u);
    EXPECT_EQ(found[0].level, 2u);
    EXPECT_EQ(found[0].caller, path_of({10}));
}

TEST_F(loop_search, what_some_ranks_do_irregularly_is_no_loop_around_what_all_do) {
    for (int i = 0; i < 200; ++i) {
        call({10, 20}, barrier, i == 0 ? 0 : 2);
        for (const int each : {5, 11, 40, 60, 75, 110, 115, 150, 170, 195})
            if (i == each) call({10, 21}, send, 2);
    }
    ASSERT_EQ(search.find(now, found, 4), 1u);
    const Loop loop = start_of(found[0]);
    EXPECT_EQ(tree[loop.start].a, barrier);
    EXPECT_EQ(loop.passes, 200u);
    EXPECT_TRUE(loop.is_ambiguous);
}

TEST_F(loop_search, a_solver_in_another_function_is_inside) {
    for (int i = 0; i < 50; ++i) {
        call({10, 20}, send, i == 0 ? 0 : 2);
        for (int k = 0; k < 5 + i % 7; ++k) call({10, 21, 30}, barrier, k == 0 ? 2 : 3);
    }
    ASSERT_EQ(search.find(now, found, 4), 1u);
    EXPECT_EQ(found[0].level, 2u);
    const Loop loop = start_of(found[0]);
    EXPECT_EQ(loop.site, path_of({10, 20}));
    EXPECT_NEAR(static_cast<double>(loop.passes), 50, 1);
}

TEST_F(loop_search, commands_of_which_one_is_the_program_are_no_passes) {
    for (const std::uint64_t long_one : {100000000, 3000000}) {
        search.start(now);
        for (int i = 0; i < 30; ++i) call({10}, send, 1, i == 20 ? long_one : i % 3 == 0 ? 100000 : 20000);
        EXPECT_EQ(search.find(now, found, 4), 0u) << long_one;
    }
}

TEST_F(loop_search, a_loop_whose_processor_pauses_goes_on) {
    for (int i = 0; i < 30; ++i) {
        call({10}, send, 1);
        for (int k = 0; k < 20; ++k) call({10, 21}, barrier, k == 0 ? 1 : 2);
    }
    for (int k = 0; k < 10; ++k) call({10, 21}, barrier, 2, 1000000000);
    LoopCandidate running;
    ASSERT_TRUE(search.find_running(now, running, 5, LoopSearch::Measure::Calls));
    EXPECT_EQ(running.level, 1u);
    EXPECT_FALSE(running.entries.go_on(now));
    for (int k = 0; k < 300; ++k) call({10, 21}, barrier, 2); // now it may be another loop
    ASSERT_TRUE(search.find_running(now, running, 5, LoopSearch::Measure::Calls));
    EXPECT_EQ(running.level, 2u);
}

TEST_F(loop_search, a_loop_whose_function_calls_something_new_is_over) {
    for (int i = 0; i < 20; ++i)
        for (int k = 0; k < 2000; ++k) call({10, 21}, barrier, k == 0 ? 1 : 2);
    for (int i = 0; i < 100; ++i) call({11, 30}, barrier, i == 0 ? 1 : 2, 100000000);
    LoopCandidate running;
    ASSERT_TRUE(search.find_running(now, running, 5, LoopSearch::Measure::Calls));
    EXPECT_EQ(running.level, 2u);
}

TEST_F(loop_search, where_no_call_comes_once_in_a_pass_an_entry_begins_it) {
    for (int i = 0; i < 50; ++i)
        for (int k = 0; k < 5 + i % 7; ++k) call({10, 21, 30}, barrier, i + k == 0 ? 0 : k == 0 ? 2 : 3);
    ASSERT_EQ(search.find(now, found, 4), 1u);
    EXPECT_EQ(found[0].level, 2u);
    const Loop loop = start_of(found[0]);
    EXPECT_EQ(loop.start, 0u);
    EXPECT_EQ(loop.site, path_of({10, 21}));
}

TEST_F(loop_search, entries_of_a_call_site_begin_passes_where_all_calls_miss_some) {
    for (int i = 0; i < 200; ++i) {
        if (i % 50 != 7) // not in every pass
            call({10, 20}, barrier, i == 0 ? 0 : 2);
        else
            for (int k = 0; k < 3; ++k) call({10, 22, 30}, send, k == 0 ? 2 : 3);
        for (int k = 0; k < 2 + i % 3; ++k) call({10, 21, 30}, send, k == 0 ? 2 : 3);
    }
    ASSERT_EQ(search.find(now, found, 4), 1u);
    const Loop loop = start_of(found[0]);
    EXPECT_EQ(loop.start, 0u);
    EXPECT_EQ(loop.site, path_of({10, 21}));
    EXPECT_NEAR(static_cast<double>(loop.passes), 200, 1);
    EXPECT_TRUE(loop.is_ambiguous); // the calls alone do not tell
    EXPECT_EQ(loop.other_site, path_of({10, 20}));
}

TEST_F(loop_search, entries_of_a_call_site_in_an_inner_loop_begin_none) {
    for (int i = 0; i < 200; ++i) {
        call({10, 20}, barrier, i == 0 ? 0 : 2);
        for (int entry = 0; entry < 1 + i % 2; ++entry)
            for (int k = 0; k < 3; ++k) call({10, 21, 30}, send, k == 0 ? 2 : 3);
    }
    ASSERT_EQ(search.find(now, found, 4), 1u);
    EXPECT_EQ(start_of(found[0]).site, path_of({10, 20}));
}

TEST_F(loop_search, entries_that_only_test_begin_no_passes) {
    for (int i = 0; i < 200; ++i) {
        if (i % 50 != 7) call({10, 20}, barrier, i == 0 ? 0 : 2);
        call({10, 21, 30}, test, 2);
    }
    ASSERT_EQ(search.find(now, found, 4), 1u);
    EXPECT_EQ(start_of(found[0]).site, path_of({10, 20}));
}

TEST_F(loop_search, a_solver_in_the_same_function_that_varies_is_inside) {
    for (int i = 0; i < 50; ++i) {
        call({20}, barrier, 1);
        for (int k = 0; k < 5 + (i * 7) % 12; ++k) call({21}, send, 1);
    }
    ASSERT_EQ(search.find(now, found, 4), 1u);
    const Loop loop = start_of(found[0]);
    EXPECT_EQ(loop.site, path_of({20}));
    EXPECT_NEAR(static_cast<double>(loop.passes), 50, 1);
    EXPECT_TRUE(loop.is_ambiguous);
}

TEST_F(loop_search, what_is_done_every_tenth_time_is_no_loop_around) {
    for (int i = 0; i < 200; ++i) {
        call({20}, send, 1);
        if (i % 10 == 9) call({22}, barrier, 1);
    }
    ASSERT_EQ(search.find(now, found, 4), 1u);
    const Loop loop = start_of(found[0]);
    EXPECT_EQ(loop.site, path_of({20}));
    EXPECT_TRUE(loop.is_ambiguous);
    EXPECT_EQ(loop.other_site, path_of({22}));
}

TEST_F(loop_search, a_few_stages_are_inside_a_step_that_ends_with_a_collective_call) {
    for (int i = 0; i < 50; ++i) {
        for (int k = 0; k < 3; ++k) call({20}, send, 1);
        call({21}, barrier, 1);
    }
    ASSERT_EQ(search.find(now, found, 4), 1u);
    EXPECT_EQ(start_of(found[0]).site, path_of({21}));
}

TEST_F(loop_search, messages_at_every_fourth_step_are_no_loop_around) {
    for (int i = 0; i < 200; ++i) {
        call({20}, send, 1);
        if (i % 4 == 3) call({21}, send, 1);
    }
    ASSERT_EQ(search.find(now, found, 4), 1u);
    EXPECT_EQ(start_of(found[0]).site, path_of({20}));
}

TEST_F(loop_search, tests_are_no_start) {
    for (int i = 0; i < 50; ++i) {
        call({20}, test, 1);
        call({21}, send, 1);
    }
    ASSERT_EQ(search.find(now, found, 4), 1u);
    EXPECT_EQ(tree[start_of(found[0]).start].a, send);
}

TEST_F(loop_search, a_loop_that_only_polls_has_no_passes) {
    for (int i = 0; i < 50; ++i) call({10, 20}, test, i == 0 ? 0 : 2);
    ASSERT_EQ(search.find(now, found, 4), 1u);
    Loop loop;
    EXPECT_FALSE(choose_start(EventList(log), tree, found[0], traits, {}, loop));
}

TEST_F(loop_search, passes_that_are_too_short_to_be_told_apart_are_none) {
    for (int i = 0; i < 5000; ++i) call({10, 20}, send, i == 0 ? 0 : 2, 2000);
    EXPECT_EQ(search.find(now, found, 4), 0u);
    LoopCandidate too_short;
    ASSERT_TRUE(search.find_short(too_short));
    EXPECT_EQ(too_short.entries.site, path_of({10, 20}));
    EXPECT_EQ(too_short.entries.count, 5000u);
    call({30}, send, 0); // the function has returned
    EXPECT_TRUE(search.find_short(too_short));
    for (int i = 0; i < 10; ++i) call({30}, send, 1, 10000000); // and had little of the time
    too_short = {};
    EXPECT_FALSE(search.find_short(too_short));
}

TEST_F(loop_search, short_commands_beside_a_long_one_are_no_passes) {
    for (int i = 0; i < 20; ++i) {
        call({10, 20}, barrier, i == 0 ? 0 : 1);
        for (int k = 0; i == 12 && k < 100; ++k) call({10, 21, 30}, send, k == 0 ? 2 : 3, 10000000);
    }
    ASSERT_EQ(search.find(now, found, 4), 1u);
    EXPECT_EQ(found[0].level, 3u);
    EXPECT_EQ(found[0].entries.count, 100u);
}

TEST_F(loop_search, two_loops_after_each_other_are_both_found) {
    for (int i = 0; i < 50; ++i) call({10, 20}, send, i == 0 ? 0 : 2);
    for (int i = 0; i < 50; ++i) call({11, 20}, send, i == 0 ? 1 : 2);
    EXPECT_EQ(search.find(now, found, 4), 2u);
}

TEST_F(loop_search, a_function_that_calls_itself_for_the_next_pass_is_a_loop) {
    for (std::uint32_t depth = 1; depth <= 300; ++depth) { // deeper than the levels that have tables
        std::vector<std::uint64_t> sites(depth, 5);
        sites[0] = 1; // whoever calls it first
        sites.push_back(6);
        call(sites, send, depth);
        sites.back() = 7;
        call(sites, send, depth + 1);
        call(sites, send, depth + 1);
    }
    ASSERT_EQ(search.find(now, found, 4), 1u);
    EXPECT_TRUE(found[0].is_recursion);
    EXPECT_EQ(found[0].level, 2u);
    EXPECT_EQ(found[0].entries.count, 300u);
    EXPECT_EQ(found[0].entries.site, path_of({1, 5}));
    LoopCandidate running;
    ASSERT_TRUE(search.find_running(now, running));
    EXPECT_TRUE(running.is_recursion);
    // It is one, too, when all have returned.
    call({2}, send, 1);
    ASSERT_EQ(search.find(now, found, 4), 1u);
    EXPECT_EQ(found[0].entries.count, 300u);
}

TEST_F(loop_search, a_recursion_that_goes_up_again_is_no_loop) {
    // A walk over a tree that is a chain of 20 with a leaf at each: depth only grows but for the leaves.
    for (std::uint32_t depth = 1; depth <= 20; ++depth) {
        std::vector<std::uint64_t> sites(depth, 5);
        sites[0] = 1;
        sites.push_back(6);
        call(sites, send, depth);
        sites.back() = 5;
        sites.push_back(6);
        call(sites, send, depth + 1); // the leaf, which returns
    }
    EXPECT_EQ(search.find(now, found, 4), 0u);
}

TEST_F(loop_search, a_recursion_whose_work_shrinks_is_no_loop) {
    std::uint64_t work = 1u << 30;
    for (std::uint32_t depth = 1; depth <= 20; ++depth) {
        std::vector<std::uint64_t> sites(depth, 5);
        sites[0] = 1;
        sites.push_back(6);
        call(sites, send, depth, work);
        work /= 2;
    }
    EXPECT_EQ(search.find(now, found, 4), 0u);
}

TEST_F(loop_search, a_recursion_that_makes_calls_at_its_end_only_is_no_loop) {
    std::vector<std::uint64_t> sites(41, 5);
    sites[0] = 1;
    for (std::uint32_t i = 0; i < 40; ++i) { // while it returns
        sites.back() = 6;
        call(sites, send, i == 0 ? 0 : static_cast<std::uint32_t>(sites.size()));
        sites.pop_back();
    }
    EXPECT_EQ(search.find(now, found, 4), 0u);
}

TEST_F(loop_search, a_loop_that_has_less_than_a_quarter_of_the_time_is_not_taken) {
    for (int i = 0; i < 50; ++i) call({10, 20}, send, i == 0 ? 0 : 2);
    call({11, 20}, send, 1, 20000000);
    EXPECT_EQ(search.find(now, found, 4), 0u);
}

TEST_F(loop_search, the_log_gives_back_what_was_put_in) {
    log.add_sample(77, 12345);
    const EventLog::Cell cells[] = {{3, 1u << 20}, {EventLog::chance_visits, 1}};
    log.add_values(9, cells, 2);
    log.add_event({300, 4, now + 5000, {1, 2, 3}});
    EventLog::Reader reader(log, log.begin());
    LogRecord kind{};
    ASSERT_TRUE(reader.next(kind));
    EXPECT_EQ(kind, LogRecord::Sample);
    EXPECT_EQ(reader.node, 77u);
    EXPECT_EQ(reader.weight, 12345u);
    ASSERT_TRUE(reader.next(kind));
    EXPECT_EQ(kind, LogRecord::Values);
    EXPECT_EQ(reader.node, 9u);
    ASSERT_EQ(reader.count, 2u);
    std::uint32_t metric = 0;
    std::uint64_t increment = 0;
    reader.value(metric, increment);
    EXPECT_EQ(metric, 3u);
    EXPECT_EQ(increment, 1u << 20);
    reader.value(metric, increment);
    EXPECT_EQ(metric, EventLog::chance_visits);
    ASSERT_TRUE(reader.next(kind));
    EXPECT_EQ(kind, LogRecord::Event);
    EXPECT_EQ(reader.event.at, now + 5000);
    EXPECT_EQ(reader.event.common, 4u);
    EXPECT_EQ(reader.event.since.overhead_ns, 3u);
    EXPECT_FALSE(reader.next(kind));
}

TEST_F(loop_search, a_full_log_ends) {
    log.release();
    log.start(40 << 10, now);
    for (int i = 0; i < 20000; ++i) log.add_event({5, 1, now += 100, {}});
    EXPECT_TRUE(log.is_full());
    EXPECT_LE(log.used(), 40u << 10);
}

TEST_F(loop_search, loops_below_the_levels_that_are_followed_are_no_passes_of_what_leads_there) {
    for (const std::uint32_t depth : {LoopSearch::levels - 1, LoopSearch::levels, LoopSearch::levels + 1, LoopSearch::levels + 70}) {
        search.start(now);
        std::vector<std::uint64_t> first(depth - 1, 5), second;
        second = first;
        first.push_back(10); // of the function at level `depth`
        second.push_back(11);
        for (int i = 0; i < 50; ++i) {
            call(first, send, i == 0 ? 0 : depth);
            call(second, barrier, depth);
        }
        const std::uint32_t count = search.find(now, found, 4);
        ASSERT_EQ(count, depth <= LoopSearch::levels ? 1u : 0u) << depth;
        if (count != 0) {
            EXPECT_EQ(found[0].level, depth);
        }
    }
}
