// Losses by imbalance and waiting, from traces to segments: the examples of Wei and Mellor-Crummey (ICS 2018), and generated jobs with known losses.
#include "libprofile/base/function_records.hpp"
#include "tests/unit/tools_timeseries_program.hpp"
#include "tools/timeseries/iteration_score.hpp"
#include "tools/timeseries/job_series.hpp"
#include "tools/timeseries/parameter_table.hpp"
#include "tools/timeseries/segments.hpp"

#include <gtest/gtest.h>
#include <set>
#include <span>

using namespace libprofile;
using namespace libprofile::test;

namespace {

/// Ranks that run parts of main() one after the other: functions, or calls of MPI.
struct Ranks {
    MadeUpProgram program;
    std::uint32_t main = program.call(0, 1);
    std::vector<Location> locations;

    void add_rank() { locations.emplace_back().rank = static_cast<std::uint32_t>(locations.size() - 1); }
    /// So many samples of the last rank in a function called on this line, or of MPI if it has a name.
    void run(std::uint64_t line, int samples, const char* mpi = nullptr, TimeCategory category = TimeCategory::MpiSyncColl) {
        const std::uint32_t call = program.call(main, line);
        for (int i = 0; i < samples; ++i)
            if (mpi != nullptr)
                add_sample(locations.back().trace, program.mpi(call, mpi, category), 2);
            else
                add_sample(locations.back().trace, program.call(call, 1), i == 0 ? 2 : 3);
    }
    JobSeries series(const TimeSeriesParameters& parameters = {}) const {
        SeriesInput input{program.profile, {}, &program.loops, nullptr};
        for (const Location& location : locations) input.threads.push_back(&location);
        return job_series(input, parameters);
    }
};

struct Losses {
    JobSeries job;
    std::vector<NodeLoss> losses;
    std::vector<SignificantPath> paths;
    std::vector<Segment> cut;

    explicit Losses(const Ranks& ranks, const TimeSeriesParameters& parameters = {})
        : job(ranks.series(parameters)), losses(node_losses(ranks.program.profile, job.contexts, job.mean)),
          paths(significant_paths(losses, job.mean.high, parameters)), cut(segments(losses, paths, job.mean.high, parameters)) {}
    std::uint64_t line(const NodeLoss& loss) const { return job.contexts[loss.node->context].place.offset; }
    const NodeLoss& at_line(std::uint64_t line) const {
        for (const NodeLoss& loss : losses)
            if (job.contexts[loss.node->context].kind == ContextKind::Call && this->line(loss) == line) return loss;
        throw std::runtime_error("no such line");
    }
    std::vector<std::uint64_t> lines(const Segment& segment) const {
        std::vector<std::uint64_t> lines;
        for (const SignificantPath& path : segment.paths) lines.push_back(line(losses[path.loss]));
        return lines;
    }
};

/// Figure 9: X, Y and Z on three ranks. X and Y together take equally long.
Ranks figure_9(bool y_is_barrier, int scale, int z) {
    Ranks ranks;
    for (const int x : {12, 8, 4}) {
        ranks.add_rank();
        ranks.run(11, x * scale);
        ranks.run(12, (12 - x) * scale, y_is_barrier ? "MPI_Barrier" : nullptr);
        ranks.run(13, z, "MPI_Barrier");
    }
    return ranks;
}

FunctionClass class_of_function(const char* name) {
    for (unsigned i = 0; mpi_functions[i].name != nullptr && i < mpi_function_count; ++i)
        if (std::string_view(mpi_functions[i].name) == name) return function_class(name, mpi_functions[i].category);
    throw std::runtime_error(name);
}

} // namespace

TEST(FunctionClasses, FollowFromWhatTheFunctionsPromise) {
    for (const char* name : {"MPI_Barrier", "MPI_Allreduce", "MPI_Allreduce_c", "MPI_Alltoallv", "MPI_Reduce_scatter_block", "MPI_Win_fence", "MPI_Comm_split",
                             "MPI_Intercomm_create", "MPI_Init", "MPI_Finalize", "MPI_File_write_at_all", "MPI_File_open"})
        EXPECT_EQ(class_of_function(name), FunctionClass::Synchronisation) << name;
    for (const char* name : {"MPI_Send", "MPI_Recv_c", "MPI_Wait", "MPI_Waitall", "MPI_Sendrecv", "MPI_Probe", "MPI_Test", "MPI_Iprobe", "MPI_Scan",
                             "MPI_Neighbor_alltoall", "MPI_Win_lock", "MPI_Win_wait"})
        EXPECT_EQ(class_of_function(name), FunctionClass::Wait) << name;
    for (const char* name : {"MPI_Isend", "MPI_Ibarrier", "MPI_Iallreduce_c", "MPI_Allreduce_init", "MPI_Start", "MPI_Put", "MPI_Comm_rank", "MPI_Bsend",
                             "MPI_File_write", "MPI_File_iwrite_all", "MPI_Type_commit", "MPI_Win_post"})
        EXPECT_EQ(class_of_function(name), FunctionClass::Computation) << name;
    for (const char* name : {"MPI_Bcast", "MPI_Scatterv_c"}) EXPECT_EQ(class_of_function(name), FunctionClass::FromRoot) << name;
    for (const char* name : {"MPI_Gather", "MPI_Reduce"}) EXPECT_EQ(class_of_function(name), FunctionClass::ToRoot) << name;
    EXPECT_EQ(class_on_rank(FunctionClass::FromRoot, true), NodeClass::Computation);
    EXPECT_EQ(class_on_rank(FunctionClass::FromRoot, false), NodeClass::Wait);
    EXPECT_EQ(class_on_rank(FunctionClass::ToRoot, true), NodeClass::Wait);
    EXPECT_EQ(class_on_rank(FunctionClass::ToRoot, false), NodeClass::Computation);
    EXPECT_EQ(class_in_job(FunctionClass::ToRoot), NodeClass::Wait);
    EXPECT_EQ(class_in_job(FunctionClass::FromRoot), NodeClass::Wait);
}

TEST(FunctionClasses, NonblockingAndLocalFunctionsNeverSynchronise) {
    const std::set<std::string_view> in_name{"MPI_Init", "MPI_Init_thread", "MPI_Intercomm_create", "MPI_Intercomm_create_from_groups", "MPI_Intercomm_merge"};
    unsigned synchronising = 0;
    for (const MpiFunction& function : std::span(mpi_functions, mpi_function_count)) {
        const std::string_view name = function.name;
        const FunctionClass found = function_class(name, function.category);
        synchronising += found == FunctionClass::Synchronisation;
        if ((name.starts_with("MPI_I") && !in_name.contains(name)) || name.ends_with("_init") || function.trait == MpiTrait::datatype) {
            EXPECT_TRUE(found == FunctionClass::Computation || function.trait == MpiTrait::poll) << name;
        }
        if (function.trait == MpiTrait::poll) {
            EXPECT_EQ(found, FunctionClass::Wait) << name;
        }
    }
    EXPECT_GT(synchronising, 40u);
    EXPECT_EQ(function_class("omp barrier", TimeCategory::OmpBarrier), FunctionClass::Synchronisation);
    EXPECT_EQ(function_class("omp critical", TimeCategory::OmpLock), FunctionClass::Wait);
    EXPECT_EQ(function_class("omp parallel", TimeCategory::OmpOther), FunctionClass::Computation);
}

TEST(Imbalance, OfWorkIsThatOfTheSynchronisationAfterItInFigure9) {
    const Losses found(figure_9(true, 1, 2));
    EXPECT_NEAR(found.at_line(11).imb, 4 * test_period, 1e-6);
    EXPECT_NEAR(found.at_line(12).imb, 4 * test_period, 1e-6);
    EXPECT_NEAR(found.at_line(12).wait, 0, 1e-6);
    EXPECT_NEAR(found.at_line(13).imb, 0, 1e-6);
    EXPECT_NEAR(found.at_line(13).wait, 2 * test_period, 1e-6);
    EXPECT_NEAR(found.losses[0].imb, 0, 1e-6) << "all ranks run equally long";
    EXPECT_NEAR(found.losses[0].sum_imb, 8 * test_period, 1e-6);
    EXPECT_NEAR(found.losses[0].sum_wait, 2 * test_period, 1e-6);
}

TEST(Segments, EndWithSynchronisationsInFigure9) {
    const Losses found(figure_9(true, 1, 2));
    ASSERT_EQ(found.cut.size(), 2u);
    EXPECT_EQ(found.lines(found.cut[0]), (std::vector<std::uint64_t>{11, 12}));
    EXPECT_EQ(found.cut[0].sign, SegmentSign::Imbalance); // row 3
    EXPECT_NEAR(found.cut[0].imb, 4 * test_period, 1e-6);
    EXPECT_NEAR(found.cut[0].sum_imb, 4 * test_period, 1e-6);
    EXPECT_EQ(found.lines(found.cut[1]), (std::vector<std::uint64_t>{13}));
    EXPECT_EQ(found.cut[1].sign, SegmentSign::Waiting);
}

TEST(Segments, ImbalancesThatTradeOffAreRow2) {
    const Losses found(figure_9(false, 10, 1)); // X and Y are both computation
    ASSERT_EQ(found.cut.size(), 1u);
    EXPECT_EQ(found.lines(found.cut[0]), (std::vector<std::uint64_t>{11, 12, 13}));
    EXPECT_NEAR(found.cut[0].sum_imb, 80 * test_period, 1e-6);
    EXPECT_NEAR(found.cut[0].imb, 0, 1e-6);
    EXPECT_EQ(found.cut[0].sign, SegmentSign::TradeOff);
}

TEST(Segments, HaveARowOfTable2EachWhereTheyMeanSomething) {
    const auto sign = [](double imb, double work, double wait) {
        // A root with a computing, a waiting and a synchronising node, whose losses are given.
        static TimeNode nodes[4];
        std::vector<NodeLoss> losses{{&nodes[0], 0, 4},
                                     {&nodes[1], 0, 2, NodeClass::Computation, 1, work},
                                     {&nodes[2], 0, 3, NodeClass::Wait, 1, 0, wait},
                                     {&nodes[3], 0, 4, NodeClass::Synchronisation, 1, imb}};
        const auto found = segments(losses, {{1, true, false}, {2, false, true}, {3, true, false}}, 1000, {});
        EXPECT_EQ(found.size(), 1u);
        return found.at(0).sign;
    };
    EXPECT_EQ(sign(1, 1, 100), SegmentSign::Waiting);
    EXPECT_EQ(sign(1, 100, 1), SegmentSign::TradeOff);
    EXPECT_EQ(sign(20, 600, 1), SegmentSign::TradeOff) << "S1 of Table 5: high for the run, but little of the sum";
    EXPECT_EQ(sign(88, 88, 0), SegmentSign::Imbalance) << "S2 of Table 5";
    EXPECT_EQ(sign(2, 113, 52), SegmentSign::TradeOffAndWaiting) << "S3 of Table 5";
    EXPECT_EQ(sign(100, 100, 100), SegmentSign::All);
    EXPECT_EQ(sign(1, 1, 1), SegmentSign::None);
    for (const SegmentSign each : {SegmentSign::Waiting, SegmentSign::TradeOff, SegmentSign::Imbalance, SegmentSign::TradeOffAndWaiting, SegmentSign::All})
        EXPECT_STRNE(advice(each), "");
}

TEST(SignificantPaths, LieWhereTheLossArises) {
    // f() calls g() and h(); only g() is out of balance. k() calls two functions that are, and add up.
    Ranks ranks;
    for (const int work : {30, 10}) {
        ranks.add_rank();
        Trace& trace = ranks.locations.back().trace;
        const auto inside = [&](std::uint64_t outer, std::uint64_t inner, int samples) {
            const std::uint32_t at = ranks.program.call(ranks.program.call(ranks.program.call(ranks.main, outer), inner), 1);
            for (int i = 0; i < samples; ++i) add_sample(trace, at, i != 0 ? 4 : trace.samples.empty() ? 0 : 3);
        };
        inside(11, 21, work); // g
        inside(11, 22, 20);   // h
        ranks.run(12, 40 - work, "MPI_Barrier");
        inside(13, 31, work);
        inside(13, 32, work);
        ranks.run(14, 80 - 2 * work, "MPI_Barrier");
    }
    const Losses found(ranks);
    ASSERT_EQ(found.cut.size(), 2u);
    EXPECT_EQ(found.lines(found.cut[0]), (std::vector<std::uint64_t>{21, 12}));
    EXPECT_EQ(found.lines(found.cut[1]), (std::vector<std::uint64_t>{13, 14})) << "neither half has most of it";
}

TEST(SignificantPaths, LeaveOutWhatIsSmall) {
    Ranks ranks;
    for (const int more : {0, 1}) {
        ranks.add_rank();
        ranks.run(11, 1200 + more);
        ranks.run(12, 1200 - more);
    }
    const Losses found(ranks);
    EXPECT_TRUE(found.paths.empty()) << found.paths.size(); // half a period of 2400 is 0.02 %
    TimeSeriesParameters parameters;
    parameters.significance_ratio = 0.0001;
    EXPECT_EQ(Losses(ranks, parameters).paths.size(), 2u);
}

TEST(Imbalance, ThatMovesBetweenRanksIsCountedInEachIteration) {
    // In iteration i, rank i % 4 computes 30 periods, the others 10 and then wait: all ranks compute the same in the end.
    Ranks ranks;
    ranks.program.loops.loops = {{10, 20}};
    constexpr int passes = 32;
    for (int rank = 0; rank < 4; ++rank) {
        ranks.add_rank();
        for (int i = 0; i < passes; ++i) {
            const int work = i % 4 == rank ? 30 : 10;
            ranks.run(11, work);
            ranks.run(12, 40 - work, "MPI_Allreduce", TimeCategory::MpiColl);
        }
    }
    const Losses found(ranks);
    ASSERT_EQ(found.job.loops.size(), 1u);
    EXPECT_EQ(found.job.loops[0].accepted, 4u * passes);
    EXPECT_EQ(found.job.loops[0].rejected, 0u);
    double imb = 0;
    for (const NodeLoss& loss : found.losses)
        if (found.line(loss) == 11 && loss.node->kind == TimeKind::Call) imb += loss.imb;
    EXPECT_NEAR(imb, passes * (30 - 15) * test_period, 1);
    EXPECT_EQ(found.cut.at(0).sign, SegmentSign::All); // 10 of 40 periods all wait
}

TEST(Imbalance, OfIterationsThatAreLongOnAllRanksIsNone) {
    Ranks ranks;
    ranks.program.loops.loops = {{10, 20}};
    for (int rank = 0; rank < 3; ++rank) {
        ranks.add_rank();
        for (int i = 0; i < 20; ++i) ranks.run(11, i % 5 == 0 ? 30 : 10 + i % 2);
    }
    const Losses found(ranks);
    for (const NodeLoss& loss : found.losses) EXPECT_NEAR(loss.imb, 0, 1e-6);
    EXPECT_TRUE(found.cut.empty());
}

TEST(JobSeries, RanksThatDoOtherThingsAreOtherClusters) {
    Ranks ranks;
    for (int rank = 0; rank < 64; ++rank) {
        ranks.add_rank();
        ranks.run(11, 100 + rank % 3);
        if (rank == 0) ranks.run(13, 400); // writes
        if (rank % 16 == 5) ranks.run(14, 150, "MPI_Recv", TimeCategory::MpiP2p);
        ranks.run(15, rank == 0 ? 10 : rank % 16 == 5 ? 260 : 410, "MPI_Barrier");
    }
    const JobSeries job = ranks.series();
    std::map<std::vector<std::uint32_t>, int> clusters;
    std::size_t members = 0;
    for (const TimeCluster& cluster : job.clusters) {
        members += cluster.members.size();
        ++clusters[cluster.members];
    }
    EXPECT_EQ(members, 64u);
    ASSERT_EQ(job.clusters.size(), 3u);
    EXPECT_TRUE(clusters.contains({0}));
    EXPECT_TRUE(clusters.contains({5, 21, 37, 53}));
    EXPECT_EQ(job.clusters[0].representative.duration, job.clusters[0].representative.least);
}

/// That have little in common.
static Ranks unlike_ranks() {
    Ranks ranks;
    for (int rank = 0; rank < 16; ++rank) {
        ranks.add_rank();
        for (int i = 0; i < 100; ++i) ranks.run(static_cast<std::uint64_t>(10 + (i * (7 + 2 * rank)) % 37), 5);
    }
    return ranks;
}

TEST(JobSeries, RanksThatHaveLittleInCommonBecomeAProfileOfBoundedSize) {
    const Ranks ranks = unlike_ranks();
    const JobSeries all = ranks.series();
    EXPECT_GT(number_of_nodes(all.mean), 300u);
    TimeSeriesParameters parameters;
    parameters.most_nodes = 100;
    const JobSeries few = ranks.series(parameters);
    EXPECT_LE(number_of_nodes(few.mean), 202u); // twice a thread
    EXPECT_NEAR(few.mean.duration, all.mean.duration, 1e-6);
}

namespace {

/// Iterations of random lengths with a loop inside.
Ranks random_ranks(int count) {
    Ranks ranks;
    ranks.program.loops.loops = {{10, 40}, {20, 30}};
    std::uint32_t state = 1;
    const auto random = [&](int below) { return static_cast<int>((state = state * 1664525u + 1013904223u) >> 8) % below; };
    for (int rank = 0; rank < count; ++rank) {
        ranks.add_rank();
        for (int i = 0; i < 30; ++i) {
            ranks.run(11, 3 + random(6));
            for (int k = random(4); k >= 0; --k) {
                ranks.run(21, 2 + random(9));
                ranks.run(22, 1 + random(9), "MPI_Recv", TimeCategory::MpiP2p);
            }
            ranks.run(35, 1 + random(20), "MPI_Allreduce", TimeCategory::MpiColl);
        }
    }
    return ranks;
}

void print(const TimeNode& n, std::string& out) {
    for (const double number : {n.gap, n.tail, n.duration, n.least, n.most, n.low, n.high}) out += std::to_string(number) + " ";
    out += std::to_string(n.context) + "/" + std::to_string(n.count) + (n.children.empty() ? "" : "(");
    for (const TimeNode& c : n.clusters) print(c, out);
    for (const TimeNode& c : n.children) print(c, out);
}

std::string text_of(const JobSeries& job) {
    std::string text;
    for (const TimeCluster& cluster : job.clusters) {
        for (const std::uint32_t member : cluster.members) text += std::to_string(member) + ",";
        print(cluster.representative, text);
    }
    print(job.mean, text);
    for (const LoopTotals& loop : job.loops) text += std::to_string(loop.accepted) + " " + std::to_string(loop.rejected) + " " + std::to_string(loop.duration);
    return text;
}

/// With the segments: their signs and call paths.
std::string text_of(const Losses& found) {
    std::string text = text_of(found.job);
    for (const Segment& segment : found.cut) {
        text += " sign " + std::to_string(static_cast<int>(segment.sign)) + ":";
        for (const std::uint64_t line : found.lines(segment)) text += " " + std::to_string(line);
    }
    return text;
}

} // namespace

TEST(JobSeries, DoesNotDependOnTheNumberOfWorkers) {
    const Ranks ranks = random_ranks(50);
    std::string first;
    for (const std::uint32_t workers : {1, 2, 4, 7}) {
        TimeSeriesParameters parameters;
        parameters.workers = workers;
        const std::string text = text_of(ranks.series(parameters));
        if (first.empty()) first = text;
        EXPECT_EQ(text, first) << workers;
    }
    EXPECT_GT(first.size(), 1000u);
}

TEST(Parameters, EachOneChangesTheResultAndNoneElseDoes) {
    const Ranks alike = random_ranks(12), unlike = unlike_ranks();
    const std::map<std::string_view, const char*> other = {
        {"child_num_acc", "1"},         {"child_dur_acc", "60"}, {"most_rejected_share", "0"}, {"gap_tolerance", "0"},
        {"ratio_min", "0.9"},           {"ratio_rel", "0.99"},   {"most_clusters", "9"},       {"significance_ratio", "0.2"},
        {"origin_depth_ratio", "0.05"}, {"high_share", "0.9"},   {"high_part", "1"},           {"most_nodes", "100"}};
    EXPECT_EQ(parameter_rows().size(), other.size());
    for (const ParameterRow& row : parameter_rows()) {
        TimeSeriesParameters parameters;
        ASSERT_EQ(set_parameter(parameters, std::string(row.name) + "=" + other.at(row.name)), std::nullopt);
        for (const ParameterRow& one : parameter_rows())
            EXPECT_EQ(value_of(parameters, one) == value_of({}, one), one.name != row.name) << row.name << ", " << one.name;
        const Ranks& ranks = row.name == "most_nodes" ? unlike : alike;
        EXPECT_TRUE(text_of(Losses(ranks, parameters)) != text_of(Losses(ranks))) << row.name;
    }
}

TEST(Parameters, WrongOnesAreRefusedWithTheirRange) {
    TimeSeriesParameters parameters;
    for (const auto& [setting, words] :
         {std::pair("ratio_min=2", "from 0 to 1"), std::pair("child_num_acc=1.5", "whole number"), std::pair("ratio_min", "NAME=VALUE"),
          std::pair("ratio_mni=0.1", "ratio_min"), std::pair("ratio_min=", "not \"\""), std::pair("ratio_min=nan", "number")})
        EXPECT_NE(set_parameter(parameters, setting).value_or("").find(words), std::string::npos) << setting;
    for (const ParameterRow& row : parameter_rows()) EXPECT_EQ(value_of(parameters, row), value_of({}, row)) << row.name;
}

TEST(IterationScores, CompareIdentifiersWithKnownIterations) {
    Ranks ranks;
    ranks.program.loops.loops = {{10, 20}};
    ranks.add_rank();
    std::vector<KnownIterations> known{{3, {}}};
    double time = test_period / 2;
    for (int i = 0; i < 25; ++i) {
        const int work = i % 5 == 4 ? 1 : 6; // every fifth one is too short to be believed
        ranks.run(11, work);
        ranks.run(12, 1);
        known[0].iterations.push_back({time, time + (work + 1) * test_period});
        time += (work + 1) * test_period;
    }
    const Trace& trace = ranks.locations[0].trace;
    const MadeUpTree made(ranks.program, trace, LoopForm::Iterations, {}, known);
    const auto scores = iteration_scores(trace, made.contexts, made.known, made.order, {});
    ASSERT_EQ(scores.size(), 1u);
    EXPECT_EQ(scores[0].actual, 25u);
    EXPECT_EQ(scores[0].accepted, 20u);
    EXPECT_EQ(scores[0].rejected, 5u);
    EXPECT_EQ(scores[0].hits, 20u);
    EXPECT_EQ(made.tree.loops.at(0).found.accepted, 25u) << "known ones are all accepted";
}
