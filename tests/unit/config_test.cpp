#include "format/sampling_rate.hpp"
#include "libprofile/base/config.hpp"
#include "libprofile/base/nearest_name.hpp"

#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <string>
#include <unistd.h>
#include <utility>

namespace libprofile {

namespace {

/// Sets variables for one test and removes all of ours afterwards.
class ConfigTest : public testing::Test {
  protected:
    void SetUp() override { clear(); }
    void TearDown() override { clear(); }
    static void clear() {
        for (bool again = true; again;) {
            again = false;
            for (char** entry = environ; *entry != nullptr; ++entry)
                if (std::strncmp(*entry, "LIBPROFILE_", 11) == 0) {
                    unsetenv(std::string(*entry, std::strcspn(*entry, "=")).c_str());
                    again = true;
                    break;
                }
        }
    }
    Config& load() {
        config_.load(arena_);
        return config_;
    }

  private:
    Arena arena_;
    Config config_;
};

} // namespace

TEST_F(ConfigTest, DefaultsAreThoseOfTheTable) {
    Config& config = load();
    EXPECT_EQ(config.number(Option::Clusters), 16);
    EXPECT_EQ(config.number(Option::Sample), automatic_period);
    EXPECT_EQ(config.number(Option::Memory), 256 << 20);
    EXPECT_STREQ(config.text(Option::Output), "");
    EXPECT_STREQ(config.complaint(), "");
}

TEST_F(ConfigTest, WhatOtherSettingsMakePointlessIsSaid) {
    setenv("LIBPROFILE_SAMPLE", "0", 1);
    setenv("LIBPROFILE_TRACE", "1", 1);
    setenv("LIBPROFILE_METHOD", "reference", 1);
    setenv("LIBPROFILE_ERROR", "5%", 1);
    EXPECT_STREQ(load().complaint(),
                 "LIBPROFILE_ERROR=5% has no effect with LIBPROFILE_METHOD=reference; LIBPROFILE_TRACE=1 has no effect with LIBPROFILE_SAMPLE=0");
}

TEST_F(ConfigTest, SettingsThatAreDefaultsContradictNothing) {
    setenv("LIBPROFILE_SAMPLE", "0", 1);
    setenv("LIBPROFILE_TRACE", "0", 1);
    setenv("LIBPROFILE_METHOD", "reference", 1);
    setenv("LIBPROFILE_CLUSTERS", "4", 1);
    EXPECT_STREQ(load().complaint(), "");
}

TEST_F(ConfigTest, SizesTakeSuffixes) {
    setenv("LIBPROFILE_MEMORY", "16M", 1);
    EXPECT_EQ(load().number(Option::Memory), 16 << 20);
}

TEST_F(ConfigTest, EachWordOfAChoiceIsItsEnumerator) {
    setenv("LIBPROFILE_EQUIVALENCE", "weak", 1);
    setenv("LIBPROFILE_MARKS", "check", 1);
    EXPECT_EQ(load().choice<EquivalenceChoice>(), EquivalenceChoice::Weak);
    EXPECT_EQ(load().choice<MarksChoice>(), MarksChoice::Check);
    EXPECT_EQ(load().choice<ClockChoice>(), ClockChoice::Auto);
    for (const auto& [text, choice] : {std::pair("auto", IterationChoice::Auto), std::pair("marker", IterationChoice::Marker),
                                       std::pair("none", IterationChoice::None), std::pair("step", IterationChoice::Point)}) {
        setenv("LIBPROFILE_ITERATION", text, 1);
        EXPECT_EQ(load().choice<IterationChoice>(), choice) << text;
    }
}

TEST_F(ConfigTest, InvalidValuesFallBackAndAreNamed) {
    setenv("LIBPROFILE_CLUSTERS", "0", 1);
    Config& config = load();
    EXPECT_EQ(config.number(Option::Clusters), 16);
    EXPECT_STREQ(config.complaint(), "LIBPROFILE_CLUSTERS=0 is not valid, expected a number from 1 to 4096 or off; using 16");
}

TEST_F(ConfigTest, SamplingIsSetByRateOrPeriod) {
    const std::pair<const char*, std::int64_t> forms[] = {{"0", 0},           {"off", 0},          {"0Hz", 0},          {"0ms", 0},
                                                          {"no", 0},          {"100", 10000000},   {"100Hz", 10000000}, {"2kHz", 500000},
                                                          {"2.5khz", 400000}, {"10kHz", 100000},   {"1ms", 1000000},    {"500us", 500000},
                                                          {"0.5ms", 500000},  {"0.001s", 1000000}, {"100us", 100000},   {"0.1Hz", 10000000000},
                                                          {"1s", 1000000000}, {"3Hz", 333333333},  {".5MS", 500000},    {"auto", automatic_period}};
    for (const auto& [text, period] : forms) {
        setenv("LIBPROFILE_SAMPLE", text, 1);
        Arena arena;
        Config config;
        config.load(arena);
        EXPECT_EQ(config.number(Option::Sample), period) << text;
        EXPECT_STREQ(config.complaint(), "") << text;
    }
}

TEST_F(ConfigTest, SamplingThatIsNoRateAndNoPeriodIsInvalid) {
    for (const char* bad : {"abc", "-5", "100 Hz", "1e3", "1.2.3", ".", "ms", "10001", "20kHz", "99us", "11s", "0.01Hz", "1 ms", "100Hz ", "1m", "0x10",
                            "99999999999999999999", "0.0000000000001s", "+1"}) {
        setenv("LIBPROFILE_SAMPLE", bad, 1);
        Arena arena;
        Config config;
        config.load(arena);
        EXPECT_EQ(config.number(Option::Sample), automatic_period) << bad;
        EXPECT_NE(std::strstr(config.complaint(), "(100Hz, 2kHz), a period (1ms, 500us) or 0; at most 10000 Hz"), nullptr) << bad;
    }
}

TEST(SamplesPerSecond, AreRoundedAndAtLeastOneUnlessOff) {
    EXPECT_EQ(samples_per_second(0), 0u);
    EXPECT_EQ(samples_per_second(10000000), 100u);
    EXPECT_EQ(samples_per_second(333333333), 3u);
    EXPECT_EQ(samples_per_second(10000000000), 1u);
}

TEST_F(ConfigTest, NumbersWithTrailingTextAreInvalid) {
    for (const char* bad : {"12x", "-1", "1e3", " 5", "99999999999999999999999"}) {
        setenv("LIBPROFILE_CLUSTERS", bad, 1);
        Arena arena;
        Config config;
        config.load(arena);
        EXPECT_EQ(config.number(Option::Clusters), 16) << bad;
        EXPECT_STRNE(config.complaint(), "") << bad;
    }
}

TEST_F(ConfigTest, UnknownNamesGetTheNearestOne) {
    setenv("LIBPROFILE_CLUSTER", "8", 1);
    EXPECT_STREQ(load().complaint(), "unknown variable LIBPROFILE_CLUSTER ignored, did you mean LIBPROFILE_CLUSTERS?");
}

TEST_F(ConfigTest, UnknownNamesFarFromAllGetAHint) {
    setenv("LIBPROFILE_XYZZYPLUGH", "1", 1);
    EXPECT_NE(std::strstr(load().complaint(), "see `libprofile run --help`"), nullptr);
}

TEST_F(ConfigTest, NamesOfModuleFilesAreNoMistake) {
    setenv("LIBPROFILE_ROOT", "/opt/libprofile", 1);
    setenv("LIBPROFILE_RUN_PID", "1", 1);
    EXPECT_STREQ(load().complaint(), "");
    EXPECT_FALSE(is_launchers_process());
}

TEST_F(ConfigTest, WhatTheCompilerWrappersReadIsNoMistake) {
    for (const char* name : {"LIBPROFILE_CC", "LIBPROFILE_CXX", "LIBPROFILE_FC"}) {
        setenv(name, "mpifort", 1);
        EXPECT_STREQ(load().complaint(), "") << name;
    }
}

TEST_F(ConfigTest, SeveralComplaintsShareOneLine) {
    setenv("LIBPROFILE_CLUSTERS", "0", 1);
    setenv("LIBPROFILE_SAMLPE", "7", 1);
    const std::string complaint = load().complaint();
    EXPECT_NE(complaint.find("LIBPROFILE_CLUSTERS=0"), std::string::npos);
    EXPECT_NE(complaint.find("LIBPROFILE_SAMPLE?"), std::string::npos);
    EXPECT_EQ(complaint.find('\n'), std::string::npos);
}

TEST_F(ConfigTest, ComplaintsNeverOverflow) {
    for (int i = 0; i < 100; ++i) setenv(("LIBPROFILE_UNKNOWN_VARIABLE_" + std::to_string(i)).c_str(), "1", 1);
    EXPECT_LT(std::strlen(load().complaint()), 1024u);
}

TEST_F(ConfigTest, TheLauncherMarksItsOwnProcessOnly) {
    setenv("LIBPROFILE_RUN_PID", std::to_string(getpid()).c_str(), 1);
    EXPECT_TRUE(is_launchers_process());
}

TEST(EditDistance, CountsEdits) {
    EXPECT_EQ(edit_distance("RATE", "RATE"), 0u);
    EXPECT_EQ(edit_distance("RAET", "RATE"), 2u);
    EXPECT_EQ(edit_distance("", "RATE"), 4u);
}

} // namespace libprofile
