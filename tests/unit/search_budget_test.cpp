#include "libprofile/loops/search_budget.hpp"

#include <gtest/gtest.h>
#include <vector>

namespace libprofile {

namespace {

constexpr std::uint64_t second = 1000000000;

/// A thread that makes calls at a fixed rate. The search looks at them as long as its budget lasts.
struct Program {
    SearchBudget budget;
    std::uint64_t cpu = 0;
    bool pauses = false;
    std::vector<std::uint64_t> windows; // calls in each
    std::vector<std::uint64_t> waits;   // ns of the pauses

    void run(std::uint64_t until, std::uint64_t ns_between_calls, std::uint64_t cost) {
        while (cpu < until) {
            if (!pauses) {
                if (windows.size() == waits.size()) windows.push_back(0);
                cpu += 256 * (ns_between_calls + cost);
                budget.spend(256 * cost);
                windows.back() += 256;
                if (!budget.is_spent(cpu)) continue;
                budget.pause(cpu);
                waits.push_back(budget.wakes_at() - cpu);
                pauses = true;
            } else {
                cpu = budget.wakes_at();
                pauses = false;
            }
        }
    }
};

} // namespace

TEST(SearchBudget, AtNoMomentMoreIsSpentThanItsShareAndTheCredit) {
    Program program;
    for (std::uint64_t until = second / 100; until < 3600 * second; until += until / 8) {
        program.run(until, 10000, 500);
        ASSERT_LE(program.budget.spent(), SearchBudget::credit + program.cpu / 200 + 256 * 500) << program.cpu;
    }
    EXPECT_GE(program.budget.spent(), program.cpu / 200 / 2) << "and much of it is used";
}

TEST(SearchBudget, ProgramsWithFewCallsAreAlwaysLookedAt) {
    Program program;
    program.run(3600 * second, 1000000, 500);
    EXPECT_EQ(program.waits.size(), 0u);
    EXPECT_EQ(program.windows.size(), 1u);
}

TEST(SearchBudget, WindowsAndPausesDoubleUpToTheLongest) {
    Program program;
    program.run(3600 * second, 10000, 500);
    ASSERT_GE(program.waits.size(), 9u);
    for (std::size_t i = 1; i < 6; ++i) {
        EXPECT_NEAR(static_cast<double>(program.windows[i + 1]), 2. * static_cast<double>(program.windows[i]), 600) << i;
        EXPECT_NEAR(static_cast<double>(program.waits[i]), 2. * static_cast<double>(program.waits[i - 1]), 5e-2 * second) << i;
    }
    const std::uint64_t longest = SearchBudget::longest_window * SearchBudget::share;
    EXPECT_NEAR(static_cast<double>(program.waits.back()), static_cast<double>(longest), 5e-2 * second);
}

/// A loop is being verified, so the window goes on.
TEST(SearchBudget, APauseLastsUntilAWindowThatTookTooLongIsPaidFor) {
    SearchBudget budget;
    budget.spend(SearchBudget::credit + second);
    budget.pause(10 * second);
    EXPECT_EQ(budget.wakes_at(), (second + SearchBudget::first_window) * SearchBudget::share);
}

} // namespace libprofile
