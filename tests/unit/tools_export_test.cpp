// Exports: values of a part of the iterations, the table that all formats write, hostile text, numbers as users write them.
#include "tests/unit/tools_read_one.hpp"
#include "tools/analysis/fit_margins.hpp"
#include "tools/analysis/selection.hpp"
#include "tools/export/formats.hpp"
#include "tools/text/number_list.hpp"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <unistd.h>

using namespace libprofile;
using namespace libprofile::test;
using namespace libprofile::tools;

namespace {

Profile sample(std::uint32_t ranks, bool series) { return read_one(sample_file(ranks, series)); }

const PhaseData& steps_of(const Profile& p, std::size_t location) {
    for (const PhaseData& data : p.locations[location].phases)
        if (p.phases[data.phase].name == "timestep") return data;
    throw std::logic_error("the sample has a phase timestep");
}

std::uint64_t sum_of(const std::vector<SelectedCell>& cells, std::uint32_t metric) {
    std::uint64_t sum = 0;
    for (const SelectedCell& cell : cells) sum += cell.metric == metric ? cell.value : 0;
    return sum;
}

constexpr auto visits = static_cast<std::uint32_t>(Metric::Visits);

/// Keeps files in memory.
class Memory final : public Sink {
  public:
    void add(const std::string& name, std::string_view bytes) override { files[name] += bytes; }
    std::map<std::string, std::string> files;
};

} // namespace

TEST(Selection, AllIterationsAreThePhaseExactly) {
    const Profile p = sample(2, true);
    for (const std::size_t l : {0u, 1u}) {
        const PhaseData& data = steps_of(p, l);
        const IterationRange all;
        const auto cells = selected_cells(p, data, std::span(&all, 1)).front();
        EXPECT_EQ(sum_of(cells, 0), data.wall_ns);
        for (const SelectedCell& cell : cells) EXPECT_FALSE(cell.estimated);
    }
}

TEST(Selection, PartsAddUpToWhatIterationsHave) {
    const Profile p = sample(2, true);
    for (const std::size_t l : {0u, 1u}) {
        const PhaseData& data = steps_of(p, l);
        for (const auto& [first, last] : {std::pair(0, 2), std::pair(2, 2), std::pair(1, 4), std::pair(3, 5)}) {
            std::uint64_t time = 0, calls = 0;
            SeriesReader reader(*data.series);
            for (int i = 0; reader.next(); ++i) {
                if (i < first || i > last) continue;
                time += reader.condensed()[static_cast<std::size_t>(CatalogueId::Total)];
                calls += reader.condensed()[static_cast<std::size_t>(CatalogueId::Visits)];
            }
            const IterationRange range{static_cast<std::uint64_t>(first), static_cast<std::uint64_t>(last)};
            const auto cells = selected_cells(p, data, std::span(&range, 1)).front();
            EXPECT_EQ(sum_of(cells, 0), time) << first << " " << last;
            EXPECT_EQ(sum_of(cells, visits), calls) << first << " " << last;
        }
    }
}

TEST(Selection, RangesTogetherAreTheSameAsAlone) {
    const Profile p = sample(1, true);
    const PhaseData& data = steps_of(p, 0);
    const IterationRange ranges[] = {{0, 0}, {2, 3}, {5, 90}};
    const auto together = selected_cells(p, data, ranges);
    for (std::size_t r = 0; r < std::size(ranges); ++r) {
        const auto alone = selected_cells(p, data, std::span(&ranges[r], 1)).front();
        ASSERT_EQ(alone.size(), together[r].size());
        for (std::size_t i = 0; i < alone.size(); ++i)
            EXPECT_TRUE(alone[i].path == together[r][i].path && alone[i].metric == together[r][i].metric && alone[i].value == together[r][i].value);
    }
}

TEST(Selection, PartsOfASelectionAddUpToIt) {
    for (const bool series : {true, false}) {
        const Profile p = sample(2, series);
        const PhaseData& data = steps_of(p, 1);
        for (const IterationRange whole : {IterationRange{}, IterationRange{1, 4}}) {
            std::vector<IterationRange> parts;
            for (std::uint64_t i = whole.first; i <= std::min<std::uint64_t>(whole.last, 5); i += 2)
                parts.push_back({i, std::min<std::uint64_t>(i + 1, whole.last)});
            std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> sums;
            const auto divided = divided_cells(p, data, whole, parts), alone = selected_cells(p, data, parts);
            for (std::size_t r = 0; r < parts.size(); ++r) {
                for (const SelectedCell& cell : divided[r]) sums[{cell.path, cell.metric}] += cell.value;
                if (series && whole.first != 0) { // the sample's values of iterations are other ones than those of its clusters
                    EXPECT_EQ(sum_of(divided[r], 0), sum_of(alone[r], 0)) << r;
                }
            }
            const auto together = selected_cells(p, data, std::span(&whole, 1)).front();
            for (const SelectedCell& cell : together) EXPECT_EQ((sums[{cell.path, cell.metric}]), cell.value) << cell.path << " " << cell.metric;
        }
    }
}

TEST(FitMargins, BothMarginsAreHeldWhateverTheCells) {
    std::mt19937_64 random(1);
    for (int round = 0; round < 300; ++round) {
        const std::uint32_t rows = 1 + static_cast<std::uint32_t>(random() % 9), columns = 1 + static_cast<std::uint32_t>(random() % 9);
        Margins margins{std::vector<std::uint64_t>(rows), std::vector<char>(rows, 1), std::vector<std::uint64_t>(columns)};
        std::vector<TableCell> about;
        for (std::uint32_t r = 0; r < rows; ++r)
            for (std::uint32_t c = 0; c < columns; ++c) {
                const std::uint64_t value = random() % 3 == 0 ? 0 : random() % (std::uint64_t{1} << random() % 50);
                margins.rows[r] += value;
                margins.columns[c] += value;
                const bool fixed = random() % 4 == 0;
                if (fixed || random() % 3 != 0) about.push_back({r, c, fixed ? value : value / (1 + random() % 5) + random() % 2, fixed});
            }
        for (const bool loose : {false, true}) {
            if (loose) { // the sum of a row is not known
                margins.rows[0] += 100;
                margins.row_is_exact[0] = 0;
            }
            Margins found{std::vector<std::uint64_t>(rows), {}, std::vector<std::uint64_t>(columns)};
            std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> cells;
            for (const TableCell& cell : fit_margins(about, margins)) {
                found.rows[cell.row] += cell.value;
                found.columns[cell.column] += cell.value;
                cells[{cell.row, cell.column}] += cell.value;
            }
            EXPECT_EQ(found.columns, margins.columns);
            if (loose) found.rows[0] += 100;
            EXPECT_EQ(found.rows, margins.rows);
            for (const TableCell& cell : about) EXPECT_TRUE(!cell.fixed || cells[std::pair(cell.row, cell.column)] >= cell.value);
        }
    }
}

TEST(FitMargins, WhatFitsStaysAndNothingOverflows) {
    for (const TableCell& cell : fit_margins({{0, 0, 3}, {0, 1, 4}, {1, 0, 5}}, {{7, 5}, {1, 1}, {8, 4}}))
        EXPECT_EQ(cell.value, cell.row == 1 ? 5u : cell.column == 0 ? 3u : 4u);
    constexpr std::uint64_t most = ~std::uint64_t{0};
    EXPECT_EQ(apportion({1, 0}, most), (std::vector<std::uint64_t>{most, 0}));
    EXPECT_EQ(apportion({0, 0, 0}, 5), (std::vector<std::uint64_t>{2, 2, 1}));
    EXPECT_EQ(apportion({1, 1, 2}, 3), (std::vector<std::uint64_t>{1, 1, 1}));
    EXPECT_TRUE(apportion({}, 5).empty());
    EXPECT_FALSE(fit_margins({{0, 0, most}, {1, 0, 7, true}}, {{most, 0}, {1, 0}, {most}}).empty());
}

TEST(Selection, WithoutValuesOfIterationsAClusterStandsForThem) {
    const Profile p = sample(1, false);
    const IterationRange range{0, 1}; // two of the four iterations of the first cluster
    const auto cells = selected_cells(p, steps_of(p, 0), std::span(&range, 1)).front();
    EXPECT_EQ(sum_of(cells, 0), (600 + 200 + 40) / 2u);
    EXPECT_EQ(sum_of(cells, visits), 2u);
    for (const SelectedCell& cell : cells) EXPECT_TRUE(cell.estimated);
}

TEST(Selection, ClustersAreGuessesAndIterationsHaveBounds) {
    const Profile with = sample(1, true), without = sample(1, false);
    EXPECT_TRUE(has_exact_sums(steps_of(with, 0)));
    EXPECT_FALSE(has_exact_sums(steps_of(without, 0)));
    const IterationRange range{0, 1};
    const auto guessed = selected_cells(without, steps_of(without, 0), std::span(&range, 1)).front();
    for (const SelectedCell& cell : guessed) EXPECT_TRUE(cell.guessed);
    const auto read = selected_cells(with, steps_of(with, 0), std::span(&range, 1)).front();
    for (const SelectedCell& cell : read) EXPECT_TRUE(cell.estimated || cell.bound == 0);
    for (const SelectedCell& cell : selected_cells(steps_of(with, 0))) EXPECT_EQ(cell.bound, 0u);
}

TEST(Selection, BoundsOfColumnsFollowFromTheFile) {
    Profile p = sample(1, true);
    PhaseData* data = nullptr;
    for (PhaseData& phase : p.locations[0].phases)
        if (p.phases[phase.phase].name == "timestep") data = &phase;
    ASSERT_NE(data, nullptr);
    ASSERT_FALSE(data->series->times.empty());
    const SeriesData::Column column = data->series->times[0];
    const auto bound_of = [&](IterationRange range) {
        const auto cells = selected_cells(p, *data, std::span(&range, 1)).front();
        for (const SelectedCell& cell : cells)
            if (cell.path == column.path && cell.metric == column.metric) return cell.bound;
        return std::uint64_t{0};
    };
    EXPECT_EQ(bound_of({1, 2}), 0u); // the only one of its group, whose sum is known
    p.paths.push_back(p.paths[column.path]);
    data->rest.push_back({static_cast<std::uint32_t>(p.paths.size() - 1), column.metric, 1});
    data->series->accuracy[0] = {};
    const std::uint64_t moved = bound_of({1, 2}); // by scaling to the exact sums
    data->series->accuracy[0].largest = 3;
    data->series->accuracy[0].sum = 1000;
    EXPECT_EQ(bound_of({1, 2}), moved + 6);
    data->series->accuracy[0].sum = 5; // all iterations together are not off by more
    EXPECT_EQ(bound_of({1, 2}), moved + 5);
}

TEST(Selection, BoundsAddUpToNone) {
    EXPECT_EQ(add_bounds(3, 4), 7u);
    EXPECT_EQ(add_bounds(no_bound, 4), no_bound);
    EXPECT_EQ(add_bounds(4, no_bound), no_bound);
    EXPECT_EQ(add_bounds(no_bound - 1, no_bound - 1), no_bound);
}

TEST(Series, ChunksCanBeLeftOutWithoutBeingRead) {
    const Profile p = sample(1, true);
    const SeriesData& data = *steps_of(p, 0).series;
    for (std::uint64_t from = 0; from <= data.iterations() + 1; ++from) {
        SeriesReader all(data), some(data);
        const std::uint64_t skipped = some.skip_before(from);
        EXPECT_LE(skipped, from);
        for (std::uint64_t i = 0; i < skipped; ++i) EXPECT_TRUE(all.next());
        while (all.next()) {
            ASSERT_TRUE(some.next());
            EXPECT_EQ(all.condensed(), some.condensed());
        }
        EXPECT_FALSE(some.next());
    }
}

TEST(Series, LongOnesAreReadAsTheyWereWritten) {
    constexpr std::uint64_t iterations = 700; // more than two chunks
    ProfileBuilder b(1);
    b.job(1);
    b.metrics();
    add_sample_rank(b, 0);
    std::vector<std::uint64_t> visits, times;
    for (std::uint64_t i = 0; i < iterations; ++i) {
        visits.push_back(1 + i % 3);
        times.push_back(1000 + i * i % 777);
    }
    BuiltPhase steps;
    steps.name = "long";
    steps.kind = PhaseKind::Iterations;
    steps.instances = iterations;
    steps.clusters = {{iterations, 0, {{3, Metric::Time, 1}}}};
    steps.cluster_of_iteration.assign(iterations, 0);
    steps.iteration_ns = times;
    b.phase(0, steps);
    b.series(0, "long", 3, visits, times);
    const Profile p = read_one(b.bytes());
    const PhaseData& data = p.locations[0].phases.back();
    ASSERT_TRUE(data.series);
    ASSERT_EQ(data.series->iterations(), iterations);
    SeriesReader reader(*data.series);
    for (std::uint64_t i = 0; i < iterations; ++i) {
        ASSERT_TRUE(reader.next());
        EXPECT_EQ(reader.condensed()[static_cast<std::size_t>(CatalogueId::Total)], times[i]) << i;
        EXPECT_EQ(reader.condensed()[static_cast<std::size_t>(CatalogueId::Visits)], visits[i]) << i;
    }
}

TEST(CallTable, HoldsTheProfile) {
    const Profile p = sample(3, true);
    TableChoice choice;
    choice.metrics = {"time", "visits", "bytes", "mpi"};
    for (const bool by_line : {false, true}) {
        choice.by_line = by_line;
        const CallTable table = make_call_table(p, choice);
        std::vector<std::uint64_t> expected(4), found(4);
        for (std::size_t l = 0; l < p.locations.size(); ++l) {
            const MetricValues values = totals(p, p.locations[l]);
            for (const auto& [m, row] :
                 {std::pair(0, CatalogueId::Total), std::pair(1, CatalogueId::Visits), std::pair(2, CatalogueId::Bytes), std::pair(3, CatalogueId::Mpi)}) {
                expected[static_cast<std::size_t>(m)] += values[static_cast<std::size_t>(row)];
                found[static_cast<std::size_t>(m)] += table.inclusive(l, static_cast<std::size_t>(m))[0];
            }
        }
        EXPECT_EQ(found, expected);
        EXPECT_FALSE(table.estimated);
    }
}

TEST(CallTable, IterationsBecomeNodesWithinTheLimit) {
    const Profile p = sample(2, true);
    TableChoice choice;
    for (const std::uint32_t most : {1u, 2u, 4u, 100u}) {
        choice.instances = most;
        const CallTable table = make_call_table(p, choice);
        std::uint32_t nodes = 0;
        for (const CallTable::Node& node : table.nodes) nodes += node.kind == TableNode::Iterations ? 1 : 0;
        EXPECT_LE(nodes, std::min(most, 6u));
        EXPECT_GE(nodes, 1u);
    }
}

TEST(CallTable, PhasesAreBelowTheFunctionThatTheyLieIn) {
    const Profile p = sample(2, true);
    TableChoice choice;
    choice.instances = 10;
    const CallTable table = make_call_table(p, choice);
    std::uint32_t phases = 0;
    for (const CallTable::Node& node : table.nodes) {
        if (node.kind == TableNode::Phase) { // main has more than the phase, solve is in nothing else
            ++phases;
            EXPECT_EQ(table.nodes[node.parent].parent, 0u);
            EXPECT_EQ(table.nodes[node.parent].kind, TableNode::Function);
        }
        if (node.kind == TableNode::Iterations) {
            EXPECT_EQ(table.nodes[node.parent].kind, TableNode::Phase);
        }
    }
    EXPECT_EQ(phases, 1u);
    // The same sums by function as without such nodes.
    choice.metrics = {"time", "visits"};
    const auto by_function = [&](const CallTable& t) {
        std::map<std::pair<std::string, std::size_t>, std::uint64_t> sums;
        for (const auto& at_location : t.values)
            for (const CallTable::Value& value : at_location) {
                std::uint32_t node = value.node;
                while (t.nodes[node].kind == TableNode::Phase || t.nodes[node].kind == TableNode::Iterations) node = t.nodes[node].parent;
                sums[{t.nodes[node].name, value.metric}] += value.value;
            }
        return sums;
    };
    for (const bool series : {false, true})
        for (const std::uint32_t most : {1u, 3u, 10u}) {
            const Profile any = sample(3, series);
            choice.instances = most;
            const CallTable nodes = make_call_table(any, choice);
            choice.instances = 0;
            EXPECT_EQ(by_function(nodes), by_function(make_call_table(any, choice))) << series << most;
        }
}

TEST(Exports, SurviveHostileText) {
    const std::string controls[] = {"\x01", "\x1b", "\x7f", "\xc2\x9b", "\xe2\x80\xae", "\xff"}; // the last but one are U+009B and U+202E
    std::string bad = "a\"b'<c>&;,\n\t\xfe->]]>{}%s";
    for (const std::string& control : controls) bad += control + "-";
    ProfileBuilder b(1);
    b.job(1, bad);
    b.metrics();
    add_sample_rank(b, 0);
    b.series(0, "timestep", 3, {1, 1, 2, 1, 1, 1}, {10, 10, 100, 10, 10, 20});
    Profile p = read_one(b.bytes());
    for (Site& site : p.sites) site.name = {bad, bad, 7};
    for (Phase& phase : p.phases) phase.name += phase.kind == PhaseKind::Iterations ? bad : "";
    p.job.executable = bad;
    for (auto& [rank, info] : p.ranks) info.host = bad;
    KeptEvents& events = p.locations.at(0).events;
    for (std::uint32_t path = 0; path < p.paths.size(); ++path) events.intervals.push_back({path, path + 1, path});
    EventPart part;
    part.end_ns = part.intervals = static_cast<std::uint32_t>(events.intervals.size());
    events.parts = {part};
    events.stride = 1;
    ExportRequest request;
    request.choice.metrics = {"time"};
    request.set = {};
    for (const ExportFormat& format : export_formats()) {
        if (format.needs_tasks) continue; // the profile has none
        Memory files;
        EXPECT_NO_THROW(format.write(p, request, files)) << format.name;
        EXPECT_FALSE(files.files.empty()) << format.name;
        for (const auto& [name, bytes] : files.files) {
            if (name.ends_with(".json")) {
                EXPECT_FALSE(nlohmann::json::parse(bytes, nullptr, false).is_discarded()) << format.name;
            }
            for (const std::string& control : controls)
                if (name.ends_with(".json") || name.ends_with(".jsonl")) {
                    EXPECT_EQ(bytes.find(control), std::string::npos) << format.name << " has it as it is";
                }
            if (name.ends_with(".xml")) {
                EXPECT_EQ(bytes.find('\x01'), std::string::npos) << format.name;
            }
        }
    }
}

TEST(Exports, NewFilesAppearWhenTheyAreComplete) {
    namespace fs = std::filesystem;
    const fs::path folder = fs::temp_directory_path() / ("export-test-" + std::to_string(::getpid()));
    fs::create_directory(folder);
    {
        NewFiles files(folder / "one", false);
        files.add("", "text");
        EXPECT_FALSE(fs::exists(folder / "one"));
        files.finish();
    }
    EXPECT_TRUE(fs::exists(folder / "one"));
    EXPECT_THROW(NewFiles(folder / "one", false), ExportError);
    EXPECT_THROW(NewFiles(folder / "one" / "", true), ExportError);
    {
        NewFiles files(folder / "two" / "", true);
        files.add("a.csv", "a\n");
        files.add("a.csv", "b\n"); // appends
    }
    EXPECT_EQ(std::distance(fs::directory_iterator(folder), fs::directory_iterator()), 1);
    fs::remove_all(folder);
}

TEST(NumberList, AsUsersWriteThem) {
    using Numbers = std::vector<std::uint32_t>;
    EXPECT_EQ(parse_number_list("3"), Numbers({3}));
    EXPECT_EQ(parse_number_list("8-10,0,9"), Numbers({0, 8, 9, 10}));
    for (const char* text : {"", ",", "1,", "a", "3-1", "1-", "-1", "0-99999999", "1 2", "4294967296"})
        EXPECT_EQ(parse_number_list(text), std::nullopt) << text;
    using Range = std::pair<std::uint64_t, std::uint64_t>;
    constexpr std::uint64_t most = ~std::uint64_t{0};
    EXPECT_EQ(parse_range("2:5", 1), Range(2, 5));
    EXPECT_EQ(parse_range("2:", 1), Range(2, most));
    EXPECT_EQ(parse_range(":5", 1), Range(1, 5));
    EXPECT_EQ(parse_range("7", 1), Range(7, 7));
    for (const char* text : {"", ":", "0:5", "5:2", "1:x", "1:2:3", "-1:2"}) EXPECT_EQ(parse_range(text, 1), std::nullopt) << text;
}
