// Ranks compared by their traces: which samples count, which ranks are compared, and what is said of them.
#include "tests/unit/split_mix.hpp"
#include "tests/unit/tools_called_job.hpp"
#include "tools/processes/compared_processes.hpp"
#include "tools/processes/process_document.hpp"
#include "tools/processes/sampled_words.hpp"

#include <chrono>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <numeric>

namespace libprofile::tools {
namespace {

using test::CalledJob;
using Stages = std::vector<std::pair<std::uint32_t, std::size_t>>; // call path, samples

/// A job whose ranks make the same calls, and have traces.
class SampledJob : public CalledJob {
  public:
    std::uint32_t init = frame(main, "init"), solve = frame(main, "solve"), write = frame(main, "write"), barrier = call(main, "MPI_Barrier");

    /// A sample each ms.
    Location& traced(const Stages& stages) {
        rank({{barrier, 2}});
        Trace& trace = profile.locations.back().trace;
        trace.stride = 1;
        for (const auto& [path, times] : stages)
            for (std::size_t s = 0; s < times; ++s)
                trace.samples.push_back({(trace.samples.size() + 1) * 1'000'000, path, 1, trace.samples.empty() ? LcaKind::Unknown : LcaKind::Exact});
        return profile.locations.back();
    }
    ComparedProcesses compared() const { return compare_processes(profile, locations(), {}); }
    std::vector<std::string> sentences() const {
        const ComparedProcesses processes = compared();
        return sampled_sentences(processes, ProcessWords(profile, processes, false));
    }
};

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(SampledRanks, AreToldWithShareChanceAndFunction) {
    SampledJob job;
    job.traced({{job.init, 100}, {job.solve, 300}, {job.write, 100}});
    job.traced({{job.init, 100}, {job.solve, 300}, {job.write, 100}});
    job.traced({{job.init, 100}, {job.write, 100}, {job.solve, 300}});
    job.traced({{job.init, 100}, {job.solve, 400}});
    const std::vector<std::string> said = job.sentences();
    ASSERT_EQ(said.size(), 3u);
    EXPECT_EQ(said[0], "by samples: 20.0 % of the samples of rank 2 have no partner on rank 0, where 0.0 % are chance; all in write; rank 0 calls it at "
                       "another place or time; 20.0 % of the samples of rank 0 have no partner on rank 2, where 0.0 % are chance; all in write; rank 2 calls "
                       "it at another place or time");
    EXPECT_EQ(said[1], "by samples: 20.0 % of the samples of rank 0 have no partner on rank 3, where 0.0 % are chance; all in write");
    EXPECT_EQ(said[2], "by samples: rank 1 is not told from rank 0; 0.0 % of the samples of a rank at most have no partner, and 0.0 % may be chance");
    const ComparedProcesses processes = job.compared();
    ProcessForm form;
    form.everything = true;
    const auto document = nlohmann::json::parse(document_json(process_document(job.profile, processes, form)));
    ASSERT_EQ(document["by_samples"].size(), 6u);
    const auto& row = document["by_samples"][5];
    EXPECT_EQ(row["rank"], 0);
    EXPECT_EQ(row["against"], 3);
    EXPECT_EQ(row["samples"], 500);
    EXPECT_EQ(row["verdict"], "difference");
    EXPECT_EQ(row["function"], "write");
    EXPECT_EQ(row["other_has"], "nowhere");
    EXPECT_TRUE(has(process_text(job.profile, processes, form, {}), "by samples: rank 1 is not told"));
}

TEST(SampledRanks, AreToldByOneFunctionWhereMuchElseIsChance) {
    SampledJob job;
    std::vector<std::uint32_t> shorts;
    for (int f = 0; f < 600; ++f) shorts.push_back(job.frame(job.solve, "short" + std::to_string(f)));
    for (std::uint64_t rank = 0; rank < 2; ++rank) {
        test::Random random{rank + 1};
        Stages stages = {{job.init, 200}};
        for (int call = 0; call < 500; ++call) stages.emplace_back(shorts[random() % shorts.size()], 1);
        if (rank == 1) stages.emplace_back(job.write, 50);
        job.traced(stages);
    }
    const SampledPart part = job.compared().samples.ranks[0].here;
    EXPECT_TRUE(part.unmatched.is_told && !part.unmatched.is_told_in_all) << part.unmatched.share << " " << part.unmatched.chance;
    const std::vector<std::string> said = job.sentences();
    ASSERT_EQ(said.size(), 1u);
    EXPECT_TRUE(has(said[0], "by samples: 6.7 % of the samples of rank 1 are in write and have no partner on rank 0, where ")) << said[0];
    EXPECT_TRUE(has(said[0], " are chance in a function")) << said[0];
}

TEST(SampledRanks, AreNotToldByTheirTimeInMpi) {
    SampledJob job;
    const std::uint32_t receive = job.call(job.main, "MPI_Recv");
    job.traced({{job.init, 100}, {job.solve, 300}});
    Location& waits = job.traced({{job.init, 100}, {receive, 200}, {job.solve, 200}});
    waits.trace.waits.push_back({1'000'000'000, 1'500'000'000, receive, 1, LcaKind::Exact, 1, LcaKind::Exact});
    const ComparedProcesses processes = job.compared();
    ASSERT_EQ(processes.samples.ranks.size(), 1u);
    EXPECT_EQ(processes.samples.ranks[0].here.samples, 300u);
    EXPECT_EQ(processes.samples.ranks[0].here.unmatched.share, 0);
}

TEST(SampledRanks, AreToldByFilesThatMpiWrites) {
    SampledJob job;
    const std::uint32_t file = job.call(job.write, "MPI_File_write");
    job.profile.functions.back().category = TimeCategory::MpiFile;
    job.traced({{job.init, 100}, {job.solve, 300}});
    Location& writes = job.traced({{job.init, 100}, {job.solve, 300}, {file, 10}});
    writes.trace.waits.push_back({420'000'000, 510'000'000, file, 2, LcaKind::Exact, 2, LcaKind::Exact});
    const ComparedProcesses processes = job.compared();
    ASSERT_EQ(processes.samples.ranks.size(), 1u);
    const SampledPart& part = processes.samples.ranks[0].here;
    EXPECT_EQ(part.samples, 500u) << "a wait has as many samples as its length has periods";
    EXPECT_NEAR(part.unmatched.share, 0.2, 1e-9);
    EXPECT_TRUE(part.unmatched.is_told);
    EXPECT_EQ(part.function, "write");
}

TEST(SampledRanks, AreComparedWhereverTheCallsOfAFunctionStand) {
    SampledJob job;
    const std::uint32_t again = job.frame(0, "main"), solve = job.frame(again, "solve");
    job.profile.sites[job.profile.paths[again].target].name = job.profile.sites[job.profile.paths[job.main].target].name;
    job.profile.sites[job.profile.paths[solve].target].name.function = "solve";
    job.traced({{job.init, 100}, {job.solve, 300}});
    job.traced({{job.init, 100}, {solve, 300}});
    EXPECT_EQ(job.compared().samples.ranks[0].here.unmatched.share, 0);
}

TEST(SampledRanks, OfInstructionsWithoutANameAreOneFunction) {
    SampledJob job;
    Stages one = {{job.solve, 300}}, other = one;
    for (int instruction = 0; instruction < 100; ++instruction) {
        (instruction % 2 == 0 ? one : other).emplace_back(job.frame(job.main, ""), 1);
        job.profile.sites.back().name = {};
    }
    job.traced(one);
    job.traced(other);
    EXPECT_EQ(job.compared().samples.ranks[0].here.unmatched.share, 0);
}

TEST(SampledRanks, WithoutEnoughSamplesAreNamed) {
    SampledJob job;
    job.traced({{job.init, 20}});
    job.traced({{job.init, 100}, {job.solve, 300}});
    job.traced({{job.init, 100}, {job.solve, 300}});
    job.traced({});
    const std::vector<std::string> said = job.sentences();
    ASSERT_EQ(said.size(), 2u);
    EXPECT_TRUE(has(said[0], "rank 2 is not told from rank 1"));
    EXPECT_EQ(said[1], "by samples: nothing is known of ranks 0, 3, with fewer than 50 samples outside of MPI");
}

TEST(SampledRanks, WithoutTraceGetAHint) {
    SampledJob job;
    job.rank({{job.barrier, 2}});
    EXPECT_TRUE(job.sentences().empty()) << "one rank has none to be compared with";
    job.rank({{job.barrier, 2}});
    const std::vector<std::string> said = job.sentences();
    ASSERT_EQ(said.size(), 1u);
    EXPECT_TRUE(has(said[0], "LIBPROFILE_ORDER=1") && has(said[0], "LIBPROFILE_TRACE=1"));
}

TEST(SampledRanks, OfALargeJobAreComparedAsFarAsTimeAllows) {
    SampledJob job;
    for (std::uint32_t rank = 0; rank < 300; ++rank) {
        job.traced({{job.init, 20}, {job.solve, 60}, {job.write, rank % 2 == 0 && rank > 250 ? 0 : 20}});
        if (rank == 299) job.profile.locations.back().phases[0].rest.front().value = 3; // a group of its own
    }
    const ComparedProcesses processes = job.compared();
    EXPECT_EQ(processes.samples.ranks.size(), 255u);
    EXPECT_EQ(processes.samples.left.size(), 44u);
    EXPECT_EQ(processes.samples.ranks.back().row, 299u) << "what represents a group is compared";
    const std::vector<std::string> said = job.sentences();
    ASSERT_EQ(said.size(), 6u);
    EXPECT_TRUE(has(said[3], "by samples: so do ranks 2")) << said[3];
    EXPECT_EQ(said[5], "by samples: 44 ranks more were not compared; --rank chooses them");
}

TEST(SampledRanks, WithAMillionSamplesTakeSeconds) {
    SampledJob job;
    std::vector<std::uint32_t> kernels;
    std::uint32_t at = job.solve;
    for (int depth = 0; depth < 20; ++depth) at = job.frame(at, "level" + std::to_string(depth));
    for (int kernel = 0; kernel < 50; ++kernel) kernels.push_back(job.frame(at, "kernel" + std::to_string(kernel)));
    for (std::uint64_t rank = 0; rank < 2; ++rank) {
        test::Random random{rank + 1};
        Stages stages = {{job.init, 10'000}};
        for (int sample = 0; sample < 990'000; ++sample) stages.emplace_back(kernels[random() % kernels.size()], 1);
        job.traced(stages);
    }
    const auto begin = std::chrono::steady_clock::now();
    const ComparedProcesses processes = job.compared();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    ASSERT_EQ(processes.samples.ranks.size(), 1u);
    EXPECT_EQ(processes.samples.ranks[0].here.samples, 1'000'000u);
    EXPECT_FALSE(processes.samples.ranks[0].is_told());
    EXPECT_LT(seconds, 20) << "a few of them, on a machine that others use, too";
    RecordProperty("seconds", std::to_string(seconds));
}

} // namespace
} // namespace libprofile::tools
