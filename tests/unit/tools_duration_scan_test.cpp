// How long calls and tasks of a selection take, counted from events that are left in their file: what all decoded events say.
#include "tests/unit/split_mix.hpp"
#include "tests/unit/tools_task_file.hpp"
#include "tests/unit/tools_task_team.hpp"
#include "tests/unit/tools_timeline_file.hpp"
#include "tools/timeline/duration_scan.hpp"
#include "tools/timeline/task_types.hpp"

#include <cmath>
#include <gtest/gtest.h>

namespace libprofile::test {

namespace {

using namespace tools;

/// Ascending.
struct LiteralCounts {
    std::vector<std::uint64_t> durations;
    std::uint64_t stolen = 0;
};

void expect_same(const DurationCounts& counts, LiteralCounts literal, const std::string& what) {
    std::sort(literal.durations.begin(), literal.durations.end());
    ASSERT_EQ(counts.count(), literal.durations.size()) << what;
    if (literal.durations.empty()) return;
    std::map<int, std::uint64_t> bins;
    std::uint64_t total = 0;
    for (const std::uint64_t ns : literal.durations) {
        total += ns;
        ++bins[static_cast<int>(std::floor(5 * std::log10(static_cast<double>(std::max<std::uint64_t>(ns, 1))) + 1e-9))];
    }
    EXPECT_EQ(counts.total(), total) << what;
    EXPECT_EQ(counts.least(), literal.durations.front()) << what;
    EXPECT_EQ(counts.most(), literal.durations.back()) << what;
    EXPECT_EQ(counts.histogram(), bins) << what;
    const std::uint64_t middle = literal.durations[literal.durations.size() / 2];
    const DurationCounts::Median median = counts.median();
    if (median.is_exact)
        EXPECT_EQ(median.ns, middle) << what;
    else
        EXPECT_NEAR(static_cast<double>(median.ns), static_cast<double>(middle), static_cast<double>(middle) * DurationCounts::most_error) << what;
}

TEST(DurationCounts, TheyAreThoseOfTheListHoweverLongItIs) {
    Random random{11};
    for (const std::size_t n : {std::size_t{1}, std::size_t{1000}, DurationCounts::most_exact, DurationCounts::most_exact + 1, 3 * DurationCounts::most_exact})
        for (const int bits : {3, 11, 30, 60}) {
            DurationCounts counts;
            LiteralCounts literal;
            for (std::size_t i = 0; i < n; ++i) {
                literal.durations.push_back(random() >> (64 - bits));
                counts.add(literal.durations.back());
            }
            EXPECT_EQ(counts.median().is_exact, n <= DurationCounts::most_exact || bits < 12);
            expect_same(counts, std::move(literal), fmt::format("{} of {} bits", n, bits));
        }
    DurationCounts ends; // where bins begin, and the largest number
    LiteralCounts literal;
    for (std::uint64_t power = 1; power < 10'000'000'000'000'000'000u / 10; power *= 10)
        for (const std::uint64_t ns : {power - 1, power, power + 1}) literal.durations.push_back(ns);
    for (const std::uint64_t ns : literal.durations) ends.add(ns);
    expect_same(ends, literal, "powers of 10");
    ends.add(~std::uint64_t{0});
    EXPECT_EQ(ends.most(), ~std::uint64_t{0});
}

/// To its end, in the smallest steps.
void finish(DurationScan& scan) {
    double share = 0;
    for (bool are_tasks = false; !scan.is_done();) {
        if (are_tasks != scan.is_at_tasks()) share = 0;
        are_tasks = scan.is_at_tasks();
        EXPECT_GE(scan.share(), share);
        EXPECT_LE(scan.share(), 1);
        share = scan.share();
        scan.go_on(std::chrono::milliseconds(0));
    }
}

std::shared_ptr<const TimelineIndex> index_of(const Profile& profile) {
    return TimelineIndex::open(profile, [](std::size_t, std::size_t) {});
}

TEST(DurationScan, CallsAreThoseThatLieInTheSelection) {
    for (const MadeTrace trace : {MadeTrace{3, 40, 1}, MadeTrace{60, 40, 4}, MadeTrace{2, 1200, 1, true}, MadeTrace{40, 3000, 1}}) {
        const TimelineFile file(trace);
        const Profile whole = read_profile(file.path()), left = read_profile_without_events(file.path(), 0);
        const auto index = index_of(left);
        ASSERT_NE(index, nullptr);
        const KeptEvents& events = whole.locations[0].events;
        const std::uint64_t end = events.parts.back().end_ns;
        DurationScan::CallGroups groups;
        groups.groups = left.paths.size();
        for (std::uint32_t p = 0; p < left.paths.size(); ++p) groups.of_path.push_back(p);
        Random random{5};
        for (int i = 0; i < 12; ++i) {
            std::uint64_t from = random() % end, to = random() % end;
            if (from > to) std::swap(from, to);
            if (i == 0) from = 0, to = end;
            if (i == 1) from = events.intervals[events.intervals.size() / 2].begin_ns, to = events.intervals[events.intervals.size() / 2].end_ns + 1;
            if (i % 3 == 2) to = std::min(to, from + 5000);
            std::vector<LiteralCounts> literal(left.paths.size());
            for (const TracedInterval& one : events.intervals)
                if (one.begin_ns >= from && one.end_ns <= to && timeline_state_of(whole, whole.paths[one.path]) != TimelineState::Region)
                    literal[one.path].durations.push_back(one.end_ns - one.begin_ns);
            DurationScan scan(left, index->rows(), {{{from, to}}, false}, groups);
            finish(scan);
            for (std::size_t p = 0; p < literal.size(); ++p) expect_same(scan.calls()[p], literal[p], fmt::format("path {} from {} to {}", p, from, to));
            EXPECT_TRUE(scan.tasks().empty());
        }
    }
}

TEST(DurationScan, NothingIsReadOfThreadsThatAreNotChosen) {
    const TimelineFile file({60, 40, 1});
    const Profile left = read_profile_without_events(file.path(), 0);
    const auto index = index_of(left);
    const IndexedRows rows = index->rows();
    const RunTypes types(left, rows);
    for (const std::uint32_t rank : {0, 1}) { // there is only rank 0
        CallFilter filter;
        filter.ranks = {{rank, rank}};
        const PassingCalls passing(left, rows, types, filter);
        DurationScan scan(left, rows, {{{0, 1'000'000'000}}, false}, {std::vector<std::uint32_t>(left.paths.size(), 0), 1}, &passing);
        EXPECT_EQ(scan.is_done(), rank == 1);
    }
}

void check_tasks(const Profile& made, bool is_long) {
    const TasksFile file(made);
    const Profile whole = read_profile(file.path()), left = read_profile_without_events(file.path(), 0);
    const auto index = index_of(left);
    ASSERT_NE(index, nullptr);
    const TaskGraph graph = task_graph(whole, parts_of(task_stretches(whole, 0)));
    const std::uint64_t begin = whole.locations[0].events.parts[0].begin_ns, end = whole.locations[0].events.parts[0].end_ns;
    Random random{3};
    for (int i = 0; i < 8; ++i) {
        std::uint64_t from = begin + random() % (end - begin), to = begin + random() % (end - begin);
        if (from > to) std::swap(from, to);
        if (i == 0) from = 0, to = end + 5;
        if (i % 3 == 2) to = std::min(to, from + (end - begin) / 50); // its tasks were created long before
        const SelectedTimes times{std::vector<SelectedTimes::Span>(left.locations.size(), {from, to}), i % 2 == 1};
        std::map<std::pair<std::string, std::string>, LiteralCounts> literal;
        for (const TaskGraph::Task& task : graph.tasks) {
            bool is_inside = task.is_complete && (!times.is_iteration || (task.created_ns >= from && task.created_ns <= to));
            for (std::uint32_t r = task.runs_at; r < task.runs_at + task.runs; ++r)
                is_inside = is_inside && graph.runs[r].begin_ns >= from && graph.runs[r].end_ns <= to;
            if (!is_inside) continue;
            const TaskPlace name = task_type_name(whole, graph.runs[task.runs_at].path, task.path);
            LiteralCounts& counts = literal[{name.function, name.source}];
            counts.durations.push_back(task.duration_ns);
            counts.stolen += task.is_stolen ? 1 : 0;
        }
        DurationScan scan(left, index->rows(), times, {std::vector<std::uint32_t>(left.paths.size(), 0), 1});
        finish(scan);
        EXPECT_EQ(scan.incomplete(), 0u);
        EXPECT_EQ(scan.too_long(), 0u) << from << " to " << to;
        ASSERT_EQ(scan.tasks().size(), literal.size()) << from << " to " << to;
        for (const auto& [name, type] : scan.tasks()) {
            expect_same(type.durations, literal[name], fmt::format("{} from {} to {}", name.first, from, to));
            EXPECT_EQ(type.stolen, literal[name].stolen);
        }
        if (i == 0 && is_long) {
            EXPECT_GT(graph.tasks.size(), 100'000u) << "the test needs several pieces";
        }
    }
}

TEST(DurationScan, TasksAreThoseThatLieInTheSelection) {
    for (const bool suspends : {false, true}) {
        check_tasks(TaskTeam(tree_program(3, 4), 3, 1, suspends).run(), false);
        check_tasks(TaskTeam(tree_program(32, 7), 4, 2, suspends).run(), true);
    }
}

TEST(DurationScan, TasksThatWaitLongForTheirTurnAreFollowed) {
    TaskProgram program;
    for (int i = 0; i < 120'000; ++i) {
        const std::size_t task = program.create(0);
        program.compute(task, static_cast<std::uint64_t>(10 + i % 1000));
    }
    check_tasks(TaskTeam(program, 2, 1).run(), true);
}

/// A run is recorded at its end: that others ran inside it is known only then.
TEST(DurationScan, ATaskThatEndsPiecesAfterItsBeginHasItsOwnTime) {
    TaskProgram program;
    const std::size_t around = program.create(0);
    for (int i = 0; i < 12'000; ++i) {
        program.compute(program.create(around), 100);
        if (i % 100 == 99) program.wait(around);
    }
    program.wait(0);
    for (int i = 0; i < 90'000; ++i) program.compute(program.create(0), 100);
    check_tasks(TaskTeam(program, 2, 1).run(), true);
}

} // namespace

} // namespace libprofile::test
