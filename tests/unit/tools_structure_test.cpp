// Alignment of sequences and of the iterations of two runs: against full dynamic programming, and on runs of which it is known what was done to them.
#include "tools/structure/call_order.hpp"
#include "tools/structure/edit_script.hpp"
#include "tools/structure/iteration_alignment.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#ifdef HAS_EDLIB
#include <edlib.h>
#endif

namespace libprofile::tools {
namespace {

using Tokens = std::vector<std::uint64_t>;

/// The length of the longest common subsequence, by the table of all prefixes.
std::size_t longest_common(const Tokens& a, const Tokens& b) {
    std::vector<std::size_t> row(b.size() + 1), above(b.size() + 1);
    for (const std::uint64_t x : a) {
        std::swap(row, above);
        for (std::size_t j = 1; j <= b.size(); ++j) row[j] = x == b[j - 1] ? above[j - 1] + 1 : std::max(above[j], row[j - 1]);
    }
    return row.back();
}

std::size_t pairs_of(const std::vector<std::uint32_t>& partners) {
    return static_cast<std::size_t>(std::count_if(partners.begin(), partners.end(), [](std::uint32_t j) { return j != no_partner; }));
}

/// Groups of neighbours without a partner.
std::size_t gaps_of(const std::vector<std::uint32_t>& partners) {
    std::size_t gaps = 0;
    for (std::size_t i = 0; i < partners.size(); ++i) gaps += partners[i] == no_partner && (i == 0 || partners[i - 1] != no_partner);
    return gaps;
}

void expect_valid(const Tokens& a, const Tokens& b, const std::vector<std::uint32_t>& partners) {
    ASSERT_EQ(partners.size(), a.size());
    std::int64_t last = -1;
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (partners[i] == no_partner) continue;
        ASSERT_LT(partners[i], b.size());
        ASSERT_GT(static_cast<std::int64_t>(partners[i]), last);
        ASSERT_EQ(a[i], b[partners[i]]);
        last = partners[i];
    }
}

TEST(EditScript, IsAsShortAsThatOfFullDynamicProgramming) {
    std::mt19937 random(1);
    for (int round = 0; round < 10'000; ++round) {
        const std::size_t most = round % 100 == 0 ? 500 : 40, alphabet = 1 + random() % (round % 3 == 0 ? 2 : round % 3 == 1 ? 8 : 60);
        Tokens a(random() % most), b;
        for (std::uint64_t& x : a) x = random() % alphabet;
        if (round % 2 == 0) { // edits of it
            for (const std::uint64_t x : a) {
                if (random() % 10 == 0) b.push_back(random() % alphabet);
                if (random() % 10 != 0) b.push_back(x);
            }
        } else {
            b.resize(random() % most);
            for (std::uint64_t& x : b) x = random() % alphabet;
        }
        const auto partners = partners_of(a, b);
        ASSERT_TRUE(partners);
        expect_valid(a, b, *partners);
        ASSERT_EQ(pairs_of(*partners), longest_common(a, b)) << "round " << round;
    }
}

#ifdef HAS_EDLIB
/// Levenshtein's distance: the fewest symbols to insert, delete or replace.
std::size_t edlib_distance(const std::string& a, const std::string& b) {
    const auto length = [](const std::string& text) { return static_cast<int>(text.size()); };
    const EdlibAlignResult result = edlibAlign(a.data(), length(a), b.data(), length(b), edlibDefaultAlignConfig());
    EXPECT_EQ(result.status, EDLIB_STATUS_OK);
    const auto distance = static_cast<std::size_t>(result.editDistance);
    edlibFreeAlignResult(result);
    return distance;
}

/// The longest common subsequence, by edlib, which only knows distances with replacements. Let B be b with as many signs that a has not as a is long
/// (a.size() = n), in front of each symbol and at the end. Then it is |B| - distance(a, B):
/// - An alignment of a and B with M matches, S replacements, D deletions from a and I insertions has |B| = M + S + I. So it costs S + D + I = |B| - M + D,
///   which is at least |B| - LCS(a, B). LCS(a, B) = LCS(a, b), since the signs match nothing.
/// - That cost is reached: of a longest common subsequence, match those symbols. Before, between and behind any two of them a has at most n others, and B
///   has n signs at least. So all others of a can be replaced by signs, in their order, and D = 0.
std::size_t longest_common_by_edlib(const std::string& a, const std::string& b) {
    const std::string signs(a.size(), '#');
    std::string with_signs = signs;
    for (const char symbol : b) with_signs += symbol + signs;
    return with_signs.size() - edlib_distance(a, with_signs);
}

TEST(EditScript, IsAsShortAsAnotherImplementationFinds) {
    std::mt19937 random(11);
    for (int round = 0; round < 1'500; ++round) {
        const std::size_t most = round % 100 == 0 ? 300 : 60;
        const std::uint32_t alphabet = 4 + static_cast<std::uint32_t>(random()) % 17;
        std::string a(1 + random() % most, 'a'), b;
        for (char& x : a) x = static_cast<char>('a' + random() % alphabet);
        const std::size_t one_in = 3 + random() % 30;
        std::size_t edits = 0; // that were made; fewer may do
        for (const char x : a) {
            const bool is_inserted = random() % one_in == 0, is_deleted = random() % one_in == 0;
            if (is_inserted) b += static_cast<char>('a' + random() % alphabet);
            if (!is_deleted) b += x;
            edits += is_inserted + is_deleted;
        }
        const auto partners = partners_of(Tokens(a.begin(), a.end()), Tokens(b.begin(), b.end()));
        ASSERT_TRUE(partners);
        const std::size_t cost = a.size() + b.size() - 2 * pairs_of(*partners), distance = edlib_distance(a, b);
        ASSERT_EQ(pairs_of(*partners), longest_common_by_edlib(a, b)) << "round " << round;
        ASSERT_LE(cost, edits);
        ASSERT_LE(distance, cost);     // each edit is one of edlib's
        ASSERT_LE(cost, 2 * distance); // a replacement is two edits
    }
}
#endif

TEST(EditScript, KeepsGapsTogetherAndLate) {
    const Tokens a = {1, 2, 3, 1, 2, 3, 1, 2, 3, 4}, b = {1, 2, 3, 4};
    const auto partners = partners_of(a, b);
    ASSERT_TRUE(partners);
    EXPECT_EQ(gaps_of(*partners), 1u);
    const Tokens same(100, 7), fewer(60, 7);
    const auto by_number = partners_of(same, fewer);
    ASSERT_TRUE(by_number);
    for (std::uint32_t i = 0; i < 60; ++i) EXPECT_EQ((*by_number)[i], i);
}

TEST(EditScript, PutsGapsWhereSomethingWasReplaced) {
    Tokens a(60, 7), b(60, 7);
    for (std::size_t i = 9; i < 60; i += 10) b[i] = 9;
    const auto partners = partners_of(a, b);
    ASSERT_TRUE(partners);
    for (std::uint32_t i = 0; i < 60; ++i) EXPECT_EQ((*partners)[i], i % 10 == 9 ? no_partner : i);
    const auto back = partners_of(b, a);
    ASSERT_TRUE(back);
    for (std::uint32_t i = 0; i < 60; ++i) EXPECT_EQ((*back)[i], i % 10 == 9 ? no_partner : i);
}

TEST(EditScript, GivesUpBeyondTheEditsThatAreAllowed) {
    Tokens a(2000), b(2000);
    std::iota(a.begin(), a.end(), 0u);
    std::iota(b.begin(), b.end(), 10'000u);
    EXPECT_FALSE(partners_of(a, b, 100));
    EXPECT_TRUE(partners_of(a, b, 4000));
    b = a;
    b.erase(b.begin() + 500, b.begin() + 600);
    EXPECT_TRUE(partners_of(a, b, 100));
    EXPECT_FALSE(partners_of(a, b, 99));
}

TEST(EditScript, HasNoTroubleWithNothing) {
    EXPECT_EQ(partners_of({}, {})->size(), 0u);
    EXPECT_EQ(pairs_of(*partners_of(Tokens(5, 1), {})), 0u);
    EXPECT_EQ(partners_of({}, Tokens(5, 1))->size(), 0u);
}

/// What a step of a program does.
struct Step {
    std::uint64_t kind = 0; // which calls
    double work = 1;        // calls, as a multiple
    std::uint64_t bytes = 1000;
    std::size_t number = 0;  // which step it was before anything was done to the run
    std::uint64_t order = 0; // of the calls; 0: not known
};

RunIterations iterations_of(const std::vector<Step>& steps) {
    RunIterations run;
    for (const Step& step : steps) {
        const auto calls = static_cast<std::uint64_t>(std::lround(100 * step.work));
        run.call_paths.push_back(step.kind);
        run.visits.push_back(step.kind * 1'000'003 + calls);
        run.counts.push_back(run.visits.back() * 1'000'003 + step.bytes);
        run.calls.push_back(static_cast<float>(calls));
        run.bytes.push_back(static_cast<float>(step.bytes));
        run.time.push_back(1e6f);
        run.orders.push_back(step.order);
    }
    run.ranks = 4;
    run.fewest = run.most = steps.size();
    return run;
}

/// A program with output every 20 steps, whose messages change a little with time.
std::vector<Step> program(std::size_t steps, const std::function<double(double)>& work) {
    std::vector<Step> list;
    for (std::size_t i = 0; i < steps; ++i)
        list.push_back({i % 20 == 19 ? 2u : 1u, work(static_cast<double>(i) / static_cast<double>(steps)), 1000 + i / 10 * 8, i});
    return list;
}

/// The share of the steps of both runs' that are paired with what they were.
double right_share(const std::vector<Step>& a, const std::vector<Step>& b, const IterationAlignment& alignment) {
    std::size_t common = 0, right = 0;
    for (const Step& x : a) common += std::any_of(b.begin(), b.end(), [&](const Step& y) { return y.number == x.number; });
    for (std::size_t i = 0; i < a.size(); ++i) right += alignment.partner[i] != no_partner && b[alignment.partner[i]].number == a[i].number;
    return static_cast<double>(right) / static_cast<double>(common);
}

const auto constant = [](double) { return 1.0; };

TEST(IterationAlignment, EqualRunsAreAlignedStepByStepByTheirStructure) {
    const std::vector<Step> steps = program(1000, constant);
    const IterationAlignment alignment = align_iterations(iterations_of(steps), iterations_of(steps));
    EXPECT_EQ(alignment.by, AlignBy::Structure);
    EXPECT_EQ(alignment.cost, 0);
    EXPECT_EQ(alignment.different, 0u);
    EXPECT_EQ(right_share(steps, steps, alignment), 1);
}

TEST(IterationAlignment, FindsStepsThatWereLeftOutOrPutIn) {
    // Ten steps each have equal messages, so single steps can be told apart within that only.
    for (const double share : {0.05, 0.1, 0.2})
        for (std::uint32_t seed = 1; seed <= 10; ++seed) {
            std::mt19937 random(seed);
            const std::vector<Step> all = program(1000, constant);
            std::vector<Step> some;
            for (std::size_t block = 0; block < 100; ++block) // blocks of ten steps, as those that a restart or a shorter output interval leaves out
                if (std::uniform_real_distribution<double>(0, 1)(random) >= share)
                    some.insert(some.end(), all.begin() + static_cast<std::ptrdiff_t>(block * 10), all.begin() + static_cast<std::ptrdiff_t>(block * 10 + 10));
            const IterationAlignment without = align_iterations(iterations_of(all), iterations_of(some));
            EXPECT_GE(right_share(all, some, without), 0.99) << share << " dropped, seed " << seed;
            const IterationAlignment with = align_iterations(iterations_of(some), iterations_of(all));
            EXPECT_GE(right_share(some, all, with), 0.99) << share << " inserted, seed " << seed;
        }
}

TEST(IterationAlignment, StepsThatDoMoreThanBeforeKeepTheirPartners) {
    const std::vector<Step> before = program(1000, constant);
    std::vector<Step> after = before;
    for (std::size_t i = 0; i < after.size(); ++i) {
        if (i % 10 == 9) after[i].kind = 2; // output twice as often
        if (i >= 600) after[i].bytes *= 2;  // more bytes from here on
        if (i >= 300 && i < 320) after[i].work = 1.5;
    }
    const IterationAlignment alignment = align_iterations(iterations_of(before), iterations_of(after));
    EXPECT_EQ(alignment.by, AlignBy::Structure);
    EXPECT_GE(right_share(before, after, alignment), 0.99);
    EXPECT_NEAR(static_cast<double>(alignment.different), 50 + 20 - 1, 1); // one of the twenty steps has output besides
}

TEST(IterationAlignment, MoreStepsOfEqualWorkAreLeftOverAtTheEnd) {
    const std::vector<Step> before = program(1000, constant);
    std::vector<Step> after = program(1300, constant);
    for (Step& step : after) step.bytes = 1000 + step.number / 10 * 8;
    const IterationAlignment alignment = align_iterations(iterations_of(before), iterations_of(after));
    EXPECT_EQ(right_share(before, after, alignment), 1);
    EXPECT_EQ(alignment.pairs, 1000u);
}

TEST(IterationAlignment, SmallerStepsAreAlignedWithThoseThatDoAsMuch) {
    // The work changes with simulated time, of which a step is 1 / 1.3 of what it was.
    const auto work = [](double x) { return 1 + 3 * x * x; };
    std::vector<Step> before = program(1000, work), after = program(1300, work);
    for (std::vector<Step>* steps : {&before, &after})
        for (Step& step : *steps) step.kind = 1, step.bytes = 1000;
    const IterationAlignment alignment = align_iterations(iterations_of(before), iterations_of(after));
    EXPECT_NE(alignment.by, AlignBy::Step);
    std::size_t near = 0;
    for (std::size_t i = 0; i < before.size(); ++i)
        near += alignment.partner[i] != no_partner && std::abs(static_cast<double>(alignment.partner[i]) - 1.3 * static_cast<double>(i)) <= 26;
    EXPECT_GE(near, 990u);
}

TEST(IterationAlignment, ChangingNumbersOfCallsAreAlignedByWork) {
    // A solver's iterations in a step vary by chance in both runs, around what the step needs; one run left out the steps from 400 on.
    std::mt19937 random(3);
    std::vector<Step> before, after;
    for (std::size_t i = 0; i < 1000; ++i) {
        const double needed = 1 + std::sin(static_cast<double>(i) / 40) / 2;
        const auto chance = [&] { return 1 + 0.02 * std::normal_distribution<double>()(random); };
        before.push_back({1, needed * chance(), 1000, i});
        if (i < 400 || i >= 480) after.push_back({1, needed * chance(), 1000, i});
    }
    const IterationAlignment alignment = align_iterations(iterations_of(before), iterations_of(after));
    EXPECT_EQ(alignment.by, AlignBy::Work);
    std::size_t near = 0;
    for (std::size_t i = 0; i < before.size(); ++i)
        near += alignment.partner[i] != no_partner && std::abs(static_cast<double>(after[alignment.partner[i]].number) - static_cast<double>(i)) <= 10;
    EXPECT_GE(near, 900u);
}

TEST(IterationAlignment, TellsTheSameCallsInAnotherOrder) {
    std::vector<Step> before = program(400, constant);
    for (Step& step : before) step.order = step.kind;
    std::vector<Step> after = before;
    for (std::size_t i = 0; i < after.size(); i += 10) after[i].order = 7;
    const IterationAlignment alignment = align_iterations(iterations_of(before), iterations_of(after));
    EXPECT_EQ(alignment.by, AlignBy::Structure);
    EXPECT_EQ(right_share(before, after, alignment), 1);
    EXPECT_EQ(alignment.different, 0u);
    EXPECT_EQ(alignment.reordered, 40u);
    EXPECT_EQ(align_iterations(iterations_of(before), iterations_of(before)).reordered, 0u);
}

TEST(IterationAlignment, TheOrderFindsStepsThatCallsDoNotTell) {
    std::mt19937 random(5);
    std::vector<Step> all = program(400, constant);
    for (Step& step : all) step.kind = 1, step.bytes = 1000, step.order = 1 + random() % 4;
    std::vector<Step> some = all;
    some.erase(some.begin() + 100, some.begin() + 140);
    EXPECT_GE(right_share(all, some, align_iterations(iterations_of(all), iterations_of(some))), 0.98);
    RunIterations unknown = iterations_of(some);
    unknown.orders.assign(some.size(), 0);
    EXPECT_LE(right_share(all, some, align_iterations(iterations_of(all), unknown)), 0.5) << "calls alone";
    RunIterations of_more_ranks = iterations_of(some);
    of_more_ranks.ranks = 8;
    EXPECT_EQ(align_iterations(iterations_of(all), of_more_ranks).reordered, 0u) << "sums over other ranks say nothing";
}

TEST(IterationAlignment, BytesStillTellStepsApartWhereAllHaveAnotherOrder) {
    std::vector<Step> before = program(1000, constant);
    for (Step& step : before) step.order = 1;
    std::vector<Step> after = before;
    for (Step& step : after) step.order = 2;
    after.erase(after.begin() + 200, after.begin() + 250);
    const IterationAlignment alignment = align_iterations(iterations_of(before), iterations_of(after));
    EXPECT_EQ(right_share(before, after, alignment), 1);
    EXPECT_EQ(alignment.reordered, 950u);
}

TEST(IterationAlignment, WhereOneRunDoesNotKnowTheOrderCallsDecide) {
    std::vector<Step> before = program(200, constant);
    for (Step& step : before) step.order = 1;
    std::vector<Step> after = before;
    for (std::size_t i = 0; i < 30; ++i) after[i].order = 0; // a loop that was searched for
    const IterationAlignment alignment = align_iterations(iterations_of(before), iterations_of(after));
    EXPECT_EQ(right_share(before, after, alignment), 1);
    EXPECT_EQ(alignment.reordered, 0u);
}

/// A phase with one sequence of these events; what an event is, and how often in a row.
PhaseData phase_with(const std::vector<std::pair<std::uint32_t, std::uint64_t>>& events) {
    EventSequence sequence;
    sequence.iterations = 1;
    sequence.has_timeline = true;
    for (const auto& [path, count] : events) {
        SequenceEvent event;
        event.path = path;
        event.count = count;
        sequence.events.push_back(event);
    }
    PhaseData data;
    data.sequences.emplace();
    data.sequences->sequences = {sequence};
    data.sequences->number_of_iteration = {1, 0};
    return data;
}

TEST(CallOrders, AreOfKeysInTheirOrder) {
    Profile profile;
    profile.phases = {{"", PhaseKind::Outside}, {"step", PhaseKind::Iterations}, {"solver", PhaseKind::Iterations}};
    const std::vector<std::uint32_t> keys = {0, 11, 12, 11}; // paths 1 and 3 are one call path of two builds
    const auto order_of = [&](const PhaseData& data) { return call_orders(profile, data, keys, 3); };
    const auto first = order_of(phase_with({{1, 1}, {2, 1}}));
    EXPECT_NE(first[0], 0u);
    EXPECT_EQ(first[1], 0u) << "not known";
    EXPECT_EQ(first[2], 0u) << "beyond what is known";
    EXPECT_EQ(order_of(phase_with({{3, 1}, {2, 1}}))[0], first[0]);
    EXPECT_NE(order_of(phase_with({{2, 1}, {1, 1}}))[0], first[0]);
    EXPECT_NE(order_of(phase_with({{1, 2}, {2, 1}}))[0], first[0]);
    EXPECT_EQ(order_of(phase_with({{1, 1}, {1, 2}, {3, 1}}))[0], order_of(phase_with({{1, 4}}))[0]) << "however the profile folded them";
    PhaseData inside = phase_with({{1, 1}, {2, 1}});
    inside.sequences->sequences[0].events[1].is_inner = true;
    EXPECT_EQ(order_of(inside)[0], 0u) << "a phase that was not read";
    inside.sequences->sequences[0].events[1].phase = 2;
    const std::uint64_t of_solver = order_of(inside)[0];
    EXPECT_NE(of_solver, 0u);
    EXPECT_NE(of_solver, first[0]);
    for (bool EventSequence::*missing : {&EventSequence::has_timeline, &EventSequence::is_too_long}) {
        PhaseData data = phase_with({{1, 1}});
        data.sequences->sequences[0].*missing = missing == &EventSequence::is_too_long;
        EXPECT_EQ(order_of(data)[0], 0u);
    }
}

TEST(IterationAlignment, IsAsTheUserForcesIt) {
    const std::vector<Step> before = program(100, constant), after = program(150, constant);
    const RunIterations a = iterations_of(before), b = iterations_of(after);
    for (const char* name : {"structure", "work", "step", "progress"}) {
        const IterationAlignment alignment = align_iterations(a, b, align_by_named(name));
        EXPECT_STREQ(align_by_name(alignment.by), name);
        EXPECT_EQ(alignment.pairs, 100u);
    }
    EXPECT_EQ(align_iterations(a, b, AlignBy::Step).partner[99], 99u);
    EXPECT_EQ(align_iterations(a, b, AlignBy::Progress).partner[99], 149u);
    EXPECT_FALSE(align_by_named("time"));
}

} // namespace
} // namespace libprofile::tools
