// How sure a found loop is, and why not.
#include "tools/analysis/loop_doubts.hpp"

#include <gtest/gtest.h>

namespace libprofile::tools {
namespace {

class LoopDoubts : public testing::Test {
  protected:
    LoopDoubts() {
        profile.modules.push_back({"app-id", "/bin/app"});
        profile.functions.push_back({"MPI_Allreduce", TimeCategory::Compute});
        profile.paths.emplace_back();
        loop.phase = "loop in run";
        loop.module = profile.modules[0];
        loop.offset = 0x1010;
        loop.call = "MPI_Allreduce";
        loop.passes = 50;
        found.loop = &loop;
        found.ranks = {0, 1};
        found.fewest = found.most = 50;
        found.share = 0.9;
    }
    /// A call of MPI from the place, on line `line` of a function; 0: of no known function. `inlined`: the line of what is inlined there.
    void call(std::uint64_t offset, std::uint64_t line, std::uint64_t inlined = 0) {
        Site site;
        site.offset = offset;
        if (line != 0) site.name = {"run(int)", "/src/app.cpp", line};
        if (inlined != 0) site.inlined.push_back({"stage", "/src/stage.h", inlined});
        profile.sites.push_back(site);
        profile.paths.push_back({0, NodeKind::Frame, static_cast<std::uint32_t>(profile.sites.size() - 1), 0});
        profile.paths.push_back({static_cast<std::uint32_t>(profile.paths.size() - 1), NodeKind::Mpi, 0, 0});
    }
    void copy(std::uint64_t offset, std::uint64_t times) {
        loop.other_offset = offset;
        loop.other_passes = loop.passes * times;
        loop.flags = found.flags = LoopIsCopied;
    }
    /// So many visits of the call that was added last, in the iterations of rank 0.
    void visited(std::uint64_t times) {
        if (profile.phases.empty()) {
            profile.phases.push_back({loop.phase, PhaseKind::Iterations});
            profile.locations.emplace_back();
            profile.locations[0].phases.emplace_back();
            profile.job.ranks = 2;
        }
        profile.locations[0].phases[0].rest.push_back(
            {static_cast<std::uint32_t>(profile.paths.size() - 1), static_cast<std::uint32_t>(Metric::Visits), times});
    }
    std::string doubts() {
        std::string all;
        for (const std::string& doubt : doubts_about(profile, found)) all += (all.empty() ? "" : "; ") + doubt;
        return all;
    }

    Profile profile;
    FoundLoop loop;
    LoopOfRanks found;
};

} // namespace

TEST_F(LoopDoubts, AreNoneWhereNothingSpeaksAgainstIt) { EXPECT_EQ(doubts(), ""); }

TEST_F(LoopDoubts, HaveAReasonForEachFlag) {
    for (const LoopFlag flag : {LoopIsLate, LoopHasNoMarks, LoopIsRecursion, LoopIsCutShort, LoopIsOpaque, LoopIsNested, LoopMayMiss, LoopIsCostly}) {
        found.flags = flag;
        EXPECT_NE(doubts(), "") << flag;
    }
    found.flags = LoopByEntries;
    EXPECT_EQ(doubts(), "");
}

TEST_F(LoopDoubts, AreOfNumbersToo) {
    found.fewest = 49;
    EXPECT_EQ(doubts(), "ranks have different numbers of iterations");
    found.was_cut_off = true; // ranks that are killed are at different passes
    EXPECT_EQ(doubts(), "");
    found.fewest = 47;
    EXPECT_EQ(doubts(), "ranks have different numbers of iterations");
    found.fewest = found.most = 15;
    EXPECT_EQ(doubts(), "fewer than 16 iterations are too few to be sure");
    found.fewest = found.most = 50;
    found.share = 0.4;
    EXPECT_EQ(doubts(), "most of the time is spent elsewhere");
    found.share = 0.9;
    found.missed = 3;
    EXPECT_EQ(doubts(), "3 iterations before it was found could not be told apart");
}

TEST_F(LoopDoubts, AnotherPlaceHasTheNumbersOfTheCallTree) {
    loop.other_offset = 0x1020;
    loop.other_passes = 67;
    EXPECT_EQ(doubts(), "passes may begin in app+0x1020 instead"); // no call of it is known
    call(0x1010, 12);
    visited(50);
    call(0x1020, 14);
    visited(70);
    EXPECT_EQ(doubts(), "passes may begin with MPI_Allreduce in run at app.cpp:14 instead, which is called 70 times in these iterations on rank 0");
}

TEST_F(LoopDoubts, PlacesWithTheSameWordsHaveAddresses) {
    call(0x1010, 12);
    visited(50);
    call(0x1020, 12);
    visited(70);
    loop.other_offset = 0x1020;
    loop.other_passes = 67;
    EXPECT_NE(doubts().find("run at app.cpp:12 (app+0x1020) instead"), std::string::npos) << doubts();
}

TEST_F(LoopDoubts, ACallThatItsPlaceMakesInSomePassesOnlyIsComparedWithTheOthersThere) {
    loop.other_offset = loop.offset;
    loop.other_passes = 299;
    call(0x1010, 12);
    visited(50);
    profile.functions.push_back({"MPI_Irecv", TimeCategory::Compute});
    profile.paths.push_back({static_cast<std::uint32_t>(profile.paths.size() - 2), NodeKind::Mpi, 1, 0});
    visited(299);
    EXPECT_EQ(doubts(), "the function called there may make this call in some passes only: MPI_Allreduce comes 50 times there, MPI_Irecv 299 times on rank 0");
}

TEST_F(LoopDoubts, CopiesOnOneLineAreNamedAsPlaces) {
    for (const std::uint64_t offset : {0x1010, 0x1020, 0x1030, 0x1040}) call(offset, 12);
    call(0x1050, 13);
    copy(0x1020, 4);
    EXPECT_EQ(doubts(),
              "the same calls occur 4 times in each iteration, from the same line: the compiler may have unrolled the loop, so that each iteration is that "
              "many passes, or only a loop inside it; LIBPROFILE_ITERATION=pass=app+0x1010,app+0x1020,app+0x1030,app+0x1040 makes each an "
              "iteration");
    call(0x2000, 12); // not so many of each
    EXPECT_EQ(doubts().find("LIBPROFILE_ITERATION"), std::string::npos);
    for (std::uint64_t offset = 0x2001; offset < 0x2010; ++offset) call(offset, 12);
    EXPECT_EQ(doubts().find("LIBPROFILE_ITERATION"), std::string::npos); // more places than one name may have
}

TEST_F(LoopDoubts, CallsOnDifferentLinesAreNoCopies) {
    call(0x1010, 12);
    call(0x1020, 13);
    copy(0x1020, 2);
    EXPECT_EQ(doubts(), "");
}

TEST_F(LoopDoubts, CopiesOfSeveralLinesAreFoundByThoseOfThePlace) {
    for (const std::uint64_t offset : {0x1000, 0x1020, 0x1040, 0x1060}) call(offset, 11);
    for (const std::uint64_t offset : {0x1010, 0x1030, 0x1050, 0x1070}) call(offset, 12);
    copy(0x1020, 8); // all make the same call
    EXPECT_NE(doubts().find("8 times in each iteration, from the same line"), std::string::npos) << doubts();
    EXPECT_EQ(doubts().find("LIBPROFILE_ITERATION"), std::string::npos);
}

TEST_F(LoopDoubts, ModulesWithNamesThatAreNoListsAreNotNamed) {
    profile.modules[0].path = loop.module.path = "/bin/my app,x";
    call(0x1010, 12);
    call(0x1020, 12);
    copy(0x1020, 2);
    EXPECT_NE(doubts().find("2 times in each iteration, from the same line"), std::string::npos) << doubts();
    EXPECT_EQ(doubts().find("LIBPROFILE_ITERATION"), std::string::npos);
}

TEST_F(LoopDoubts, CallsInAFunctionThatIsInlinedOnDifferentLinesAreNoCopies) {
    call(0x1010, 12, 5);
    call(0x1020, 13, 5);
    copy(0x1020, 2);
    EXPECT_EQ(doubts(), "");
}

TEST_F(LoopDoubts, WithoutLinesCopiesArePossible) {
    call(0x1010, 0);
    call(0x1020, 0);
    copy(0x1020, 2);
    EXPECT_EQ(doubts(),
              "the same calls occur 2 times in each iteration; if the compiler has unrolled the loop (-funroll-loops), each iteration is that many passes");
}

} // namespace libprofile::tools
