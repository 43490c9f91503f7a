// What all traces of a job together say, on made-up jobs with known losses; and which phase belongs to which loop.
#include "tests/unit/tools_timeseries_program.hpp"
#include "tools/timeseries/actual_iterations.hpp"
#include "tools/timeseries/context_names.hpp"
#include "tools/timeseries/trace_analysis.hpp"

#include <gtest/gtest.h>

using namespace libprofile;
using namespace libprofile::test;

namespace {

/// Four ranks compute in one function, rank 3 longest, then meet in a barrier.
struct LateRank {
    MadeUpProgram program;
    std::uint32_t main = program.call(0, 1);
    std::uint32_t computing = program.call(main, 11), solve = program.call(computing, 1);
    std::uint32_t meeting = program.call(main, 12), barrier = program.mpi(meeting, "MPI_Barrier", TimeCategory::MpiSyncColl);

    LateRank() {
        name(main, "_start");
        name(computing, "main");
        name(meeting, "main");
        name(solve, "solve");
        for (std::uint32_t rank = 0; rank < 4; ++rank) {
            Location& location = program.profile.locations.emplace_back();
            location.rank = rank;
            const int computes = rank == 3 ? 80 : 40;
            for (int i = 0; i < 100; ++i) add_sample(location.trace, i < computes ? solve : barrier, i == 0 || i == computes ? 1 : 3);
        }
    }
    void name(std::uint32_t path, const char* function) { program.profile.sites[program.profile.paths[path].target].name.function = function; }
};

/// A loop in main from line 10 to 20 with a call in line 11, one of them in line 14 in a loop of its own, and a call behind it.
struct PhaseInLoop {
    MadeUpProgram program;
    std::uint32_t main = program.call(0, 1);
    std::uint32_t first = program.call(program.call(main, 11), 100), second = program.call(program.call(main, 14), 100),
                  after = program.call(program.call(main, 30), 100);
    Contexts contexts{program.profile, &program.loops};
    Location location;

    PhaseInLoop() {
        program.loops.loops = {{10, 20}, {13, 15}};
        program.profile.phases = {{"", PhaseKind::Outside}, {"step", PhaseKind::Iterations}};
        for (const std::uint32_t path : {first, second, after}) contexts.of_sample(path);
    }
    void phase(std::uint64_t instances, std::vector<std::uint32_t> paths) {
        PhaseData& data = location.phases.emplace_back();
        data.phase = 1;
        data.instances = instances;
        for (const std::uint32_t path : paths) data.rest.push_back({path, 0, 1});
    }
    std::map<std::uint64_t, std::uint64_t> actual() {
        std::map<std::uint64_t, std::uint64_t> by_header;
        for (const auto& [context, n] : actual_iterations(program.profile, {&location}, contexts, program.loops)) by_header[contexts[context].loop] = n;
        return by_header;
    }
};

using Numbers = std::map<std::uint64_t, std::uint64_t>;

} // namespace

TEST(TraceAnalysis, NamesTheRankThatIsLateAndWhatTheRunLoses) {
    const LateRank job;
    const BinaryLoops loops(job.program.profile);
    const TraceAnalysis analysis = analyse_trace(job.program.profile, loops);
    ASSERT_EQ(analysis.segments.size(), 1u);
    const LostSegment& segment = analysis.segments[0];
    EXPECT_TRUE(segment.has_synchronisation);
    // On average 50 of 100 periods; the longest computes 80.
    EXPECT_NEAR(segment.sum_imb, 30 * test_period, 2 * test_period);
    EXPECT_NEAR(analysis.run_ns, 100 * test_period, test_period);
    EXPECT_TRUE(segment.sign == SegmentSign::Imbalance || segment.sign == SegmentSign::All);
    ASSERT_EQ(segment.paths.size(), 2u);
    EXPECT_EQ(segment.paths[0].ranks, (std::vector<std::uint32_t>{3})); // takes longest
    EXPECT_EQ(segment.paths[1].node_class, NodeClass::Synchronisation);
    EXPECT_EQ(segment.paths[1].ranks, (std::vector<std::uint32_t>{3})); // waits least
    const ContextNames names(job.program.profile, analysis.series.contexts, loops);
    EXPECT_EQ(names.path(segment.paths[0].context), (std::vector<std::string>{"main", "solve"}));
    EXPECT_EQ(names.path(segment.paths[1].context), (std::vector<std::string>{"main", "MPI_Barrier"}));
}

TEST(TraceAnalysis, CountsSamplesBelowCodeThatIsNotHere) {
    const LateRank job;
    const BinaryLoops loops(job.program.profile);
    const TraceAnalysis analysis = analyse_trace(job.program.profile, loops);
    EXPECT_EQ(analysis.unknown_loop_paths, 400u); // its only module is no file
    EXPECT_EQ(loops.absent().size(), 1u);
    EXPECT_TRUE(analysis.loops.empty());
}

TEST(TraceAnalysis, LooksAtMainThreadsOnly) {
    LateRank job;
    Location worker = job.program.profile.locations[0];
    worker.thread = 1;
    job.program.profile.locations.push_back(worker);
    const BinaryLoops loops(job.program.profile);
    const TraceAnalysis analysis = analyse_trace(job.program.profile, loops);
    EXPECT_EQ(analysis.other_threads, 1u);
    EXPECT_EQ(analysis.series.threads.size(), 4u);
}

TEST(ActualIterations, BelongToTheLoopInWhichCallPathsPart) {
    PhaseInLoop job;
    job.phase(7, {job.first, job.second});
    EXPECT_EQ(job.actual(), (Numbers{{10, 7}}));
}

TEST(ActualIterations, OfAnInnerLoopAreNotThoseOfTheOuterOne) {
    PhaseInLoop job;
    job.phase(7, {job.second});
    EXPECT_EQ(job.actual(), (Numbers{{13, 7}}));
}

TEST(ActualIterations, WithoutALoopAreUnknown) {
    PhaseInLoop job;
    job.phase(7, {job.first, job.after});
    EXPECT_EQ(job.actual(), Numbers{});
}

TEST(ActualIterations, OfFoundLoopsBelongToTheLoopAroundTheirCall) {
    PhaseInLoop job;
    job.phase(7, {job.second}); // all samples lie in the inner loop, but its passes begin in line 11
    FoundLoop found;
    found.phase = "step";
    found.module = job.program.profile.modules[0];
    found.offset = 11;
    found.missed = 2;
    job.location.loop_search.emplace().loops = {found};
    EXPECT_EQ(job.actual(), (Numbers{{10, 9}}));
}
