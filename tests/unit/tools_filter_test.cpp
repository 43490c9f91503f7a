// The filter file that `libprofile filter` writes: names as GCC compares them, and which functions are in it.
#include "tools/analysis/filter_file.hpp"
#include "tools/names/compiler_names.hpp"

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
    const auto add = [&](std::uint32_t path, std::uint64_t count, std::uint64_t time) {
        data.rest.push_back({path, static_cast<std::uint32_t>(Metric::Visits), count});
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
    // Up to the first bracket that would be the function around them, which may be worth measuring.
    EXPECT_EQ(compiler_name("work(int)::Local::f(double)"), "");
    EXPECT_EQ(compiler_name("ns::Cell::operator()(int)::Local::f()"), "");
    EXPECT_EQ(compiler_name("main::{lambda(int)#1}::operator()(int) const"), "");
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
    const std::string text = filter_file(profile, choose_tiny(profile, 0.5), 0.5).text;
    EXPECT_NE(text.find("\nexclude compiled ns::tiny\nexclude at 12ab 0x300\n"), std::string::npos) << text;
    EXPECT_EQ(text.find("work"), std::string::npos) << text;
}

TEST(FilterTest, WhatIsPartOfAKeptNameIsNotLeftOutWhenCompiling) {
    struct Case {
        const char *tiny, *kept, *clash; // null: none
    };
    for (const Case& c : {
             Case{"at(double*, int)", "update(double*)", "update"},
             {"in(int)", "main", "main"},
             {"ns::at(int)", "ns::at(double)", "ns::at"}, // GCC does not look at the parameters
             {"ns::at(int)", "update(double*)", nullptr},
             {"in(int)", "double ns::work<int>(int)", "ns::work<int>"},
             {"up(int)", "(anonymous namespace)::update(int)", "(anonymous namespace)::update"},
             {"named(int)", "(anonymous namespace)::work(int)", "<unnamed>::work"},
             {"outer(int)", "outer::(anonymous namespace)::work(int)", "outer::(anonymous namespace)::work"},
             {"tiny(int)", "work(tiny)", nullptr},
             {"lambda(int)", "main::{lambda(int)#1}::operator()(int) const", "main::{lambda(int)#1}::operator()(int) const"},
             {"in(int)", "work(int)::Local::f()", "work(int)::Local::f()"},
             {"at(int)", "_GLOBAL__sub_I_at", nullptr},
             // Fortran's compiler gets "at" and sees "update".
             {"m::at", "m::update", "update"},
             {"m::at", "other::update", "update"},
             {"m::at", "update_", "update_"},
             {"m::at", "other::move", nullptr},
             {"at_", "update_", nullptr},
         }) {
        Profile profile = made_profile();
        profile.sites[0].name.function = "p";
        profile.sites[1].name.function = c.kept;
        profile.sites[2].name.function = c.tiny;
        const FilterFile file = filter_file(profile, choose_tiny(profile, 0.5), 0.5);
        const bool has_compiled = file.text.find("\nexclude compiled ") != std::string::npos;
        EXPECT_EQ(has_compiled, c.clash == nullptr) << file.text;
        EXPECT_EQ(file.left_to_run, c.clash == nullptr ? 0u : 1u) << file.text;
        EXPECT_NE(file.text.find("\nexclude at 12ab 0x300\n"), std::string::npos) << file.text; // at run time in any case
        if (c.clash != nullptr) {
            EXPECT_NE(file.text.find(std::string("would also leave out ") + c.clash + ","), std::string::npos) << file.text;
        }
    }
}

TEST(FilterTest, FortranIsKnownByItsFiles) {
    Profile profile = made_profile();
    profile.sites[0].name.function = "p";
    profile.sites[1].name = {"update", "solver.F90", 3};
    profile.sites[2].name = {"m::at", "", 0};
    EXPECT_EQ(filter_file(profile, choose_tiny(profile, 0.5), 0.5).left_to_run, 1u);
    profile.sites[1].name.file = "solver.c"; // its compiler is given all of m::at
    EXPECT_EQ(filter_file(profile, choose_tiny(profile, 0.5), 0.5).left_to_run, 0u);
}

TEST(FilterTest, CostsAreLowerBounds) {
    const Profile profile = made_profile();
    const std::string text = filter_file(profile, choose_tiny(profile, 0.5), 0.5).text;
    EXPECT_NE(text.find("cost at least 12.5 % of the computing time without it; with this filter at least 1.14 % remain"), std::string::npos) << text;
}
