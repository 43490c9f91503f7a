// Clusters of different ranks that are the same behaviour.
#include "tools/analysis/kinds.hpp"

#include <gtest/gtest.h>
#include <string>

namespace libprofile::tools {

namespace {

/// Jobs of one phase whose iterations compute, call MPI_Send on path 2, and sometimes MPI_Test on path 3 or MPI_Send on path 4.
class Ranks {
  public:
    Ranks() {
        profile.functions = {{"MPI_Send", TimeCategory::MpiP2p}, {"MPI_Test", TimeCategory::MpiP2p}};
        profile.phases = {{"", PhaseKind::Outside}, {"step", PhaseKind::Iterations}};
        profile.paths = {{}, {0, NodeKind::Frame, 0, 0}, {1, NodeKind::Mpi, 0, 0}, {1, NodeKind::Mpi, 1, 0}, {0, NodeKind::Mpi, 0, 0}};
    }
    struct Made {
        std::uint64_t size = 0;
        double compute = 0; // ns per iteration
        double waiting = 0;
        std::uint64_t calls = 10; // per iteration
        std::uint64_t tests = 0;
        bool elsewhere = false;
    };
    /// `order`: the clusters of the iterations, "0010".
    void rank(const std::vector<Made>& clusters, const std::string& order) {
        PhaseData data;
        data.phase = 1;
        data.instances = order.size();
        for (const Made& made : clusters) {
            const auto visits = static_cast<std::uint32_t>(Metric::Visits);
            Cluster cluster;
            cluster.size = made.size;
            cluster.cells.push_back({1, 0, static_cast<std::uint64_t>(made.compute * static_cast<double>(made.size))});
            cluster.cells.push_back({2, 0, static_cast<std::uint64_t>(made.waiting * static_cast<double>(made.size))});
            cluster.cells.push_back({made.elsewhere ? 4u : 2u, visits, made.calls * made.size});
            if (made.tests != 0) cluster.cells.push_back({3, visits, made.tests * made.size});
            data.clusters.push_back(std::move(cluster));
        }
        for (const char c : order) {
            data.cluster_of_iteration.push_back(static_cast<std::uint32_t>(c - '0'));
            data.iteration_ns.push_back(1000);
        }
        Location location;
        location.rank = static_cast<std::uint32_t>(profile.locations.size());
        location.phases = {std::move(data)};
        profile.locations.push_back(std::move(location));
    }
    KindsOfPhase match() const {
        std::vector<const Location*> all;
        for (const Location& location : profile.locations) all.push_back(&location);
        all.push_back(nullptr); // a rank without data
        return match_kinds(profile, all, 1);
    }
    Profile profile;
};

std::string text(const KindSequence& sequence) {
    std::string out;
    for (const KindRun& run : sequence.runs) out.append(run.length, run.kind == KindRun::none ? '-' : static_cast<char>('A' + run.kind));
    return out;
}

} // namespace

TEST(Kinds, SameBehaviourHasTheSameNameOnAllRanksWhateverTheyWait) {
    Ranks ranks;
    ranks.rank({{3, 1000, 50}, {1, 3000, 0}}, "0010");
    ranks.rank({{1, 2950, 100}, {3, 1020, 10}}, "1101"); // its clusters in another order
    ranks.rank({{4, 990, 900}}, "0000");
    ranks.rank({{3, 1010, 20}, {1, 985, 2000}}, "0010"); // it waits for the first two
    const KindsOfPhase found = ranks.match();
    ASSERT_EQ(found.kinds.size(), 2u);
    EXPECT_EQ(found.kinds[0].iterations, 14u);
    EXPECT_EQ(found.kinds[0].clusters, 5u);
    EXPECT_NEAR(found.kinds[1].compute.value(), 2975, 1);
    ASSERT_EQ(found.sequences.size(), 2u);
    EXPECT_EQ(text(found.sequences[0]), "AABA");
    EXPECT_EQ(found.sequences[0].locations, (std::vector<std::uint32_t>{0, 1}));
    EXPECT_EQ(text(found.sequences[1]), "AAAA");
    EXPECT_EQ(found.sequences[1].locations, (std::vector<std::uint32_t>{2, 3}));
}

TEST(Kinds, OtherCallsAreOtherKindsButTheNumberOfPollsIsRandom) {
    for (const auto& [name, kinds] :
         {std::pair("MPI_Win_test", 1u), std::pair("MPI_Parrived", 1u), std::pair("MPI_Mprobe", 2u), std::pair("MPI_Test_cancelled", 2u)}) {
        Ranks ranks;
        ranks.profile.functions[1].name = name;
        ranks.rank({{4, 1000, 50, 10, 7}}, "0000");
        ranks.rank({{4, 1000, 50, 10, 0}}, "0000");
        EXPECT_EQ(ranks.match().kinds.size(), kinds) << name;
    }
    Ranks ranks;
    ranks.rank({{4, 1000, 50, 10, 7}}, "0000");
    ranks.rank({{4, 1000, 50, 10, 0}}, "0000");
    ranks.rank({{4, 1000, 50, 10, 0, true}}, "0000");
    ranks.rank({{4, 1000, 50, 20, 0}}, "0000");
    const KindsOfPhase found = ranks.match();
    EXPECT_EQ(found.kinds.size(), 3u);
    ASSERT_EQ(found.sequences.size(), 3u);
    EXPECT_EQ(found.sequences[0].locations, (std::vector<std::uint32_t>{0, 1}));
}

TEST(Kinds, RanksOfOtherLengthsAndIterationsOutsideClustersAreNormal) {
    Ranks ranks;
    ranks.rank({{2, 1000}}, "00");
    ranks.rank({{3, 1000}}, "00011"); // 1: in no cluster
    ranks.rank({}, "");
    const KindsOfPhase found = ranks.match();
    ASSERT_EQ(found.sequences.size(), 2u);
    EXPECT_EQ(text(found.sequences[0]), "AA");
    EXPECT_EQ(text(found.sequences[1]), "AAA--");
    EXPECT_TRUE(Ranks().match().kinds.empty());
}

TEST(Kinds, ManyClustersAreMatchedInTime) {
    Ranks ranks;
    for (int rank = 0; rank < 400; ++rank) {
        std::vector<Ranks::Made> clusters;
        std::string order;
        for (int c = 0; c < 10; ++c) {
            clusters.push_back({1, 1000.0 * (1 + c % 2 * 2) + rank % 17 + c, 0});
            order += static_cast<char>('0' + c);
        }
        ranks.rank(clusters, order);
    }
    const KindsOfPhase found = ranks.match();
    EXPECT_EQ(found.kinds.size(), 2u);
    EXPECT_EQ(found.sequences.size(), 1u);
}

} // namespace libprofile::tools
