// Temporal context trees and their iterations: the worked example of Wei and Mellor-Crummey (ICS 2018), Figures 2 to 6, and what it leaves open.
#include "tests/unit/tools_timeseries_program.hpp"

#include <gtest/gtest.h>

using namespace libprofile;
using namespace libprofile::test;

namespace {

/// Figure 2: main() calls foo() on line 13. That calls C() on line 5, then in the loop on line 6 A(), B(), C() on lines 7 to 9.
struct WorkedExample {
    MadeUpProgram program;
    Trace trace;
    std::uint32_t main;

    WorkedExample() : main(program.call(0, 13)) {
        program.loops.loops = {{6, 9}};
        // Figure 3: three iterations; A() of the second one returned between T5 and T6.
        in(5, false);
        in(7, false);
        in(8, false);
        in(7, false);
        in(7, true);
        in(7, false);
        in(7, true);
        in(9, false);
    }
    /// A sample in the function called on this line of foo(), in the activation of the sample before or in a new one.
    void in(std::uint64_t line, bool same) { add_sample(trace, program.call(program.call(main, line), 1), same ? 3 : 2); }
};

TimeSeriesParameters all_accepted() {
    TimeSeriesParameters parameters;
    parameters.child_num_acc = 1;
    return parameters;
}

} // namespace

TEST(TemporalContextTree, IsThatOfTheWorkedExample) {
    const WorkedExample e;
    EXPECT_EQ(MadeUpTree(e.program, e.trace, LoopForm::Children).text(),
              "thread 0.5-8.5 (@13 0.5-8.5 (@5 0.5-1.5, loop@6 1.5-8.5 (@7 1.5-2.5, @8 2.5-3.5, @7 3.5-5.5, @7 5.5-7.5, @9 7.5-8.5)))");
}

TEST(TemporalContextTree, HasTheIterationsOfTheWorkedExample) {
    const WorkedExample e;
    const MadeUpTree made(e.program, e.trace, LoopForm::Iterations, all_accepted());
    EXPECT_EQ(made.text(), "thread 0.5-8.5 (@13 0.5-8.5 (@5 0.5-1.5, loop@6 1.5-8.5 (pass 1.5-3.5 (@7 1.5-2.5, @8 2.5-3.5), pass 3.5-5.5 (@7 3.5-5.5), "
                           "pass 5.5-8.5 (@7 5.5-7.5, @9 7.5-8.5))))");
    ASSERT_EQ(made.tree.loops.size(), 1u);
    EXPECT_EQ(made.tree.loops[0].found.accepted, 3u);
    EXPECT_EQ(made.tree.loops[0].found.begins, (std::vector<double>{1500, 3500, 5500}));
}

TEST(TemporalContextTree, WithoutAncestorsTwoPassesLookLikeOne) {
    WorkedExample e;
    for (TraceSample& sample : e.trace.samples) sample.lca_kind = LcaKind::Unknown;
    const MadeUpTree made(e.program, e.trace, LoopForm::Iterations, all_accepted());
    EXPECT_EQ(made.text(), "thread 0.5-8.5 (@13 0.5-8.5 (@5 0.5-1.5, loop@6 1.5-8.5 (pass 1.5-3.5 (@7 1.5-2.5, @8 2.5-3.5), pass 3.5-8.5 (@7 3.5-7.5, "
                           "@9 7.5-8.5))))");
}

TEST(TemporalContextTree, ShortIterationsBecomeAProfile) {
    const WorkedExample e;
    const MadeUpTree made(e.program, e.trace, LoopForm::Iterations);
    EXPECT_EQ(made.text(), "thread 0.5-8.5 (@13 0.5-8.5 (@5 0.5-1.5, loop@6 =7 (@7 =5, @8 =1, @9 =1)))");
    EXPECT_EQ(made.tree.loops[0].found.rejected, 3u);
    EXPECT_TRUE(made.tree.loops[0].found.is_profile);
}

TEST(TemporalContextTree, OnlyRejectedIterationsBecomeAProfile) {
    WorkedExample e;
    // A fourth pass, long enough: A for 7 periods.
    e.in(7, false);
    for (int i = 0; i < 6; ++i) e.in(7, true);
    TimeSeriesParameters parameters;
    EXPECT_EQ(MadeUpTree(e.program, e.trace, LoopForm::Iterations).text(),
              "thread 0.5-15.5 (@13 0.5-15.5 (@5 0.5-1.5, loop@6 1.5-15.5 (pass 1.5-8.5 (@7 1.5-8.5), @7 =5, @8 =1, @9 =1)))")
        << "half of the time is not more than half";
    e.in(9, false); // a last call in the fourth pass, then short passes
    e.in(7, false);
    e.in(9, false);
    const MadeUpTree made(e.program, e.trace, LoopForm::Iterations);
    EXPECT_TRUE(made.tree.loops[0].found.is_profile) << made.text();
    EXPECT_EQ(made.tree.loops[0].found.accepted, 1u);
}

TEST(TemporalContextTree, FiveChildrenOrFivePeriodsAcceptAnIteration) {
    MadeUpProgram program;
    program.loops.loops = {{10, 20}};
    const std::uint32_t main = program.call(0, 1);
    const auto accepted = [&](const std::vector<std::pair<std::uint64_t, int>>& calls, std::uint64_t stride) {
        Trace trace;
        for (const auto& [line, samples] : calls)
            for (int i = 0; i < samples; ++i) add_sample(trace, program.call(program.call(main, line), 1), i == 0 ? 2 : 3);
        for (TraceSample& sample : trace.samples) sample.time_ns *= stride;
        return MadeUpTree(program, trace, LoopForm::Iterations).tree.loops.at(0).found.accepted;
    };
    for (const std::uint64_t stride : {1, 4}) {
        EXPECT_EQ(accepted({{11, 1}, {12, 1}, {13, 1}, {14, 1}, {15, 1}}, stride), 1u);
        EXPECT_EQ(accepted({{11, 1}, {12, 1}, {13, 1}, {14, 1}}, stride), 0u);
        EXPECT_EQ(accepted({{11, 5}}, stride), 1u);
        EXPECT_EQ(accepted({{11, 4}, {12, 4}}, stride), 0u);
    }
}

TEST(TemporalContextTree, TimeAwayBelongsToTheCommonAncestor) {
    WorkedExample e;
    for (std::size_t i = 3; i < e.trace.samples.size(); ++i) e.trace.samples[i].time_ns += 10000; // between B and A: in the loop
    for (std::size_t i = 6; i < e.trace.samples.size(); ++i) e.trace.samples[i].time_ns += 10000; // inside one call of A
    EXPECT_EQ(MadeUpTree(e.program, e.trace, LoopForm::Children).text(),
              "thread 0.5-28.5 (@13 0.5-28.5 (@5 0.5-1.5, loop@6 1.5-28.5 (@7 1.5-2.5, @8 2.5-3.5, @7 13.5-15.5, @7 15.5-27.5, @9 27.5-28.5)))");
}

TEST(TemporalContextTree, InnerLoopsStayOpenUntilTheOuterOneIsSeen) {
    MadeUpProgram program;
    program.loops.loops = {{10, 30}, {15, 20}};
    const std::uint32_t main = program.call(0, 1);
    Trace trace;
    for (int pass = 0; pass < 2; ++pass)
        for (const std::uint64_t line : {11, 16, 17, 16, 17, 25}) add_sample(trace, program.call(program.call(main, line), 1), 2);
    EXPECT_EQ(MadeUpTree(program, trace, LoopForm::Iterations, all_accepted()).text(),
              "thread 0.5-12.5 (@1 0.5-12.5 (loop@10 0.5-12.5 ("
              "pass 0.5-6.5 (@11 0.5-1.5, loop@15 1.5-5.5 (pass 1.5-3.5 (@16 1.5-2.5, @17 2.5-3.5), pass 3.5-5.5 (@16 3.5-4.5, @17 4.5-5.5)), @25 5.5-6.5), "
              "pass 6.5-12.5 (@11 6.5-7.5, loop@15 7.5-11.5 (pass 7.5-9.5 (@16 7.5-8.5, @17 8.5-9.5), pass 9.5-11.5 (@16 9.5-10.5, @17 10.5-11.5)), "
              "@25 11.5-12.5))))");
}

TEST(TemporalContextTree, ALoopLeftWithItsFunctionIsAnother) {
    MadeUpProgram program;
    program.loops.loops = {{10, 20}};
    const std::uint32_t called = program.call(program.call(0, 1), 11), leaf = program.call(called, 1);
    Trace trace;
    add_sample(trace, leaf, 0);
    add_sample(trace, leaf, 2); // the loop's function goes on
    add_sample(trace, leaf, 1); // main only
    EXPECT_EQ(MadeUpTree(program, trace, LoopForm::Children).text(), "thread 0.5-3.5 (@1 0.5-2.5 (loop@10 0.5-2.5 (@11 0.5-1.5, @11 1.5-2.5)), "
                                                                     "@1 2.5-3.5 (loop@10 2.5-3.5 (@11 2.5-3.5)))");
}

TEST(TemporalContextTree, TimeInTheLoopsOwnCodeIsItsOwn) {
    WorkedExample e;
    add_sample(e.trace, e.program.call(e.main, 8), 2); // at an instruction of line 8, in no call
    EXPECT_EQ(MadeUpTree(e.program, e.trace, LoopForm::Children).text(),
              "thread 0.5-9.5 (@13 0.5-9.5 (@5 0.5-1.5, loop@6 1.5-9.5 (@7 1.5-2.5, @8 2.5-3.5, @7 3.5-5.5, @7 5.5-7.5, @9 7.5-8.5)))");
}

TEST(TemporalContextTree, KnownIterationsReplaceTheLoop) {
    const WorkedExample e;
    // The phase has other iterations than the loop: two, that end inside calls.
    const MadeUpTree made(e.program, e.trace, LoopForm::Iterations, {}, {{4, {{1600, 4400}, {4400, 8000}}}});
    EXPECT_EQ(made.text(), "thread 0.5-8.5 (@13 0.5-8.5 (@5 0.5-1.6, phase 1.6-8 (pass 1.6-4.4 (@7 1.6-2.5, @8 2.5-3.5, @7 3.5-4.4), "
                           "pass 4.4-8 (@7 4.4-5.5, @7 5.5-8)), loop@6 =0.5 (@9 =0.5)))");
    EXPECT_EQ(made.tree.loops[0].found.accepted, 2u);
    EXPECT_EQ(made.contexts[made.known.loops()[0].replaced].loop, 6u);
}

TEST(TemporalContextTree, KnownIterationsNeedNoLoopInTheCode) {
    WorkedExample e;
    e.program.loops.loops.clear();
    EXPECT_EQ(MadeUpTree(e.program, e.trace, LoopForm::Iterations, {}, {{4, {{1500, 3500}, {3500, 5500}, {5500, 9000}}}}).text(),
              "thread 0.5-8.5 (@13 0.5-8.5 (@5 0.5-1.5, phase 1.5-8.5 (pass 1.5-3.5 (@7 1.5-2.5, @8 2.5-3.5), pass 3.5-5.5 (@7 3.5-5.5), "
              "pass 5.5-8.5 (@7 5.5-7.5, @9 7.5-8.5))))");
}

TEST(TemporalContextTree, FunctionsThatWereInlinedAreNoContexts) {
    WorkedExample e;
    const std::uint32_t at = e.trace.samples[1].path, inlined = static_cast<std::uint32_t>(e.program.profile.paths.size());
    e.program.profile.paths.push_back({e.program.profile.paths[at].parent, NodeKind::Inlined, 0, 0});
    const std::string before = MadeUpTree(e.program, e.trace, LoopForm::Children).text();
    e.program.profile.paths[at].parent = inlined; // parents with higher numbers do not matter here
    EXPECT_EQ(MadeUpTree(e.program, e.trace, LoopForm::Children).text(), before);
}

namespace {

/// Figure 2 with a call of MPI on line 8 that sleeps: it has no samples, or one.
struct Sleeping {
    MadeUpProgram program;
    Trace trace;
    std::uint32_t foo, barrier;

    Sleeping() : foo(program.call(0, 13)), barrier(program.mpi(program.call(foo, 8), "MPI_Barrier", TimeCategory::MpiSyncColl)) {
        program.loops.loops = {{6, 9}};
        trace.stride = 1;
        sample(1000, 5);
        sample(2000, 7);
        wait(2400, 5000);
        sample(6000, 7);
        wait(6400, 9000);
    }
    void sample(std::uint64_t time, std::uint64_t line) { trace.samples.push_back({time, program.call(program.call(foo, line), 1), 2, LcaKind::Exact}); }
    void wait(std::uint64_t begin, std::uint64_t end) { trace.waits.push_back({begin, end, barrier, 2, LcaKind::Exact, 2, LcaKind::Exact}); }
    std::string text(LoopForm form = LoopForm::Children) const { return MadeUpTree(program, trace, form, all_accepted()).text(); }
};

} // namespace

TEST(TemporalContextTree, AWaitHasItsBeginAndItsEnd) {
    Sleeping e;
    e.sample(10000, 7);
    EXPECT_EQ(sampling_period(e.trace), test_period) << "that of samples that ran";
    EXPECT_EQ(e.text(), "thread 0.5-10.5 (@13 0.5-10.5 (@5 0.5-1.5, loop@6 1.5-10.5 (@7 1.5-2.4, @8 2.4-5, @7 5-6.4, @8 6.4-9, @7 9-10.5)))");
    EXPECT_EQ(e.text(LoopForm::Iterations), "thread 0.5-10.5 (@13 0.5-10.5 (@5 0.5-1.5, loop@6 1.5-10.5 (pass 1.5-5 (@7 1.5-2.4, @8 2.4-5), "
                                            "pass 5-9 (@7 5-6.4, @8 6.4-9), pass 9-10.5 (@7 9-10.5))))");
}

TEST(TemporalContextTree, SamplesInAWaitAreOneCallWithIt) {
    Sleeping e;
    e.trace.samples.insert(e.trace.samples.begin() + 2, {3000, e.barrier, 2, LcaKind::Exact});
    e.trace.waits[0].lca_depth = 3; // with the sample inside
    EXPECT_EQ(e.text(), "thread 0.5-9 (@13 0.5-9 (@5 0.5-1.5, loop@6 1.5-9 (@7 1.5-2.4, @8 2.4-5, @7 5-6.4, @8 6.4-9)))");
}

TEST(TemporalContextTree, TwoWaitsInARowAreTwoCallsAndWhatIsBetweenIsTheirFunctions) {
    Sleeping e;
    e.wait(9300, 12000);
    e.trace.waits.push_back({12500, 14000, e.barrier}); // nothing is known of what goes on
    e.sample(18000, 7);
    EXPECT_EQ(e.text(), "thread 0.5-18.5 (@13 0.5-18.5 (@5 0.5-1.5, loop@6 1.5-18.5 (@7 1.5-2.4, @8 2.4-5, @7 5-6.4, @8 6.4-9, @8 9.3-12, @8 12.5-14, "
                        "@7 17.5-18.5)))");
}

TEST(TemporalContextTree, TheFunctionThatWasLeftInAWaitEndsThere) {
    Sleeping e;
    e.trace.waits[0].after_depth = 1; // foo() was called again after the first
    e.trace.samples[2].lca_depth = 1;
    EXPECT_EQ(e.text(), "thread 0.5-9 (@13 0.5-5 (@5 0.5-1.5, loop@6 1.5-5 (@7 1.5-2.4, @8 2.4-5)), @13 5-9 (loop@6 5-9 (@7 5-6.4, @8 6.4-9)))");
}

TEST(TemporalContextTree, KnownIterationsHaveTheirWaits) {
    const Sleeping e;
    const MadeUpTree made(e.program, e.trace, LoopForm::Iterations, {}, {{0, {{1600, 5100}, {5200, 9100}}}});
    EXPECT_EQ(made.tree.loops.back().found.accepted, 2u) << made.text();
    EXPECT_NE(made.text().find("@8 2.4-5"), std::string::npos) << made.text();
    EXPECT_NE(made.text().find("@8 6.4-9"), std::string::npos) << made.text();
}

TEST(TemporalContextTree, HostileWaitsDoNoHarm) {
    Sleeping e;
    e.trace.waits = {{9000, 10000, e.barrier}, {100, 200, e.barrier}, {~0ull - 5, ~0ull, e.barrier}, {0, ~0ull, e.barrier}, {5, 5, e.barrier}};
    EXPECT_FALSE(e.text().empty());
    e.trace.samples.clear();
    EXPECT_FALSE(e.text().empty());
}
