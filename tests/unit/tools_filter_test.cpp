// The filter file that `libprofile filter` writes: names as GCC compares them, and which functions are in it.
#include "tools/analysis/filter_file.hpp"

#include <gtest/gtest.h>

using namespace libprofile;
using namespace libprofile::tools;

namespace {

/// main() calls work() a thousand times, which calls tiny() ten times each.
Profile made_profile() {
    Profile p;
    p.modules = {{"\x12\xab", "/bin/app"}};
    for (const char* name : {"main", "work(int)", "ns::tiny(int)"}) {
        Site site;
        site.offset = 0x100 * (p.sites.size() + 1);
        site.name.function = name;
        p.sites.push_back(site);
    }
    p.paths = {{}, {0, NodeKind::FunctionRegion, 0, 0}, {1, NodeKind::FunctionRegion, 1, 0}, {2, NodeKind::FunctionRegion, 2, 0}};
    p.metrics.resize(metric_count);
    p.phases = {{"", PhaseKind::Outside}};
    RankInfo rank;
    rank.regions.emplace();
    rank.regions->pair_ps = 100000;
    p.ranks[0] = rank;
    Location location;
    location.wall_ns = 10'000'000;
    PhaseData data;
    const auto add = [&](std::uint32_t path, std::uint64_t visits, std::uint64_t time) {
        data.rest.push_back({path, static_cast<std::uint32_t>(Metric::Visits), visits});
        data.rest.push_back({path, static_cast<std::uint32_t>(Metric::RegionTime), time});
    };
    add(1, 1, 10'000'000);
    add(2, 1000, 4'000'000); // of which 1 us in tiny() by its instrumentation
    add(3, 10000, 1'000'000);
    data.rest.push_back({0, 0, 8'900'000}); // computing, without libprofile
    location.phases.push_back(data);
    p.locations.push_back(location);
    return p;
}

} // namespace

TEST(FilterTest, NamesAreThoseThatGccCompares) {
    EXPECT_EQ(compiler_name("main"), "main");
    EXPECT_EQ(compiler_name("work(int)"), "work");
    EXPECT_EQ(compiler_name("ns::Cell::value(int) const"), "ns::Cell::value");
    EXPECT_EQ(compiler_name("double ns::Cell::get<double>(double)"), "ns::Cell::get<double>");
    EXPECT_EQ(compiler_name("g::Grid<double, 4>::at(int) const"), "g::Grid<double, 4>::at");
    EXPECT_EQ(compiler_name("std::vector<int, std::allocator<int> >::operator[](unsigned long)"), "std::vector<int>::operator[]");
    EXPECT_EQ(compiler_name("std::vector<std::vector<int, std::allocator<int> >, std::allocator<std::vector<int, std::allocator<int> > > >::size() const"),
              "std::vector<std::vector<int> >::size");
    EXPECT_EQ(compiler_name("(anonymous namespace)::anon(int)"), "anon");
    EXPECT_EQ(compiler_name("ns::Cell::operator()(int) const"), "ns::Cell::operator()");
    EXPECT_EQ(compiler_name("bool ns::operator< <int>(int const&, int const&)"), "ns::operator< <int>");
    EXPECT_EQ(compiler_name(""), "");
    EXPECT_EQ(compiler_name("broken<("), "broken<(");
}

TEST(FilterTest, WhatIsInstrumentedInsideDoesNotCountAsLength) {
    const TinyFunctions tiny = choose_tiny(made_profile(), 0.5);
    ASSERT_EQ(tiny.chosen.size(), 1u); // work() takes 3 us without the hooks of tiny()
    EXPECT_EQ(tiny.chosen[0].name, "ns::tiny(int)");
    EXPECT_DOUBLE_EQ(tiny.cost_ns, 11001 * 100.0);
    EXPECT_DOUBLE_EQ(tiny.cost_left_ns, 1001 * 100.0);
}

TEST(FilterTest, MoreAreChosenUntilTheRestIsCheapEnough) {
    const TinyFunctions tiny = choose_tiny(made_profile(), 0.001);
    ASSERT_EQ(tiny.chosen.size(), 2u);
    EXPECT_LE(tiny.cost_left_ns, 0.001 * tiny.computing_ns);
    EXPECT_NEAR(tiny.computing_ns, 8'900'000 - 8 * 11001, 1);
}

TEST(FilterTest, TheFileNamesPlaceAndName) {
    const Profile profile = made_profile();
    const std::string text = filter_file(profile, choose_tiny(profile, 0.5), 0.5);
    EXPECT_NE(text.find("\nexclude compiled ns::tiny\nexclude at 12ab 0x300\n"), std::string::npos) << text;
    EXPECT_EQ(text.find("work"), std::string::npos) << text;
}
