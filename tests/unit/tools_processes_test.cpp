// Processes of a run compared with each other: jobs of which it is known who does what.
#include "tests/unit/tools_called_job.hpp"
#include "tools/processes/compared_processes.hpp"
#include "tools/processes/process_document.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <gtest/gtest.h>
#include <map>
#include <numeric>
#include <random>
#include <set>

namespace libprofile::tools {
namespace {

using test::CalledJob;
using Rows = std::vector<std::uint32_t>;

std::set<Rows> groups_at(const ProcessGroups& groups, StructureLevel level) {
    std::set<Rows> sets;
    for (const ProcessGroup& group : groups.levels[static_cast<std::size_t>(level)]) sets.insert(group.rows);
    return sets;
}

ProcessGroups groups_of_job(const CalledJob& job) { return group_processes(job.profile, EventPaths(job.profile), job.locations()); }

TEST(ProcessGroups, OfMasterAndWorkersAreTwo) {
    CalledJob job;
    const std::uint32_t hand_out = job.call(job.frame(job.main, "master"), "MPI_Send"), take = job.call(job.frame(job.main, "worker"), "MPI_Recv");
    job.rank({{hand_out, 63}});
    Rows workers;
    for (std::uint32_t r = 1; r < 64; ++r) {
        job.rank({{take, 1 + r % 3}});
        workers.push_back(r);
    }
    const ProcessGroups groups = groups_of_job(job);
    for (const StructureLevel level : {StructureLevel::Pairs, StructureLevel::Paths}) EXPECT_EQ(groups_at(groups, level), (std::set<Rows>{workers, {0}}));
    EXPECT_EQ(groups.levels[2].size(), 4u) << "three kinds of workers by visits";
    const auto parting = where_they_part(job.profile, EventPaths(job.profile), *job.locations()[0], *job.locations()[1]);
    ASSERT_TRUE(parting);
    EXPECT_EQ(parting->level, StructureLevel::Pairs);
}

TEST(ProcessGroups, OfAHaloExchangeAreCornersEdgesAndTheInterior) {
    CalledJob job;
    const std::uint32_t exchange = job.frame(job.main, "exchange"), send = job.call(exchange, "MPI_Isend"), wait = job.call(exchange, "MPI_Waitall");
    constexpr int side = 8;
    std::map<int, Rows> with; // neighbours
    for (int y = 0; y < side; ++y)
        for (int x = 0; x < side; ++x) {
            const int neighbours = (x > 0) + (x < side - 1) + (y > 0) + (y < side - 1);
            with[neighbours].push_back(static_cast<std::uint32_t>(y * side + x));
            job.rank({}, {{{send, static_cast<std::uint64_t>(neighbours)}, {wait, 1}}}, Rows(100, 0));
        }
    const ProcessGroups groups = groups_of_job(job);
    EXPECT_EQ(groups.levels[1].size(), 1u);
    EXPECT_EQ(groups_at(groups, StructureLevel::Visits), (std::set<Rows>{with[2], with[3], with[4]}));
    const auto parting = where_they_part(job.profile, EventPaths(job.profile), *job.locations()[0], *job.locations()[9]);
    ASSERT_TRUE(parting);
    EXPECT_EQ(parting->level, StructureLevel::Visits);
    EXPECT_EQ(parting->event, send);
    EXPECT_EQ(parting->here, 200u);
    EXPECT_EQ(parting->there, 400u);
}

TEST(ProcessGroups, OfMultigridAreThoseThatStopAtTheSameLevel) {
    CalledJob job;
    std::vector<std::uint32_t> sends;
    std::uint32_t at = job.frame(job.main, "cycle");
    for (int level = 0; level < 5; ++level) {
        sends.push_back(job.call(at, "MPI_Send"));
        at = job.frame(at, "cycle"); // recursive: the same pairs on each level but the last
    }
    std::map<int, Rows> stop_at;
    for (std::uint32_t r = 0; r < 64; ++r) {
        int levels = 1;
        while (levels < 5 && r % (1u << levels) == 0) ++levels;
        CalledJob::Calls calls;
        for (int level = 0; level < levels; ++level) calls.push_back({sends[static_cast<std::size_t>(level)], 10});
        job.rank(calls);
        stop_at[levels].push_back(r);
    }
    const ProcessGroups groups = groups_of_job(job);
    std::set<Rows> known;
    for (const auto& [levels, rows] : stop_at) known.insert(rows);
    EXPECT_EQ(groups_at(groups, StructureLevel::Paths), known);
    EXPECT_EQ(groups.levels[0].size(), 2u) << "pairs do not tell how deep a recursion goes";
}

TEST(ProcessGroups, OfEachLevelAreWithinThoseOfTheLevelBefore) {
    std::mt19937 random(3);
    CalledJob job;
    std::vector<std::uint32_t> calls;
    for (int c = 0; c < 6; ++c) calls.push_back(job.call(job.frame(job.main, "f" + std::to_string(c % 2)), c % 2 == 0 ? "MPI_Send" : "MPI_Recv"));
    for (int r = 0; r < 300; ++r) {
        CalledJob::Calls made;
        for (const std::uint32_t call : calls)
            if (random() % 3 == 0) made.push_back({call, 1 + random() % 2});
        Rows kinds(4);
        for (std::uint32_t& kind : kinds) kind = random() % 2;
        job.rank(made, {{{calls[0], 1}}, {{calls[1], 1}}}, kinds);
    }
    const ProcessGroups groups = groups_of_job(job);
    for (std::size_t level = 0; level < structure_levels; ++level) {
        Rows all;
        for (const ProcessGroup& group : groups.levels[level]) {
            all.insert(all.end(), group.rows.begin(), group.rows.end());
            if (level == 0) continue;
            const Rows& around = groups.levels[level - 1][group.within].rows;
            EXPECT_TRUE(std::includes(around.begin(), around.end(), group.rows.begin(), group.rows.end()));
        }
        std::sort(all.begin(), all.end());
        Rows each(300);
        std::iota(each.begin(), each.end(), 0u);
        EXPECT_EQ(all, each) << "each row is in one group";
        EXPECT_TRUE(level == 0 || groups.levels[level].size() > groups.levels[level - 1].size());
    }
}

TEST(ProcessGroups, TellInWhichIterationRanksPartFirst) {
    CalledJob job;
    const std::uint32_t send = job.call(job.main, "MPI_Send"), barrier = job.call(job.main, "MPI_Barrier");
    Rows kinds(50, 0), others(50, 0);
    kinds[20] = others[30] = 1;
    for (int r = 0; r < 3; ++r) job.rank({}, {{{send, 1}}, {{send, 1}, {barrier, 1}}}, r == 2 ? others : kinds);
    const ProcessGroups groups = groups_of_job(job);
    EXPECT_EQ(groups.levels[2].size(), 1u);
    EXPECT_EQ(groups_at(groups, StructureLevel::Iterations), (std::set<Rows>{{0, 1}, {2}}));
    const auto parting = where_they_part(job.profile, EventPaths(job.profile), *job.locations()[2], *job.locations()[0]);
    ASSERT_TRUE(parting);
    EXPECT_EQ(parting->level, StructureLevel::Iterations);
    EXPECT_EQ(parting->iteration, 20u);
    EXPECT_EQ(parting->event, barrier);
    EXPECT_EQ(parting->here, 0u);
}

TEST(ProcessGroups, AreNotToldApartByTests) {
    CalledJob job;
    const std::uint32_t test = job.call(job.main, "MPI_Test"), send = job.call(job.main, "MPI_Send");
    for (std::uint64_t r = 0; r < 8; ++r) job.rank({{send, 5}, {test, 1 + r}});
    job.rank({{send, 5}});
    EXPECT_EQ(groups_of_job(job).levels[3].size(), 1u);
}

TEST(RankTimelines, TellSharesOfCallsWithoutPartner) {
    CalledJob job;
    const std::uint32_t send = job.call(job.main, "MPI_Send"), recv = job.call(job.main, "MPI_Recv");
    job.rank({}, {{{send, 4}}, {{send, 4}, {recv, 4}}}, {0, 0, 0, 1});
    job.rank({}, {{{send, 4}}, {{send, 4}, {recv, 4}}}, {0, 1, 0, 1});
    const EventPaths events(job.profile);
    const RankStates states = rank_states(job.profile, job.locations(), 1);
    const IterationStructures structures = iteration_structures(events, job.locations(), 1);
    const RankTimelines t = rank_timelines(events, structures, states, 0);
    EXPECT_EQ(t.rows[0].different, 0u);
    EXPECT_EQ(t.rows[1].different, 1u);
    EXPECT_EQ(t.rows[1].first_other, 1u);
    EXPECT_NEAR(t.rows[1].dissimilarity, 4.0 / 12 / 4, 1e-6);
    EXPECT_NEAR(t.most_dissimilarity[1], 4.0 / 12, 1e-6);
    EXPECT_NEAR(t.mean_dissimilarity[1], 4.0 / 24, 1e-6);
    EXPECT_EQ(t.most_dissimilar[1], 1u);
    EXPECT_NEAR(t.rows[1].unmatched_ns, 4.0 * CalledJob::call_ns, 1) << "four receives of 1 us";
    const PairTimeline pair = pair_timeline(events, structures, states, 1, 0);
    ASSERT_EQ(pair.here.size(), 4u);
    EXPECT_NEAR(pair.unmatched_ns[1], 4.0 * CalledJob::call_ns, 1);
    EXPECT_EQ(pair.dissimilarity[0], 0);
}

TEST(RankTimelines, AlignRanksThatMakeOtherNumbersOfIterations) {
    CalledJob job;
    const std::uint32_t send = job.call(job.main, "MPI_Send"), barrier = job.call(job.main, "MPI_Barrier");
    const std::vector<CalledJob::Calls> kinds = {{{send, 1}}, {{send, 2}}, {{barrier, 1}}};
    job.rank({}, kinds, {0, 1, 2, 0, 1, 2, 0, 1, 2});
    job.rank({}, kinds, {0, 1, 2, 1, 2, 0, 1, 2});
    const EventPaths events(job.profile);
    const RankStates states = rank_states(job.profile, job.locations(), 1);
    const RankTimelines t = rank_timelines(events, iteration_structures(events, job.locations(), 1), states, 0);
    EXPECT_EQ(t.rows[1].different, 0u);
    EXPECT_EQ(t.rows[1].alone_here, 0u);
    EXPECT_EQ(t.rows[1].alone_there, 1u);
}

/// States as they are given, by rank.
RankStates states_as(const CalledJob& job, const std::vector<std::vector<std::uint16_t>>& rows) {
    RankStates states;
    states.locations = job.locations();
    states.phase = 1;
    states.iterations = rows[0].size();
    states.names = {"computing", "MPI", "other"};
    states.computing_state = 0;
    for (const auto& row : rows) states.states.insert(states.states.end(), row.begin(), row.end());
    states.computing.assign(states.states.size(), 0);
    return states;
}

TEST(FoldedStrip, HasTheStateOfMostTheOutliersOrWhoComputes) {
    CalledJob job;
    for (int r = 0; r < 3; ++r) job.rank({}, {{}}, Rows(5, 0));
    const RankStates states = states_as(job, {{1, 1, 1, 0, no_state}, {1, 1, 2, 0, no_state}, {1, 0, 2, 0, no_state}});
    const std::vector<std::uint32_t> all = {0, 1, 2};
    EXPECT_EQ(folded_strip(states, all, FoldBy::Dominating), (std::vector<FoldedSpan>{{0, 2, 1, 3}, {2, 1, 2, 2}, {3, 1, 0, 3}, {4, 1, no_state, 0}}));
    EXPECT_EQ(folded_strip(states, all, FoldBy::Outliers), (std::vector<FoldedSpan>{{0, 1, no_state, 0}, {1, 1, 0, 1}, {2, 1, 1, 1}, {3, 2, no_state, 0}}));
    EXPECT_EQ(folded_strip(states, all, FoldBy::Use), (std::vector<FoldedSpan>{{0, 1, 1, 3}, {1, 1, 0, 1}, {2, 1, 2, 2}, {3, 1, 0, 3}, {4, 1, no_state, 0}}));
}

/// Ranks that compute 1 ms with 1 % of noise, and twice as long at the end as at the begin.
RankStates drifting(const CalledJob& job, std::size_t iterations, unsigned seed) {
    RankStates states = states_as(job, std::vector<std::vector<std::uint16_t>>(job.profile.locations.size(), std::vector<std::uint16_t>(iterations, 0)));
    std::mt19937 random(seed);
    std::normal_distribution<float> noise(0, 1e4f);
    for (std::size_t c = 0; c < states.computing.size(); ++c)
        states.computing[c] = 1e6f * (1 + static_cast<float>(c % iterations) / static_cast<float>(iterations)) + noise(random);
    return states;
}

TEST(ImbalanceMap, FindsTheRankAndItsIterationsInADriftOfAll) {
    CalledJob job;
    constexpr std::size_t iterations = 400;
    for (int r = 0; r < 16; ++r) job.rank({}, {{}}, Rows(iterations, 0));
    for (unsigned seed = 1; seed <= 20; ++seed) {
        RankStates states = drifting(job, iterations, seed);
        for (std::size_t i = 100; i < 200; ++i) states.computing[5 * iterations + i] *= 1.2f;
        const std::vector<HotCell> cells = hot_cells(imbalance_map(states), 10);
        ASSERT_EQ(cells.size(), 1u);
        EXPECT_EQ(cells[0].row, 5u);
        EXPECT_EQ(cells[0].first, 100u);
        EXPECT_EQ(cells[0].last, 199u);
        EXPECT_NEAR(cells[0].excess / cells[0].median, 0.2, 0.01);
    }
}

TEST(ImbalanceMap, OfEqualRanksHasNoHotCells) {
    CalledJob job;
    for (int r = 0; r < 16; ++r) job.rank({}, {{}}, Rows(400, 0));
    for (unsigned seed = 1; seed <= 20; ++seed) EXPECT_TRUE(hot_cells(imbalance_map(drifting(job, 400, seed)), 10).empty());
}

TEST(ImbalanceMap, HasTheHeaviestPartsThatThereAre) {
    std::mt19937 random(5);
    for (int round = 0; round < 300; ++round) {
        ImbalanceMap map;
        map.locations = {nullptr};
        map.iterations = 1 + random() % 30;
        map.median.assign(map.iterations, 100.0f);
        for (std::size_t i = 0; i < map.iterations; ++i) map.deviation.push_back(static_cast<float>(random() % 41) - 20.0f);
        double most = 0; // of any part
        for (std::size_t i = 0; i < map.iterations; ++i) {
            double sum = 0;
            for (std::size_t j = i; j < map.iterations; ++j) most = std::max(most, sum += map.deviation[j] - 3.0);
        }
        double found = 0;
        for (const HotCell& cell : hot_cells(map, 100)) found = std::max(found, cell.excess - 3.0 * static_cast<double>(cell.last - cell.first + 1));
        EXPECT_NEAR(found, most, 1e-3);
    }
}

TEST(ImbalanceMap, WithoutIterationsIsOfTheRegionThatTakesMost) {
    CalledJob job;
    job.profile.region_names = {{7, "solve"}, {8, "main part"}};
    job.profile.paths.push_back({job.main, NodeKind::Region, 0, 8});
    const auto whole = static_cast<std::uint32_t>(job.profile.paths.size() - 1);
    job.profile.paths.push_back({whole, NodeKind::Region, 0, 7});
    const auto solve = static_cast<std::uint32_t>(job.profile.paths.size() - 1);
    for (std::uint64_t r = 0; r < 5; ++r) {
        job.rank({{whole, 1}, {solve, 10}});
        std::vector<Cell>& cells = job.profile.locations.back().phases[0].rest;
        const std::uint64_t each = r == 3 ? 150 : 100;
        cells.push_back({whole, static_cast<std::uint32_t>(Metric::RegionTime), 5000});
        cells.push_back({solve, static_cast<std::uint32_t>(Metric::RegionTime), 3000});
        cells.push_back({solve, static_cast<std::uint32_t>(Metric::RegionOwnTime), 10 * each});
    }
    const ImbalanceMap map = imbalance_of_entries(job.profile, job.locations());
    EXPECT_EQ(map.function, "solve") << "the main part is entered once";
    EXPECT_FLOAT_EQ(map.median[0], 100);
    EXPECT_FLOAT_EQ(map.at(3, 0), 50);
    EXPECT_FLOAT_EQ(map.at(0, 0), 0);
}

TEST(ImbalanceMap, WithoutIterationsAndRegionsIsOfTheWholeRun) {
    CalledJob job;
    for (std::uint64_t r = 0; r < 3; ++r) {
        job.rank({});
        job.profile.locations.back().phases[0].rest.push_back({job.main, 0, 1000 + 100 * r});
    }
    const ImbalanceMap map = imbalance_of_entries(job.profile, job.locations());
    EXPECT_EQ(map.function, "");
    EXPECT_FLOAT_EQ(map.median[0], 1100);
    EXPECT_FLOAT_EQ(map.at(2, 0), 100);
}

TEST(ComparedProcesses, SayWhatWasNotKept) {
    CalledJob job;
    const std::uint32_t send = job.call(job.main, "MPI_Send");
    for (int r = 0; r < 2; ++r) {
        job.rank({}, {{{send, 1}}}, Rows(10, 0));
        job.profile.locations.back().phases[1].equivalence = Equivalence::None; // iterations of a cluster may differ, and there is no series
    }
    ProcessChoice choice;
    choice.phase = 1;
    const ComparedProcesses processes = compare_processes(job.profile, job.locations(), choice);
    EXPECT_TRUE(std::isnan(processes.timelines.rows[1].dissimilarity));
    const std::string text = process_text(job.profile, processes, {{}, FoldBy::Dominating, false, false}, {.width = 200, .unicode = false, .colour = false});
    EXPECT_EQ(text.find("makes the same calls"), std::string::npos) << text;
    EXPECT_NE(text.find("are not known to"), std::string::npos) << text;
    EXPECT_NE(text.find("as far as the calls of iterations were kept"), std::string::npos) << text;
    EXPECT_NE(text.find("stand for them"), std::string::npos) << "values of clusters instead of those of iterations\n" << text;
}

TEST(ComparedProcesses, OfDamagedProfilesAreNotKnown) {
    CalledJob job;
    const std::uint32_t send = job.call(job.main, "MPI_Send");
    for (int r = 0; r < 2; ++r) job.rank({}, {{{send, 1}}}, Rows(10, 0));
    job.profile.locations[1].phases[1].clusters[0].size = 0;
    ProcessChoice choice;
    choice.phase = 1;
    EXPECT_FALSE(compare_processes(job.profile, job.locations(), choice).groups.are_iterations_known);
}

TEST(RankTimelines, CountTheCallsOfIterationsInside) {
    CalledJob job;
    const std::uint32_t send = job.call(job.main, "MPI_Send");
    job.profile.phases.push_back({"inner", PhaseKind::Iterations});
    for (std::uint64_t r = 0; r < 2; ++r) {
        job.rank({}, {{}}, Rows(4, 0));
        PhaseData inner;
        inner.phase = 2;
        inner.instances = 8;
        inner.equivalence = Equivalence::Strong;
        inner.cluster_of_iteration = r == 0 ? Rows{0, 0, 0, 0, 0, 0, 0, 0} : Rows{0, 0, 1, 1, 0, 0, 0, 0};
        inner.iteration_ns.assign(8, 1000);
        inner.clusters.resize(2);
        for (const std::uint32_t cluster : inner.cluster_of_iteration) ++inner.clusters[cluster].size;
        for (std::uint64_t c = 0; c < 2; ++c) inner.clusters[c].cells = {{send, static_cast<std::uint32_t>(Metric::Visits), (c + 1) * inner.clusters[c].size}};
        if (inner.clusters[1].size == 0) inner.clusters.pop_back();
        Location& location = job.profile.locations.back();
        location.phases[1].inside.emplace();
        location.phases[1].inside->known = 4;
        for (std::uint64_t i = 0; i < 4; ++i) location.phases[1].inside->entries.push_back({i, 2, 2, 2 * i, 0});
        location.phases.push_back(inner);
    }
    const EventPaths events(job.profile);
    const RankStates states = rank_states(job.profile, job.locations(), 1);
    const RankTimelines t = rank_timelines(events, iteration_structures(events, job.locations(), 1), states, 0);
    EXPECT_EQ(t.rows[1].different, 1u);
    EXPECT_EQ(t.rows[1].first_other, 1u);
    EXPECT_NEAR(t.rows[1].of_different, 2.0 / (2 + 4 + 2 * 2), 1e-6) << "two sends more, two iterations inside on both";
}

TEST(ComparedProcesses, AreToldAlikeInEveryForm) {
    CalledJob job;
    const std::uint32_t send = job.call(job.frame(job.main, "exchange"), "MPI_Send"), barrier = job.call(job.main, "MPI_Barrier");
    for (std::uint64_t r = 0; r < 8; ++r) job.rank({{barrier, 1}}, {{{send, r == 0 || r == 7 ? 1 : 2}}}, Rows(100, 0));
    ProcessChoice choice;
    choice.phase = 1;
    const ComparedProcesses processes = compare_processes(job.profile, job.locations(), choice);
    const ProcessForm form{{}, FoldBy::Dominating, true, false};
    const std::string text = process_text(job.profile, processes, form, {.width = 120, .unicode = false, .colour = false});
    EXPECT_NE(text.find("1 group by function pairs, 1 by call paths, 2 by visits, 2 by sequence of iterations"), std::string::npos) << text;
    EXPECT_NE(text.find("group B: ranks 0, 7 (2); parts from A by visits: MPI_Send (exchange.c:1 in exchange): 100 times, group A 200 times"),
              std::string::npos)
        << text;
    const ReportDocument document = process_document(job.profile, processes, form);
    for (const std::string& form_text : {document_json(document), document_markdown(document)})
        EXPECT_NE(form_text.find("(exchange.c:1 in exchange): 100 times, group A 200 times"), std::string::npos) << form_text;
}

/// The most frequent sequence of a rank is these events, one after the other.
void set_order(Location& location, const std::vector<std::uint32_t>& events) {
    EventSequence sequence;
    sequence.iterations = location.phases[1].cluster_of_iteration.size();
    sequence.has_timeline = true;
    for (std::size_t e = 0; e < events.size(); ++e) {
        SequenceEvent event;
        event.path = events[e];
        event.begin_sum = sequence.iterations * 100 * e;
        event.length_sum = sequence.iterations * 50;
        sequence.events.push_back(event);
    }
    std::reverse(sequence.events.begin(), sequence.events.end()); // they are sorted by their begins
    location.phases[1].sequences.emplace();
    location.phases[1].sequences->sequences = {sequence};
}

TEST(ComparedProcesses, TellWhatATypicalIterationHasElse) {
    CalledJob job;
    const std::uint32_t exchange = job.frame(job.main, "exchange"), send = job.call(exchange, "MPI_Send"), recv = job.call(exchange, "MPI_Recv"),
                        reduce = job.call(job.main, "MPI_Allreduce"), barrier = job.call(job.main, "MPI_Barrier");
    for (std::uint64_t r = 0; r < 4; ++r) {
        CalledJob::Calls calls = {{send, 1}, {recv, 1}, {reduce, 1}};
        if (r == 3) calls.push_back({barrier, 1});
        job.rank({}, {calls}, Rows(10, 0));
        set_order(job.profile.locations.back(), r == 3 ? Rows{send, recv, barrier, reduce} : Rows{send, recv, reduce});
    }
    ProcessChoice choice;
    choice.phase = 1;
    const ComparedProcesses processes = compare_processes(job.profile, job.locations(), choice);
    const ProcessForm form{{}, FoldBy::Dominating, true, false};
    const std::string text = process_text(job.profile, processes, form, {.width = 200, .unicode = false, .colour = false});
    EXPECT_NE(text.find("in its most frequent iteration (10 of 10): MPI_Barrier in main added"), std::string::npos) << text;
    ASSERT_TRUE(processes.typical);
    const MergedTree tree = processes.typical->merged();
    std::vector<std::string> names;
    for (std::size_t n = 1; n < tree.nodes.size(); ++n)
        names.push_back(processes.typical->name(tree.nodes[n].path) + (tree.nodes[n].kind == MergedClass::NotAll ? " (not all)" : ""));
    EXPECT_EQ(names, (std::vector<std::string>{"main", "exchange", "MPI_Send", "MPI_Recv", "MPI_Barrier (not all)", "MPI_Allreduce"}));
    EXPECT_EQ(tree.sets[tree.nodes[5].who], (Rows{3}));
}

TEST(ComparedProcesses, NameAnInlinedFunctionAndNotTheCallInIt) {
    CalledJob job;
    const std::uint32_t sum = job.frame(job.main, "sum"), reduce = job.call(sum, "MPI_Allreduce"), inlined = job.call(job.main, "MPI_Allreduce"),
                        barrier = job.call(job.main, "MPI_Barrier");
    for (std::uint64_t r = 0; r < 3; ++r) {
        const std::uint32_t called = r == 2 ? inlined : reduce;
        job.rank({}, {{{called, 1}, {barrier, 1}}}, Rows(10, 0));
        set_order(job.profile.locations.back(), {called, barrier});
    }
    ProcessChoice choice;
    choice.phase = 1;
    const ComparedProcesses processes = compare_processes(job.profile, job.locations(), choice);
    const std::string text = process_text(job.profile, processes, {{}, FoldBy::Dominating, true, false}, {.width = 240, .unicode = false, .colour = false});
    EXPECT_NE(text.find("in its most frequent iteration (10 of 10): sum in main (1 call) inlined"), std::string::npos) << text;
}

} // namespace
} // namespace libprofile::tools
