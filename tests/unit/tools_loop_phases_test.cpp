// Loops that ranks found by themselves become one phase where they are one loop, and get readable names.
#include "tools/names/loop_names.hpp"
#include "tools/reader/loop_phases.hpp"

#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace libprofile::tools {
namespace {

constexpr std::uint64_t function = 0x1000, caller = 77;

/// A job of ranks without anything but the loops that they found.
class LoopJob {
  public:
    LoopJob() { profile.modules.push_back({"app-id", "/bin/app"}); }
    /// The loop that begins at `offset` and lasted from `first` to `last`.
    FoundLoop& loop(std::uint32_t rank, std::uint64_t offset, std::uint64_t first, std::uint64_t last) {
        const std::string name = "loop at app+" + std::to_string(offset);
        std::uint32_t phase = 0;
        while (phase < profile.phases.size() && profile.phases[phase].name != name) ++phase;
        if (phase == profile.phases.size()) profile.phases.push_back({name, PhaseKind::Iterations});
        if (profile.locations.empty() || profile.locations.back().rank != rank) {
            profile.locations.emplace_back();
            profile.locations.back().rank = rank;
            profile.locations.back().loop_search.emplace();
        }
        Location& location = profile.locations.back();
        location.phases.emplace_back();
        location.phases.back().phase = phase;
        location.phases.back().instances = last - first;
        FoundLoop found;
        found.phase = found.recorded_as = name;
        found.module = profile.modules.front();
        found.offset = offset;
        found.function = function;
        found.caller = caller;
        found.first_ns = first;
        found.last_ns = last;
        location.loop_search->loops.push_back(found);
        return location.loop_search->loops.back();
    }
    /// Per phase the instances of each location that has it.
    std::vector<std::vector<std::uint64_t>> united() {
        unite_loops(profile);
        std::vector<std::vector<std::uint64_t>> found(profile.phases.size());
        for (const Location& location : profile.locations)
            for (const PhaseData& data : location.phases) found.at(data.phase).push_back(data.instances);
        return found;
    }
    void name(std::uint64_t offset, const std::string& function_name, std::uint64_t line) {
        Site site;
        site.module = 0;
        site.offset = offset;
        site.name = {function_name, "/src/app.cpp", line};
        profile.sites.push_back(site);
    }
    Profile profile;
};

using Phases = std::vector<std::vector<std::uint64_t>>;

TEST(LoopPhases, PlacesOfOneFunctionAtTheSameTimeAreOneLoop) {
    LoopJob job;
    job.loop(0, 0x1010, 10, 110);
    job.loop(1, 0x1020, 12, 113);
    job.loop(2, 0x1020, 11, 113);
    EXPECT_EQ(job.united(), (Phases{{100, 101, 102}}));
    EXPECT_EQ(job.profile.phases[0].name, "loop at app+4128") << "that of most ranks";
    EXPECT_TRUE(job.profile.phases[0].is_called("loop at app+4112"));
    EXPECT_EQ(job.profile.locations[0].loop_search->loops[0].phase, "loop at app+4128");
    EXPECT_EQ(job.profile.locations[0].loop_search->loops[0].recorded_as, "loop at app+4112");
}

TEST(LoopPhases, ALoopAroundAnotherThatHasMostOfItsTimeIsAFrame) {
    for (const std::uint64_t inner_ns : {700, 600}) {
        LoopJob job;
        const std::string outer = job.loop(0, 0x1010, 10, 110).recorded_as;
        FoundLoop& inner = job.loop(0, 0x1090, 10, 110);
        inner.function = 0x1080;
        inner.around = outer;
        job.profile.locations[0].phases[0].wall_inclusive_ns = 1000;
        job.profile.locations[0].phases[1].wall_inclusive_ns = inner_ns;
        job.united();
        EXPECT_EQ(job.profile.phases[0].is_frame, inner_ns == 700);
        EXPECT_FALSE(job.profile.phases[1].is_frame);
    }
}

TEST(LoopPhases, LoopsThatFollowEachOtherStayApart) {
    LoopJob job;
    job.loop(0, 0x1010, 10, 110);
    job.loop(0, 0x1020, 111, 211);
    job.loop(1, 0x1030, 112, 213); // did not find the first
    EXPECT_EQ(job.united(), (Phases{{100}, {100, 101}}));
    EXPECT_TRUE(job.profile.phases[1].is_called("loop at app+4144"));
    EXPECT_FALSE(job.profile.phases[0].is_called("loop at app+4144"));
}

TEST(LoopPhases, OtherFunctionsCallersAndUnknownOnesStayApart) {
    LoopJob job;
    job.loop(0, 0x1010, 10, 110);
    job.loop(1, 0x1020, 10, 110).function = function + 1;
    job.loop(2, 0x1030, 10, 110).caller = caller + 1;
    job.loop(3, 0x1040, 10, 110).function = 0;
    job.loop(4, 0x1050, 10, 110).flags = LoopIsReplaced;
    EXPECT_EQ(job.united().size(), 5u);
}

TEST(LoopPhases, ALoopOfARankIsNeverTwoOfAnother) {
    LoopJob job;
    job.loop(0, 0x1010, 10, 110);
    job.loop(1, 0x1020, 10, 60);
    job.loop(1, 0x1030, 61, 110);
    EXPECT_EQ(job.united(), (Phases{{100, 50}, {49}}));
}

TEST(LoopNames, AreThoseOfFunctionsAndTellLoopsApart) {
    LoopJob job;
    job.loop(0, 0x1010, 10, 110);
    job.loop(0, 0x1020, 111, 211);
    job.loop(0, 0x2020, 212, 311);
    job.loop(0, 0x3020, 312, 411);
    job.name(0x1010, "ns::run(int)", 12);
    job.name(0x1020, "ns::run(int)", 0);
    job.name(0x2020, "solve", 3);
    job.united();
    for (int again = 0; again < 2; ++again) {
        name_loops(job.profile);
        std::vector<std::string> names;
        for (const Phase& phase : job.profile.phases) names.push_back(phase.name);
        EXPECT_EQ(names, (std::vector<std::string>{"loop in ns::run at app.cpp:12", "loop in ns::run (app+0x1020)", "loop in solve", "loop at app+12320"}));
        EXPECT_TRUE(job.profile.phases[2].is_called("loop at app+8224"));
        EXPECT_EQ(job.profile.locations[0].loop_search->loops[2].phase, "loop in solve");
    }
}

TEST(LoopNames, PhasesOfTheProgramKeepTheirs) {
    LoopJob job;
    job.profile.phases.push_back({"loop at work", PhaseKind::Iterations});
    job.united();
    name_loops(job.profile);
    EXPECT_EQ(job.profile.phases[0].name, "loop at work");
    EXPECT_TRUE(job.profile.phases[0].recorded_as.empty());
}

} // namespace
} // namespace libprofile::tools
