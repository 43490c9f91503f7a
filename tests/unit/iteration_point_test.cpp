// What leads places in a program's code to us rests on the names of symbols.
#include "libprofile/code/function_names.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <string>

using namespace libprofile;

namespace {

std::string name_of(const char* symbol) {
    char name[256];
    bool fortran = false;
    return source_name(symbol, name, sizeof name, fortran) ? std::string(name) + (fortran ? " (fortran)" : "") : "none";
}

} // namespace

TEST(SourceNameTest, SymbolsHaveTheNamesOfTheSource) {
    EXPECT_EQ(name_of("step"), "step");
    EXPECT_EQ(name_of("step.constprop.0"), "step");
    EXPECT_EQ(name_of("step.part.0"), "none");
    EXPECT_EQ(name_of("step.cold"), "none");
    EXPECT_EQ(name_of("step_"), "step (fortran)");
    EXPECT_EQ(name_of("inside.0"), "inside (fortran)");
    EXPECT_EQ(name_of("__model_MOD_advance"), "model::advance (fortran)");
    EXPECT_EQ(name_of("_Z4stepi"), "step");
    EXPECT_EQ(name_of("_ZL4stepv"), "step");
    EXPECT_EQ(name_of("_ZN9LAMMPS_NS6Verlet3runEi"), "LAMMPS_NS::Verlet::run");
    EXPECT_EQ(name_of("_ZNK2ns1A1fEv"), "ns::A::f");
    EXPECT_EQ(name_of("_ZN2ns1AIiSt6vectorIdSaIdEEE1fEv"), "ns::A::f");
    EXPECT_EQ(name_of("_ZN2ns1fILi5EEEvv"), "ns::f");
    EXPECT_EQ(name_of("_ZN12_GLOBAL__N_14stepEv"), "(anonymous namespace)::step");
    EXPECT_EQ(name_of("_ZN2ns1AC1Ev"), "ns::A::A");
    EXPECT_EQ(name_of("_ZN2ns1AD2Ev"), "ns::A::~A");
    EXPECT_EQ(name_of("_ZNSt3foo3barB5cxx11Ev"), "std::foo::bar");
    EXPECT_EQ(name_of("_ZTV4Base"), "none");
}

/// Symbol tables may be damaged.
TEST(SourceNameTest, CutSymbolsAreRefusedOrNamed) {
    const std::string whole = "_ZN2ns1AIiSt6vectorIdSaIdEELi5ES0_T_E1fB5cxx11Ev";
    for (std::size_t size = 0; size < whole.size(); ++size) name_of(whole.substr(0, size).c_str());
    for (const char* symbol :
         {"_Z", "_ZN", "_ZNE", "_ZN99999999999999999999E", "_ZN1", "_ZN1aI", "_ZN1aIL", "_ZN1aIS", "_ZN1aIT", "_ZN1aID", "", ".", "_", "__", "_MOD_"})
        name_of(symbol);
}
