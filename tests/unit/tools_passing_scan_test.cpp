// What the index and what is counted say of tasks and filters, of events that are left in their file: what all decoded events say.
#include "tests/unit/split_mix.hpp"
#include "tests/unit/tools_task_file.hpp"
#include "tests/unit/tools_task_team.hpp"
#include "tests/unit/tools_timeline_file.hpp"
#include "tools/timeline/passing_scan.hpp"
#include "tools/timeline/row_builder.hpp"
#include "tools/timeline/series_scan.hpp"

#include <cmath>
#include <gtest/gtest.h>
#include <optional>
#include <set>

namespace libprofile::test {

namespace {

using namespace tools;

/// A profile read whole, and with its events left in the file.
struct TwoWays {
    explicit TwoWays(const std::filesystem::path& path) : whole(read_profile(path)), left(read_profile_without_events(path, 0)) {
        index = TimelineIndex::open(left, [](std::size_t, std::size_t) {});
        if (index == nullptr) throw std::runtime_error("no index");
        rows = index->rows();
    }
    Profile whole, left;
    std::shared_ptr<const TimelineIndex> index;
    IndexedRows rows;
    std::uint64_t end(std::size_t l) const { return whole.locations[l].events.parts.back().end_ns; }

    /// All calls and stretches of a location, with paths of the profile; sorted.
    std::vector<StateCall> calls(std::size_t l) const {
        std::vector<StateCall> list;
        for (const TracedInterval& one : whole.locations[l].events.intervals) {
            const TimelineState state = timeline_state_of(whole, whole.paths[one.path]);
            if (state != TimelineState::Region) list.push_back({one.begin_ns, one.end_ns, one.path, one.processor, state});
        }
        for (const TracedTaskRun& run : whole.locations[l].events.runs) add_run(list, run);
        sort_calls(list);
        return list;
    }
    std::vector<KnownSpan> spans(std::size_t l) const {
        std::vector<KnownSpan> list;
        for (const EventPart& part : whole.locations[l].events.parts) add_span(list, part, whole.locations[l].events.dropped_parts == 0);
        return list;
    }
};

/// ns by state, of what `passes` says, and in tasks by path.
template <class Passes> std::pair<TimelineSums, std::map<std::uint32_t, std::uint64_t>> literal(const TwoWays& both, std::size_t l, std::uint64_t from,
                                                                                                std::uint64_t to, Passes passes) {
    std::pair<TimelineSums, std::map<std::uint32_t, std::uint64_t>> sums = {};
    std::vector<StateCall> calls = both.calls(l);
    for_each_piece(calls, both.spans(l), from, to, [&](std::uint64_t begin, std::uint64_t end, const StateCall* call) {
        if (passes(call)) sums.first[static_cast<std::size_t>(call == nullptr ? TimelineState::Computing : call->state)] += end - begin;
    });
    keep_tasks_and_waits(calls);
    for_each_piece(calls, both.spans(l), from, to, [&](std::uint64_t begin, std::uint64_t end, const StateCall* call) {
        if (call != nullptr && call->is_run() && passes(call)) sums.second[call->path] += end - begin;
    });
    return sums;
}

void check_tasks_of_index(const Profile& made) {
    const TasksFile file(made);
    const TwoWays both(file.path());
    const RunTypes types(both.left, both.rows);
    const std::vector<TaskClasses> classes = types.classes(2);
    ASSERT_GE(types.types.size(), 3u) << "the test needs types that share a class";
    const auto all = [](const StateCall*) { return true; };
    Random random{9};
    std::uint64_t in_tasks = 0;
    for (std::size_t l = 0; l < both.rows.size(); ++l) {
        const IndexedRow& row = *both.rows[l];
        for (int i = 0; i < 20; ++i) {
            std::uint64_t from = random() % both.end(l), to = random() % both.end(l);
            if (from > to) std::swap(from, to);
            if (i == 0) from = 0, to = both.end(l);
            if (i % 3 == 1) to = std::min(to, from + 2000);
            const TimelineSums sums = literal(both, l, from, to, all).first;
            EXPECT_EQ(sums_between(row, from, to), sums) << from << " to " << to;
            in_tasks += sums[static_cast<std::size_t>(TimelineState::Task)];
        }
        // Pixels, exact ones and whole leaves.
        const std::size_t n = 100;
        const std::uint64_t pixel = both.end(l) / n;
        const TimelinePixels found = pixels_between(row, 0, static_cast<double>(pixel * n), n, {~std::uint64_t{0}, ~std::uint64_t{0}}, &classes[l]);
        for (std::size_t x = 0; x < n; ++x) {
            const auto [states, tasks] = literal(both, l, pixel * x, pixel * (x + 1), all);
            std::vector<std::uint64_t> of_class(4);
            for (const std::uint64_t ns : states) of_class[0] += ns;
            for (const auto& [path, ns] : tasks) {
                std::size_t position = 0;
                while ((*row.block().paths)[row.index().run_paths[position]] != path) ++position;
                of_class[classes[l][position]] += ns;
                of_class[0] -= ns;
            }
            ASSERT_LT(found.pixels[x].task_class, of_class.size());
            EXPECT_EQ(of_class[found.pixels[x].task_class], *std::max_element(of_class.begin(), of_class.end())) << "pixel " << x;
        }
        TaskSums leaves, groups;
        std::map<std::uint32_t, std::uint64_t> by_leaf, by_group;
        for (std::size_t g = 0; g < row.index().groups.size(); ++g) {
            for (const EventLeaf& leaf : row.leaves(g))
                for (const auto& [position, ns] : leaf.tasks) by_leaf[(*row.block().paths)[row.index().run_paths[position]]] += ns;
            for (const auto& [position, ns] : row.index().groups[g].tasks) by_group[(*row.block().paths)[row.index().run_paths[position]]] += ns;
        }
        EXPECT_EQ(by_leaf, literal(both, l, 0, both.end(l), all).second);
        EXPECT_EQ(by_group, by_leaf);
    }
    EXPECT_GT(in_tasks, 0u);
}

TEST(TimelineIndex, TimeInTasksIsThatOfAllEvents) {
    for (const bool suspends : {false, true}) {
        check_tasks_of_index(TaskTeam(tree_program(3, 4), 3, 1, suspends).run());
        check_tasks_of_index(TaskTeam(tree_program(6, 6), 3, 2, suspends).run());
    }
    // One that ends long after its begin, with others and waits inside.
    TaskProgram program;
    const std::size_t around = program.create(0);
    for (int i = 0; i < 6'000; ++i) {
        const std::size_t inner = program.create(around);
        program.tasks[inner].type = static_cast<std::uint32_t>(1 + i % 2);
        program.compute(inner, 100);
        if (i % 100 == 99) program.wait(around);
    }
    program.wait(0);
    check_tasks_of_index(TaskTeam(program, 2, 1).run());
}

/// The filter by its definition.
bool passes(const TwoWays& both, std::size_t l, const CallFilter& filter, const StateCall* call) {
    const Profile& profile = both.whole;
    const auto is_in = [](const CallFilter::Ranges& ranges, std::uint32_t number) {
        return ranges.empty() || (ranges[0].first <= number && number <= ranges[0].second);
    };
    if (!is_in(filter.threads, profile.locations[l].thread)) return false;
    if (call == nullptr) return filter.is_of_threads();
    if (filter.only == EventFilter::Kind::Regions || (filter.only == EventFilter::Kind::Calls && call->is_run()) ||
        (filter.only == EventFilter::Kind::Tasks && !call->is_run()))
        return false;
    const std::uint64_t ns = call->end_ns - call->begin_ns;
    if (ns < filter.least_ns || ns > filter.most_ns) return false;
    const CallPath& path = profile.paths[call->path];
    const std::string name = call->is_run() ? task_type_name(profile, call->path, call->path).function : profile.functions[path.target].name;
    return name.find(filter.with) != std::string::npos;
}

void check_filters(const TwoWays& both, const std::vector<CallFilter>& filters) {
    const RunTypes types(both.left, both.rows);
    Random random{21};
    for (const CallFilter& filter : filters) {
        std::uint64_t passed = 0;
        const PassingCalls passing(both.left, both.rows, types, filter);
        for (int i = 0; i < 6; ++i) {
            SelectedTimes times;
            for (std::size_t l = 0; l < both.rows.size(); ++l) {
                std::uint64_t from = random() % both.end(l), to = random() % both.end(l);
                if (from > to) std::swap(from, to);
                if (i == 0) from = 0, to = both.end(l);
                times.spans.push_back({from, to});
            }
            std::vector<TimelineSums> sums(both.rows.size());
            PassingScan scan(both.rows, passing, times, nullptr);
            while (!scan.is_done())
                scan.go_on(std::chrono::milliseconds(0),
                           [&](std::uint32_t l, const PassingPiece& piece) { sums[l][piece.kind] += piece.end_ns - piece.begin_ns; });
            for (std::size_t l = 0; l < sums.size(); ++l) {
                const TimelineSums wanted = literal(both, l, times.spans[l].begin_ns, times.spans[l].end_ns, [&](const StateCall* call) {
                                                return passes(both, l, filter, call);
                                            }).first;
                EXPECT_EQ(sums[l], wanted) << "with " << filter.with << " of " << filter.least_ns << " to " << filter.most_ns;
                for (const std::uint64_t ns : wanted) passed += ns;
            }
        }
        EXPECT_EQ(passed != 0, filter.only != EventFilter::Kind::Regions && filter.least_ns < 1'000'000'000) << "the test needs some that pass";
    }
}

TEST(PassingScan, ItTellsThePiecesThatPass) {
    using Kind = EventFilter::Kind;
    for (const MadeTrace trace : {MadeTrace{60, 40, 1}, MadeTrace{60, 40, 4}, MadeTrace{2, 1200, 1, true}, MadeTrace{40, 3000, 1}}) {
        const TimelineFile file(trace);
        check_filters(TwoWays(file.path()), {{Kind::Calls},
                                             {Kind::All, "Send"},
                                             {Kind::All, "Allreduce", "", 100},
                                             {Kind::All, "", "", 380, 400},
                                             {Kind::All, "", "", 0, 20},
                                             {Kind::Regions},
                                             {Kind::All, "", "", 1'000'000'000}});
    }
    // A thread that is in no call at all.
    const TimelineFile idle({60, 0, 1});
    check_filters(TwoWays(idle.path()), {{Kind::All, "", "", 0, EventFilter::no_most, {{0, 0}}}});
    const TasksFile file(TaskTeam(tree_program(6, 6), 3, 2, true).run());
    check_filters(TwoWays(file.path()), {{Kind::Tasks}, {Kind::Calls}, {Kind::All, "", "", 0, EventFilter::no_most, {}, {{1, 2}}}, {Kind::Calls, "", "", 500}});
}

/// By summing up all events up to each time.
TEST(SeriesScan, TimeInACallIsThatOfTheOutermostOnes) {
    for (const MadeTrace trace : {MadeTrace{60, 40, 1}, MadeTrace{60, 40, 4}, MadeTrace{2, 1200, 1, true}, MadeTrace{40, 3000, 1}}) {
        const TimelineFile file(trace);
        const TwoWays both(file.path());
        Random random{4};
        for (const char* name : {"MPI_Send", "MPI_Allreduce", "MPI_*", "collective", "GOMP_barrier", "nothing"})
            for (const auto of : {SeriesQuestion::Of::Time, SeriesQuestion::Of::Calls})
                for (const bool is_total : {false, true}) {
                    SeriesQuestion question{of, name};
                    question.is_total = is_total;
                    const std::uint64_t first = random() % both.end(0), every = 1 + random() % (both.end(0) / 20);
                    question.edges.emplace_back();
                    for (std::uint64_t i = 0; i < 12; ++i) question.edges[0].push_back(static_cast<double>(first + i * every));
                    SeriesScan scan(both.left, both.rows, question);
                    while (!scan.is_done()) scan.go_on(std::chrono::milliseconds(0));
                    const std::vector<double> values = scan.values(0);
                    std::vector<StateCall> calls;
                    for (const StateCall& call : both.calls(0)) {
                        const std::string& own = both.whole.functions[both.whole.paths[call.path].target].name;
                        const bool is_wanted = std::string_view(name) == "MPI_*"        ? own.starts_with("MPI_")
                                               : std::string_view(name) == "collective" ? call.state == TimelineState::Collective
                                                                                        : own == name;
                        if (is_wanted && (calls.empty() || calls.back().end_ns <= call.begin_ns || calls.back().end_ns < call.end_ns)) calls.push_back(call);
                    }
                    std::vector<double> wanted(values.size());
                    const auto spans = both.spans(0);
                    for (std::size_t i = 0; i < wanted.size(); ++i)
                        for (const StateCall& call : calls) {
                            const double length = static_cast<double>(call.end_ns - call.begin_ns);
                            const std::uint64_t from = is_total ? 0 : first, to = first + i * every;
                            if (length == 0 && of == SeriesQuestion::Of::Calls && call.begin_ns >= from && call.begin_ns < to) wanted[i] += 1;
                            for (const KnownSpan& span : spans) {
                                const std::uint64_t a = std::max({from, call.begin_ns, span.begin_ns}), b = std::min({to, call.end_ns, span.end_ns});
                                if (a < b) wanted[i] += of == SeriesQuestion::Of::Calls ? static_cast<double>(b - a) / length : static_cast<double>(b - a);
                            }
                        }
                    for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(values[i], wanted[i], 1e-9 * (1 + wanted[i])) << name << " at " << i;
                }
    }
}

TEST(SeriesScan, CallsThatTakeNoTimeCountAtTheBordersOfGroupsToo) {
    // A group is 25,600 records, of which the head of the part is one. A call of node 3 is the last of the first group, one the first of the third, and one
    // is the last of all.
    std::vector<MadeCall> calls;
    Random random{17};
    std::uint64_t ns = 1000;
    const std::set<std::size_t> none = {25'598, 51'199, 70'000};
    for (std::size_t i = 0; i <= 70'000; ++i) {
        if (none.contains(i)) {
            calls.push_back({3, ns, ns});
            ++ns;
        } else {
            const std::uint64_t begin = ns;
            ns += 1 + random() % 10'000;
            calls.push_back({2, begin, ns});
        }
    }
    const TimelineFile file(calls);
    const TwoWays both(file.path());
    const std::vector<LeafGroup>& groups = both.rows[0]->index().groups;
    ASSERT_EQ(groups.size(), 3u);
    ASSERT_EQ(groups[1].time, calls[25'598].begin_ns);
    for (const std::uint64_t behind : {0, 5}) { // up to the last call, and behind it
        SeriesQuestion question{SeriesQuestion::Of::Calls, "MPI_Allreduce"};
        question.edges = {{0, static_cast<double>(groups[1].time), static_cast<double>(groups[2].time), static_cast<double>(calls.back().begin_ns + behind)}};
        SeriesScan scan(both.left, both.rows, question);
        while (!scan.is_done()) scan.go_on(std::chrono::milliseconds(0));
        EXPECT_EQ(scan.values(0), (std::vector<double>{0, 0, 1, behind == 0 ? 2.0 : 3.0}));
    }
}

} // namespace

} // namespace libprofile::test
