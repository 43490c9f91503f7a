// `libprofile run`: the arguments and what can be preloaded; `libprofile options`.
#include "tools/launch/executable.hpp"
#include "tools/launch/run.hpp"
#include "tools/launch/settings.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace libprofile;
using namespace libprofile::tools;

TEST(Run, OptionsEndAtTheProgram) {
    const RunRequest r = parse_run({"--sample", "50Hz", "--quiet", "--clock=tsc", "./app", "--sample", "x"});
    EXPECT_EQ(r.problem, "");
    using Setting = std::pair<std::string, std::string>;
    EXPECT_EQ(r.settings, (std::vector<Setting>{{"LIBPROFILE_SAMPLE", "50Hz"}, {"LIBPROFILE_QUIET", "1"}, {"LIBPROFILE_CLOCK", "tsc"}}));
    EXPECT_EQ(r.command, (std::vector<std::string>{"./app", "--sample", "x"}));
    EXPECT_EQ(parse_run({"--", "-strange-"}).command, std::vector<std::string>{"-strange-"});
    EXPECT_EQ(parse_run({"app", "--", "x"}).command, (std::vector<std::string>{"app", "--", "x"}));
}

TEST(Run, WrongArgumentsAreNamed) {
    EXPECT_NE(parse_run({"--no-such", "--", "a"}).problem.find("--no-such"), std::string::npos);
    EXPECT_NE(parse_run({"--clusters", "0", "--", "a"}).problem.find("1 to 4096"), std::string::npos);
    EXPECT_NE(parse_run({"--clusters", "4x", "--", "a"}).problem, "");
    EXPECT_NE(parse_run({"--clusters", "-1", "--", "a"}).problem, "");
    EXPECT_NE(parse_run({"--clusters", "99999999999999999999", "--", "a"}).problem, "");
    EXPECT_NE(parse_run({"--clock", "sun", "--", "a"}).problem.find("auto, tsc, monotonic"), std::string::npos);
    EXPECT_NE(parse_run({"--memory", "1", "--", "a"}).problem.find("1M"), std::string::npos);
    EXPECT_EQ(parse_run({"--memory", "64M", "--", "a"}).problem, "");
    EXPECT_EQ(parse_run({"--memory", "1048576", "--", "a"}).problem, "");
    EXPECT_NE(parse_run({"--memory", "64X", "--", "a"}).problem, "");
    EXPECT_NE(parse_run({"--quiet=maybe", "--", "a"}).problem, "");
    EXPECT_NE(parse_run({"--output=", "--", "a"}).problem, "");
    EXPECT_NE(parse_run({"--sample", "--", "a"}).problem, "");
    EXPECT_NE(parse_run({"--sample", "fast", "--", "a"}).problem.find("100Hz"), std::string::npos);
    EXPECT_NE(parse_run({"--sample", "20kHz", "--", "a"}).problem.find("at most 10000 Hz"), std::string::npos);
    EXPECT_NE(parse_run({"--sample-clock", "sun", "--", "a"}).problem.find("auto, perf, timer, wall"), std::string::npos);
    for (const char* good : {"0", "off", "100", "2kHz", "1ms", "0.5ms"}) EXPECT_EQ(parse_run({"--sample", good, "--", "a"}).problem, "") << good;
    EXPECT_NE(parse_run({}).problem, "");
    EXPECT_EQ(parse_run({"--print-env"}).problem, "");
    EXPECT_TRUE(parse_run({"--help"}).help);
}

TEST(Run, HelpFitsOnAScreen) {
    const std::string help = run_help();
    EXPECT_EQ(help.find("Examples"), 0u);
    EXPECT_LE(std::count(help.begin(), help.end(), '\n'), 45);
    for (const OptionRow& row : option_table) EXPECT_NE(help.find(flag_of(row)), std::string::npos) << row.name;
}

TEST(Run, ProgramsAreFoundAsExecvpFindsThem) {
    EXPECT_EQ(find_program("no-such-program-anywhere"), "");
    EXPECT_NE(find_program("sh"), "");
    EXPECT_EQ(find_program("/tmp"), "");
    EXPECT_EQ(find_program("/bin/sh"), "/bin/sh");
}

TEST(Run, DynamicProgramsAndScriptsAreNotStatic) {
    EXPECT_EQ(why_not_measurable("/bin/sh"), "");
    EXPECT_EQ(why_not_measurable("/proc/self/exe"), "");
    EXPECT_EQ(why_not_measurable("/nonexistent"), "");
    EXPECT_EQ(why_not_measurable("/lib64/ld-linux-x86-64.so.2"), "");
    const std::filesystem::path script = std::filesystem::temp_directory_path() / ("lprof-script-" + std::to_string(::getpid()));
    std::ofstream(script) << "#!/bin/sh\n";
    EXPECT_EQ(why_not_measurable(script.string()), "");
    std::filesystem::remove(script);
}

TEST(Options, EveryDefaultIsValid) {
    for (const OptionRow& row : option_table) {
        if (*row.default_value != 0) {
            EXPECT_EQ(value_problem(row, row.default_value), "") << row.name;
        }
        EXPECT_NE(options_markdown().find(std::string("`LIBPROFILE_") + row.name + "`"), std::string::npos);
    }
}
