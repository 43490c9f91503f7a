// Functions that only make an MPI call for others: what they are does not depend on what of a profile is read.
#include "tests/unit/tools_profile_builder.hpp"
#include "tools/analysis/wrappers.hpp"
#include "tools/reader/byte_source.hpp"
#include "tools/reader/reader.hpp"

#include <gtest/gtest.h>

using namespace libprofile;
using namespace libprofile::test;
using namespace libprofile::tools;

namespace {

/// Three ranks: `a` and `b` both call the wrapper `w` on ranks 0 and 2, on rank 1 only `a` does. Nodes: 1 main, 2 a, 3 b, 4 w of a, 5 w of b, 6 and 7
/// its MPI_Allreduce.
ByteVector bytes_of_three_ranks() {
    ProfileBuilder b(3);
    b.job(3);
    b.metrics();
    for (std::uint32_t rank = 0; rank < 3; ++rank) {
        b.rank(sample_rank_record(rank));
        b.modules(rank, {{"BUILD", "/app"}});
        b.functions(rank, {{3, "MPI_Allreduce", TimeCategory::MpiColl}});
        b.tree(rank, 0, 300,
               {{0, NodeKind::Frame, 0, 0x10},
                {1, NodeKind::Frame, 0, 0x20},
                {1, NodeKind::Frame, 0, 0x30},
                {2, NodeKind::Frame, 0, 0x40},
                {3, NodeKind::Frame, 0, 0x40},
                {4, NodeKind::Mpi, 3, 0},
                {5, NodeKind::Mpi, 3, 0}});
        BuiltPhase phase;
        phase.wall_ns = phase.wall_inclusive_ns = 300;
        phase.rest = {{6, Metric::Time, 300}, {6, Metric::Visits, 3}};
        if (rank != 1) phase.rest = {{6, Metric::Time, 100}, {6, Metric::Visits, 3}, {7, Metric::Time, 200}, {7, Metric::Visits, 3}};
        b.phase(rank, phase);
    }
    b.end();
    return b.bytes();
}

std::vector<std::string> wrappers_of(const Profile& profile) {
    std::vector<std::string> all;
    const Wrappers wrappers(profile);
    for (std::uint32_t p = 0; p < profile.paths.size(); ++p)
        if (profile.paths[p].kind == NodeKind::Mpi) all.push_back(wrappers.caller_of(p).through);
    return all;
}

} // namespace

TEST(Wrappers, AreTheSameWhateverRanksAreRead) {
    const ByteVector bytes = bytes_of_three_ranks();
    const MemorySource source(bytes);
    for (const std::set<std::uint32_t>& ranks : {std::set<std::uint32_t>{}, {0}, {1}, {2}, {1, 2}}) {
        tools::Selection selection;
        selection.ranks = ranks;
        const Profile profile = read_profile(source, "profile.lprof", selection);
        EXPECT_EQ(profile.locations.size(), ranks.empty() ? 3 : ranks.size());
        EXPECT_EQ(profile.ranks.size(), profile.locations.size()) << "witnesses are none that were chosen";
        EXPECT_TRUE(profile.notes.empty()) << profile.notes.front();
        const std::vector<std::string> found = wrappers_of(profile);
        ASSERT_FALSE(found.empty());
        for (const std::string& through : found) EXPECT_NE(through, "") << "of " << ranks.size() << " ranks";
    }
}
