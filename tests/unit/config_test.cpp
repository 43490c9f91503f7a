#include "libprofile/session/config.hpp"

#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <string>
#include <unistd.h>

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
    EXPECT_EQ(config.number(Option::Clusters), 64);
    EXPECT_EQ(config.number(Option::Rate), 100);
    EXPECT_EQ(config.number(Option::Memory), 256 << 20);
    EXPECT_STREQ(config.text(Option::Output), "");
    EXPECT_STREQ(config.complaint(), "");
}

TEST_F(ConfigTest, SizesTakeSuffixes) {
    setenv("LIBPROFILE_MEMORY", "16M", 1);
    EXPECT_EQ(load().number(Option::Memory), 16 << 20);
}

TEST_F(ConfigTest, ChoicesAreNumberedInOrder) {
    setenv("LIBPROFILE_EQUIVALENCE", "weak", 1);
    EXPECT_EQ(load().number(Option::Equivalence), 2);
}

TEST_F(ConfigTest, InvalidValuesFallBackAndAreNamed) {
    setenv("LIBPROFILE_CLUSTERS", "0", 1);
    Config& config = load();
    EXPECT_EQ(config.number(Option::Clusters), 64);
    EXPECT_STREQ(config.complaint(),
                 "LIBPROFILE_CLUSTERS=0 is not valid, expected a number from 1 to 4096; using 64");
}

TEST_F(ConfigTest, NumbersWithTrailingTextAreInvalid) {
    for (const char* bad : {"12x", "-1", "1e3", " 5", "99999999999999999999999"}) {
        setenv("LIBPROFILE_CLUSTERS", bad, 1);
        Arena arena;
        Config config;
        config.load(arena);
        EXPECT_EQ(config.number(Option::Clusters), 64) << bad;
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
    Config& config = load();
    EXPECT_STREQ(config.complaint(), "");
    EXPECT_FALSE(config.started_by_launcher());
}

TEST_F(ConfigTest, SeveralComplaintsShareOneLine) {
    setenv("LIBPROFILE_CLUSTERS", "0", 1);
    setenv("LIBPROFILE_RAET", "7", 1);
    const std::string complaint = load().complaint();
    EXPECT_NE(complaint.find("LIBPROFILE_CLUSTERS=0"), std::string::npos);
    EXPECT_NE(complaint.find("LIBPROFILE_RATE?"), std::string::npos);
    EXPECT_EQ(complaint.find('\n'), std::string::npos);
}

TEST_F(ConfigTest, ComplaintsNeverOverflow) {
    for (int i = 0; i < 100; ++i) setenv(("LIBPROFILE_UNKNOWN_VARIABLE_" + std::to_string(i)).c_str(), "1", 1);
    EXPECT_LT(std::strlen(load().complaint()), 1024u);
}

TEST_F(ConfigTest, TheLauncherMarksItsOwnProcessOnly) {
    setenv("LIBPROFILE_RUN_PID", std::to_string(getpid()).c_str(), 1);
    EXPECT_TRUE(load().started_by_launcher());
}

TEST(EditDistance, CountsEdits) {
    EXPECT_EQ(edit_distance("RATE", "RATE"), 0u);
    EXPECT_EQ(edit_distance("RAET", "RATE"), 2u);
    EXPECT_EQ(edit_distance("", "RATE"), 4u);
}

} // namespace libprofile
