// Regions: what open ones book, and how patterns of a filter file match names.
#include "libprofile/regions/open_regions.hpp"
#include "libprofile/regions/plain_name.hpp"

#include <gtest/gtest.h>
#include <string>

using namespace libprofile;

namespace {

std::string plain(const char* linkage_name) {
    char out[256];
    return plain_name(linkage_name, out, sizeof out) ? out : "";
}

void nothing(RegionCounter&) {}

struct OpenRegionsTest : testing::Test {
    Arena arena;
    OpenRegions open;
    RegionCounter outer, inner;
    void push(RegionCounter& counter, std::uint64_t now, std::uint64_t own) {
        ASSERT_TRUE(open.has_room(arena));
        open.push(counter, 1, 0, now, own);
    }
};

} // namespace

TEST_F(OpenRegionsTest, OwnTimeIsWithoutWhatIsInsideAndWithoutTimeThatStandsStill) {
    push(outer, 100, 100);
    push(inner, 130, 120); // 10 ns of MPI before
    open.pop(190, 150);    // 30 ns of MPI inside
    open.pop(200, 160);
    EXPECT_EQ(inner.inclusive_ns, 60u);
    EXPECT_EQ(inner.exclusive_ns, 30u);
    EXPECT_EQ(outer.inclusive_ns, 100u);
    EXPECT_EQ(outer.exclusive_ns, 60u - 30u);
}

TEST_F(OpenRegionsTest, BookingInBetweenSplitsAndLosesNothing) {
    push(outer, 100, 100);
    push(inner, 110, 110);
    open.book(150, 150, nothing);
    EXPECT_EQ(outer.inclusive_ns, 50u);
    EXPECT_EQ(outer.exclusive_ns, 10u);
    EXPECT_EQ(inner.inclusive_ns, 40u);
    open.pop(160, 160);
    open.pop(165, 165);
    EXPECT_EQ(outer.inclusive_ns, 65u);
    EXPECT_EQ(outer.exclusive_ns, 15u);
    EXPECT_EQ(inner.inclusive_ns, 50u);
    EXPECT_EQ(inner.exclusive_ns, 50u);
}

TEST_F(OpenRegionsTest, OfARecursiveRegionTheOutermostVisitHasTheTime) {
    push(outer, 0, 0);
    push(outer, 10, 10);
    open.book(20, 20, nothing);
    EXPECT_EQ(outer.inclusive_ns, 20u);
    open.pop(30, 30);
    EXPECT_EQ(outer.inclusive_ns, 20u);
    open.pop(40, 40);
    EXPECT_EQ(outer.inclusive_ns, 40u);
    EXPECT_EQ(outer.exclusive_ns, 40u);
    EXPECT_EQ(outer.active, 0u);
}

TEST_F(OpenRegionsTest, OfARecursiveRegionWithACallPathAtEachDepthTheOutermostVisitHasTheTime) {
    push(outer, 0, 0);
    EXPECT_TRUE(open.is_open(1, 0));
    EXPECT_FALSE(open.is_open(2, 0));
    EXPECT_FALSE(open.is_open(1, 3));
    ASSERT_TRUE(open.has_room(arena));
    open.push(inner, 1, 0, 10, 10, true);
    open.book(20, 20, nothing);
    EXPECT_EQ(outer.inclusive_ns, 20u);
    open.pop(30, 30);
    EXPECT_EQ(inner.inclusive_ns, 0u);
    EXPECT_EQ(inner.exclusive_ns, 20u);
    open.pop(40, 40);
    EXPECT_EQ(outer.inclusive_ns, 40u);
    EXPECT_EQ(outer.exclusive_ns, 20u);
    EXPECT_FALSE(open.is_open(1, 0));
}

TEST_F(OpenRegionsTest, AMomentBeforeTheEntryBooksNothing) {
    push(outer, 100, 100);
    push(inner, 200, 200);
    open.book(150, 150, nothing); // an iteration that was found after its end ends here
    EXPECT_EQ(outer.inclusive_ns, 50u);
    EXPECT_EQ(inner.inclusive_ns, 0u);
    open.pop(210, 210);
    open.pop(220, 220);
    EXPECT_EQ(outer.inclusive_ns, 120u);
    EXPECT_EQ(outer.exclusive_ns, 110u);
    EXPECT_EQ(inner.inclusive_ns, 10u);
}

TEST_F(OpenRegionsTest, DepthIsBounded) {
    for (std::uint32_t i = 0; i < OpenRegions::most; ++i) push(outer, i, i);
    EXPECT_FALSE(open.has_room(arena));
    EXPECT_EQ(outer.active, OpenRegions::most);
    open.clear();
    EXPECT_EQ(outer.active, 0u);
}

TEST(PlainNameTest, ScopesStayAndArgumentsGo) {
    EXPECT_EQ(plain("_ZNK2ns4Cell5valueEi"), "ns::Cell::value");
    EXPECT_EQ(plain("_ZN1g4GridIdLi4EE2atEi"), "g::Grid::at");
    EXPECT_EQ(plain("_ZN2ns4Cell3getIdEET_S2_"), "ns::Cell::get");
    EXPECT_EQ(plain("_ZN2nsL5valueEi"), "ns::value");
    EXPECT_EQ(plain("_ZN12_GLOBAL__N_14anonEi"), "anon");
    EXPECT_EQ(plain("_Z4freei"), "free");
    EXPECT_EQ(plain("_ZSt4sortIPiEvT_S1_"), "std::sort");
    EXPECT_EQ(plain("_ZStL4funcv"), "std::func");
    EXPECT_EQ(plain("_ZL4funcv"), "func");
    EXPECT_EQ(plain("_ZN2nsL4funcEv"), "ns::func");
    EXPECT_EQ(plain("_ZL4freei"), "free");
    EXPECT_EQ(plain("_ZNSt6vectorIiSaIiEEixEm"), "std::vector::operator");
    EXPECT_EQ(plain("_ZNSt3mapIiNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEESt4lessIiESaISt4pairIKiS5_EEEixEOi"), "std::map::operator");
    EXPECT_EQ(plain("_ZN2ns4CellC1Ei"), "ns::Cell::Cell");
    EXPECT_EQ(plain("_ZN2ns4CellD2Ev"), "ns::Cell::~Cell");
    EXPECT_EQ(plain("_ZNK2ns4CellclEv"), "ns::Cell::operator()");
}

TEST(PlainNameTest, FortranProceduresAreNamedAsInReports) {
    EXPECT_EQ(plain("__m_MOD_work"), "m::work");
    EXPECT_EQ(plain("__solver_parts_MOD_work.constprop.0"), "solver_parts::work");
    EXPECT_EQ(plain("work_"), "work");
    EXPECT_EQ(plain("inner.0"), "inner");
    for (const char* name : {"__m_MOD_", "___MOD_work", "_MOD_work", "_", "__", ".0", "work", "_work_"}) EXPECT_EQ(plain(name), "") << name;
    char small[8];
    EXPECT_FALSE(plain_name("__m_MOD_work", small, sizeof small));
}

TEST(PlainNameTest, WhatIsNotKnownIsRefused) {
    for (const char* name : {"main", "", "_Z", "_ZN", "_ZN2ns", "_ZN99999999ns4CellEv", "_ZNK2nsI", "_ZZ4mainENKUliE_clEi", "_ZNS_E", "_ZN1aILi"})
        EXPECT_EQ(plain(name), "") << name;
    char small[6];
    EXPECT_FALSE(plain_name("_ZN2ns4Cell5valueEi", small, sizeof small));
}

TEST(PatternTest, WildcardsMatchAsInFileNames) {
    EXPECT_TRUE(matches("work::*", "work::leaf"));
    EXPECT_TRUE(matches("*leaf", "work::leaf"));
    EXPECT_TRUE(matches("w?rk::*a*", "work::leaf"));
    EXPECT_TRUE(matches("*", ""));
    EXPECT_FALSE(matches("work", "work::leaf"));
    EXPECT_FALSE(matches("?", ""));
    EXPECT_FALSE(matches("a*b*c", "a-b-d"));
    EXPECT_TRUE(matches("a*b*c", "a-b-b-c"));
}
