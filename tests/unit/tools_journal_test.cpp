// The journal of a live file: what a reader makes of whole, cut, damaged and hostile ones.
#include "tests/unit/tools_journal_builder.hpp"
#include "tests/unit/tools_read_one.hpp"
#include "tools/analysis/iterations.hpp"
#include "tools/analysis/selection.hpp"
#include "tools/analysis/totals.hpp"
#include "tools/export/formats.hpp"
#include "tools/names/expand_inlined.hpp"
#include "tools/reader/journal.hpp"
#include "tools/reader/kept_iterations.hpp"
#include "tools/reader/reader.hpp"
#include "tools/reader/recover.hpp"

#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <sys/mman.h>
#include <unistd.h>

using namespace libprofile;
using namespace libprofile::test;
using namespace libprofile::tools;

namespace {

/// A live file.
Profile read_live(const ByteVector& bytes) { return read_one(bytes, "rank-0.lprof"); }

std::size_t records_in(const ByteVector& journal) {
    JournalScanner scanner(journal);
    std::size_t records = 0;
    while (scanner.next()) ++records;
    return records;
}

const PhaseData& steps_of(const Profile& p) {
    for (const PhaseData& data : p.locations.at(0).phases)
        if (p.phases[data.phase].name == "timestep") return data;
    throw std::logic_error("the sample has a phase timestep");
}

void expect_sums(const Profile& p) {
    for (const Location& location : p.locations) {
        std::uint64_t wall = 0;
        for (const PhaseData& data : location.phases) {
            std::uint64_t time = 0;
            for_each_cell(data, [&](const tools::Cell& cell) { time += cell.metric == 0 ? cell.value : 0; });
            EXPECT_EQ(time, data.wall_ns);
            wall += data.wall_ns;
        }
        EXPECT_EQ(wall, location.wall_ns);
    }
}

} // namespace

TEST(JournalCellsTest, ComeBackAsTheyWere) {
    const std::uint64_t values[] = {0, 1, 255, 256, 0xffffff, std::uint64_t{1} << 32, ~std::uint64_t{0}};
    const std::uint32_t keys[] = {0, 1, 63, 64, 70000, 0xffffffff};
    unsigned char bytes[JournalCells::largest + JournalCells::slack];
    for (const std::uint64_t value : values)
        for (const std::uint32_t key : keys) {
            std::fill(std::begin(bytes), std::end(bytes), 0);
            const unsigned char* end = JournalCells::put(bytes, key, value);
            for (const unsigned char* p = end; p != std::end(bytes); ++p) EXPECT_EQ(*p, 0) << "what is behind a cell must stay zero";
            const unsigned char* in = bytes;
            auto left = static_cast<std::size_t>(end - bytes);
            std::uint32_t key_found = 0;
            std::uint64_t value_found = 0;
            ASSERT_TRUE(JournalCells::get(in, left, key_found, value_found));
            EXPECT_EQ(key_found, key);
            EXPECT_EQ(value_found, value);
            EXPECT_EQ(left, 0u);
        }
}

TEST(JournalTest, IterationsFollowThoseOfTheSnapshot) {
    const Profile p = read_live(live_file(sample_journal(), 4096));
    EXPECT_FALSE(p.complete);
    EXPECT_TRUE(p.notes.empty()) << p.notes.front();
    expect_sums(p);
    const Location& location = p.locations.at(0);
    EXPECT_EQ(location.wall_ns, 4000u);
    ASSERT_EQ(p.phases.size(), 3u);
    const std::uint32_t number = p.phases[1].name == "timestep" ? 1 : 2;
    ASSERT_EQ(p.phases[number].name, "timestep");
    const PhaseData* steps = find_phase(&location, number);
    const PhaseData* late = find_phase(&location, 3 - number);
    ASSERT_EQ(late->instances, 1u);
    EXPECT_EQ(reconstructed_series(p, *late, static_cast<std::size_t>(CatalogueId::Visits)), std::vector<double>{2.0});
    EXPECT_EQ(steps->iteration_ns, (std::vector<std::uint64_t>{210, 210, 860, 210, 210, 300, 400, 100}));
    EXPECT_EQ(steps->instances, 8u);
    // Iteration 5 had no memory: its values were in the rest and are now those of the next.
    EXPECT_TRUE(steps->rest.empty());
    EXPECT_EQ(steps->unclustered, 1u);
    const std::vector<double> visits = reconstructed_series(p, *steps, static_cast<std::size_t>(CatalogueId::Visits));
    EXPECT_EQ(visits[6], 7.0);
    EXPECT_EQ(visits[7], 1.0);
    EXPECT_EQ(p.ranks.at(0).samples_taken, 53u);
    EXPECT_EQ(p.ranks.at(0).kept_iterations, 3u);
}

TEST(JournalTest, IterationsHaveTheirBeginsIfTheSnapshotHasItsOwn) {
    using Times = std::vector<std::uint64_t>;
    constexpr std::string_view six_gaps("\0\0\5\0\0\0\0\0\0\0\0\0", 12);
    const auto begins = [&](const std::function<void(ProfileBuilder&)>& add) { return read_live(live_file(sample_journal(), 4096, false, {}, add)); };
    // The sample's six iterations take 210, 210, 860, 210, 210 and 300 ns; the journal has two more, and one of another phase, by their ends.
    const Profile all = begins([&](ProfileBuilder& b) {
        b.begins(0, 1, 1100, six_gaps);
        b.clock(0, {1, 0, 1000});
    });
    EXPECT_TRUE(all.notes.empty()) << all.notes.front();
    EXPECT_EQ(steps_of(all).iteration_begin_ns, (Times{1100, 1315, 1525, 2385, 2595, 2805, 1000 + 3200 - 400, 1000 + 3400 - 100}));
    const auto late = std::find_if(all.locations[0].phases.begin(), all.locations[0].phases.end(),
                                   [&](const PhaseData& data) { return all.phases[data.phase].name == "late"; });
    EXPECT_EQ(late->iteration_begin_ns, Times{1000 + 4000 - 70});
    // As if the clock was read earlier: no iteration begins before the end of the one before.
    EXPECT_EQ(steps_of(begins([&](ProfileBuilder& b) {
                  b.begins(0, 1, 1100, six_gaps);
                  b.clock(0, {1, 0, 0});
              })).iteration_begin_ns,
              (Times{1100, 1315, 1525, 2385, 2595, 2805, 3105, 3505}));
    // Of one iteration of the snapshot it is not known, or not when the measurement began: then not of later ones.
    EXPECT_EQ(steps_of(begins([&](ProfileBuilder& b) {
                  b.begins(0, 1, 1100, six_gaps.substr(0, 10));
                  b.clock(0, {1, 0, 1000});
              })).iteration_begin_ns.size(),
              5u);
    EXPECT_EQ(steps_of(begins([&](ProfileBuilder& b) { b.begins(0, 1, 1100, six_gaps); })).iteration_begin_ns.size(), 6u);
    EXPECT_EQ(steps_of(begins([&](ProfileBuilder& b) { b.clock(0, {1, 0, 1000}); })).iteration_begin_ns.size(), 0u);
}

TEST(JournalTest, WhatNobodyKnowsIsNotRecorded) {
    const Profile p = read_live(live_file(sample_journal(), 4096));
    std::uint64_t found = 0;
    for (const PhaseData& data : p.locations[0].phases)
        for_each_cell(data, [&](const tools::Cell& cell) { found += cell.metric == 0 && p.paths[cell.path].kind == NodeKind::NotRecorded ? cell.value : 0; });
    // 4000 without "" (900 + 300 + 30 + 20), "timestep" (1700 + 400 + 100) and "late" (70).
    EXPECT_EQ(found, 4000u - 1250u - 2200u - 70u);
}

TEST(JournalTest, EndsWithTheLastWholeRecordWhereverItIsCut) {
    const ByteVector journal = sample_journal();
    ASSERT_EQ(records_in(journal), 5u);
    std::size_t before = 0;
    for (std::size_t size = 0; size <= journal.size(); ++size) {
        ByteVector cut(journal.begin(), journal.begin() + static_cast<std::ptrdiff_t>(size));
        const std::size_t records = records_in(cut);
        EXPECT_LE(before, records);
        EXPECT_LE(records, before + 1);
        before = records;
        expect_sums(read_live(live_file(cut, 4096)));
        // The file may end with it, too.
        ByteVector file = live_file(cut, 4096);
        file.resize(file.size() - (4096 - size));
        expect_sums(read_live(file));
    }
    EXPECT_EQ(before, 5u);
}

TEST(JournalTest, ADamagedByteEndsItThere) {
    const ByteVector journal = sample_journal();
    for (std::size_t at = 0; at < journal.size(); ++at) {
        ByteVector damaged = journal;
        damaged[at] ^= 0x10;
        EXPECT_LT(records_in(damaged), 5u) << "byte " << at;
        expect_sums(read_live(live_file(damaged, 4096)));
    }
}

TEST(JournalTest, RecordsThatDoNotFitEndItWithANote) {
    const std::vector<std::function<void(JournalBuilder&)>> hostile = {
        [](JournalBuilder& j) {
            j.iteration({9, 0, 1, 1, 9000, 0, 0, {}, 0}, {});
        }, // no such phase
        [](JournalBuilder& j) {
            j.iteration({0, 0, 1, 1, 9000, 0, 0, {}, 0}, {});
        }, // it has no iterations
        [](JournalBuilder& j) {
            j.iteration({1, 7, 1, 1, 9000, 0, 0, {}, 0}, {});
        }, // no such fate
        [](JournalBuilder& j) {
            j.iteration({1, 0, 1, 1, 9000, 0, 0, {}, 0}, {{77, Metric::Time, 1}});
        }, // no such node
        [](JournalBuilder& j) {
            j.iteration({1, 0, 1, 1, 9000, 0, 0, {}, 0}, {{1, Metric::Time, 1}, {1, Metric::Time, 2}});
        },
        [](JournalBuilder& j) {
            j.iteration({1, 0, 1, 1, 9000, 0, 0, {}, 0}, {{1, Metric::Time, ~std::uint64_t{0}}});
        },
        [](JournalBuilder& j) {
            j.iteration({1, 0, 1, 1, 1, 0, 0, {}, 0}, {});
        }, // back in time
        [](JournalBuilder& j) {
            j.phase({1, 1, 1, 1, 1, 0}, {});
        }, // has iterations
        [](JournalBuilder& j) { j.record([](Encoder& e) { e.number(77); }); },
        [](JournalBuilder& j) { j.record([](Encoder&) {}); },
        [](JournalBuilder& j) {
            j.record([](Encoder& e) {
                e.number(static_cast<std::uint64_t>(JournalRecord::Definitions));
                e.number(2);
                e.number(~std::uint64_t{0});
            });
        },
    };
    for (std::size_t i = 0; i < hostile.size(); ++i) {
        JournalBuilder j;
        j.iteration({1, 0, 400, 2400, 3200, 0, 0, {}, 0}, {{2, Metric::Time, 350}});
        hostile[i](j);
        j.iteration({1, 0, 400, 2800, 9900, 0, 0, {}, 0}, {{2, Metric::Time, 350}});
        const Profile p = read_live(live_file(j.bytes(), 4096));
        EXPECT_EQ(p.notes.size(), 1u) << "record " << i;
        EXPECT_EQ(find_phase(&p.locations[0], 1)->instances, 7u) << "record " << i;
        expect_sums(p);
    }
}

TEST(JournalTest, WhatComesBeforeItsDefinitionsIsTriedAgainAfterThem) {
    JournalBuilder j;
    j.iteration({1, 0, 400, 2400, 3200, 0, 0, {1, 2, 3, 4}, 0}, {{2, Metric::Time, 350}, {3, Metric::Time, 50}});
    j.phase({0, 1, 3500, 30, 20, 0}, {{1, Metric::Time, 900}, {6, Metric::Time, 300}, {6, Metric::Visits, 2}});
    j.iteration({2, 0, 70, 70, 4000, 0, 0, {5, 6, 7, 8}, 0}, {{6, Metric::Time, 70}, {6, Metric::Visits, 2}});
    const ByteVector before = j.bytes();
    j.definitions();
    j.iteration({1, 0, 100, 2500, 4400, 0, 0, {1, 2, 3, 4}, 0}, {{2, Metric::Time, 40}, {6, Metric::Time, 60}});
    const Profile p = read_live(live_file(j.bytes(), 4096));
    EXPECT_TRUE(p.notes.empty()) << p.notes.front();
    expect_sums(p);
    EXPECT_EQ(steps_of(p).instances, 8u);
    EXPECT_EQ(find_phase(&p.locations[0], p.phases[1].name == "timestep" ? 2 : 1)->instances, 1u);

    const Profile without = read_live(live_file(before, 4096));
    ASSERT_EQ(without.notes.size(), 1u) << "they never come";
    EXPECT_EQ(steps_of(without).instances, 7u);
    expect_sums(without);
}

TEST(JournalTest, ManyIterationsTakeFewClustersAndKeepTheirValues) {
    JournalBuilder j;
    constexpr std::uint64_t many = 2000;
    for (std::uint64_t i = 0; i < many; ++i)
        j.iteration({1, 0, 10, 2000 + 10 * (i + 1), 3000 + 10 * (i + 1), 0, 0, {1, 2, 3, 4}, 0}, {{3, Metric::Time, 10}, {3, Metric::Visits, 1 + i % 97}});
    const Profile p = read_live(live_file(j.bytes(), j.bytes().size()));
    expect_sums(p);
    const PhaseData* steps = find_phase(&p.locations[0], 1);
    EXPECT_LE(steps->clusters.size(), 2u + 16u);
    const std::vector<double> visits = reconstructed_series(p, *steps, static_cast<std::size_t>(CatalogueId::Visits));
    ASSERT_EQ(visits.size(), 6 + many);
    for (std::uint64_t i = 0; i < many; ++i) EXPECT_EQ(visits[6 + i], static_cast<double>(1 + i % 97));
}

namespace {

class WrittenFiles final : public Sink {
  public:
    void add(const std::string& name, std::string_view bytes) override { files[name] += bytes; }
    std::map<std::string, std::string> files;
};

std::uint64_t sum_of(const Profile& p, IterationRange range, Metric metric, NodeKind kind) {
    std::uint64_t sum = 0;
    const auto cells = selected_cells(p, steps_of(p), std::span(&range, 1));
    for (const SelectedCell& cell : cells.front()) sum += cell.metric == static_cast<std::uint32_t>(metric) && p.paths[cell.path].kind == kind ? cell.value : 0;
    return sum;
}

} // namespace

TEST(JournalTest, IterationsOfAJournalCanBeChosen) {
    for (const bool with_series : {false, true}) {
        const Profile p = read_live(live_file(sample_journal(), 4096, with_series));
        EXPECT_TRUE(p.notes.empty()) << p.notes.front();
        // Those of the snapshot have 1 visit each, one 2; then 7, then 1 (of a call path that the snapshot has not).
        EXPECT_EQ(sum_of(p, {6, 6}, Metric::Visits, NodeKind::Mpi), 7u);
        EXPECT_EQ(sum_of(p, {6, 6}, Metric::Time, NodeKind::Mpi), 50u);
        EXPECT_EQ(sum_of(p, {6, 6}, Metric::Time, NodeKind::Frame), 350u);
        EXPECT_EQ(sum_of(p, {7, 7}, Metric::Visits, NodeKind::Mpi), 1u);
        EXPECT_EQ(sum_of(p, {7, 99}, Metric::Time, NodeKind::Mpi), 60u);
        EXPECT_EQ(sum_of(p, {6, 7}, Metric::Visits, NodeKind::Mpi), 8u);
        EXPECT_TRUE(sums_are_exact(steps_of(p), {6, 7}));
        EXPECT_EQ(sums_are_exact(steps_of(p), {5, 7}), with_series);
        if (with_series) {
            EXPECT_EQ(sum_of(p, {2, 6}, Metric::Visits, NodeKind::Mpi), 2u + 1 + 1 + 1 + 7);
        }
    }
}

TEST(JournalTest, AllExportsAreWrittenOfAJournal) {
    for (const bool with_series : {false, true}) {
        Profile p = read_live(live_file(sample_journal(), 4096, with_series));
        expand_inlined(p);
        for (const ExportFormat& format : formats_of_all_profiles())
            for (const auto& [first, last] : {std::pair(0, 99), std::pair(1, 2), std::pair(4, 7), std::pair(7, 7)}) {
                ExportRequest request;
                request.choice.has_phase = true;
                request.choice.phase = "timestep";
                if (last != 99) request.choice.iterations = IterationRange{static_cast<std::uint64_t>(first), static_cast<std::uint64_t>(last)};
                request.choice.instances = 100;
                WrittenFiles files;
                EXPECT_NO_THROW(format.write(p, request, files)) << format.name;
                EXPECT_FALSE(files.files.empty()) << format.name;
            }
    }
}

TEST(JournalTest, CountersThatAreNotPairedEndItWithANote) {
    for (const char* prefix : {"region_", "xegion_"}) {
        const bool is_paired = *prefix == 'r';
        Profile p = read_live(live_file(sample_journal(), 4096, false, counters_with(prefix)));
        ASSERT_EQ(p.notes.size(), is_paired ? 0u : 1u) << prefix;
        for (const std::string& note : p.notes) EXPECT_NE(note.find("a journal has other metrics"), std::string::npos) << note;
        EXPECT_EQ(steps_of(p).instances, is_paired ? 8u : 6u) << prefix; // without it, those of the snapshot
        expect_sums(p);
        expand_inlined(p);
        for (const ExportFormat& format : formats_of_all_profiles()) {
            WrittenFiles files;
            EXPECT_NO_THROW(format.write(p, ExportRequest(), files)) << format.name;
        }
    }
}

TEST(JournalTest, CallPathsOfAJournalsValuesMoveWithAllOthers) {
    Profile p = read_live(live_file(sample_journal(), 4096));
    for (Site& site : p.sites) {
        site.name.function = "outer";
        site.inlined = {{"inner", "file.c", 1}, {"innermost", "file.c", 2}};
    }
    expand_inlined(p);
    EXPECT_EQ(sum_of(p, {6, 6}, Metric::Visits, NodeKind::Mpi), 7u);
    EXPECT_EQ(sum_of(p, {7, 7}, Metric::Visits, NodeKind::Mpi), 1u);
}

TEST(JournalTest, AnIterationThatWasTakenBackIsTheRest) {
    JournalBuilder j;
    j.iteration({1, 0, 400, 2400, 3400, 0, 0, {1, 2, 3, 4}, 0}, {{2, Metric::Time, 350}, {3, Metric::Time, 50}, {3, Metric::Visits, 7}});
    j.put_back(1);
    {
        const Profile p = read_live(live_file(j.bytes(), 4096));
        EXPECT_TRUE(p.notes.empty()) << p.notes.front();
        expect_sums(p);
        const PhaseData& steps = steps_of(p);
        EXPECT_EQ(steps.unclustered, 2u);
        EXPECT_EQ(steps.cluster_of_iteration.at(6), steps.clusters.size());
        std::uint64_t rest = 0;
        for (const tools::Cell& cell : steps.rest) rest += cell.value;
        EXPECT_EQ(rest, 407u);
        EXPECT_EQ(sum_of(p, {6, 6}, Metric::Visits, NodeKind::Mpi), 7u) << "its own values are known all the same";
    }
    // The next one has its values, too, and none of its own is known.
    const std::size_t clusters = steps_of(read_live(live_file(j.bytes(), 4096))).clusters.size();
    j.iteration({1, 3, 200, 2600, 3600, 0, 0, {1, 2, 3, 4}, 0}, {{2, Metric::Time, 540}, {3, Metric::Time, 60}, {3, Metric::Visits, 9}});
    const Profile p = read_live(live_file(j.bytes(), 4096));
    EXPECT_TRUE(p.notes.empty()) << p.notes.front();
    expect_sums(p);
    const PhaseData& steps = steps_of(p);
    EXPECT_TRUE(steps.rest.empty());
    EXPECT_EQ(steps.clusters.size(), clusters + 1);
    EXPECT_EQ(steps.instances, 8u);
    SeriesReader reader(*steps.series);
    for (int i = 0; i < 7; ++i) ASSERT_TRUE(reader.next());
    EXPECT_TRUE(reader.has_totals());
    ASSERT_TRUE(reader.next());
    EXPECT_FALSE(reader.has_totals());
    EXPECT_TRUE(sums_are_exact(steps, {6, 6}));
    EXPECT_FALSE(sums_are_exact(steps, {6, 7}));
}

TEST(JournalTest, OnlyTheNewestIterationWithAProfileCanBeTakenBack) {
    const JournalIteration own{1, 0, 400, 2400, 3400, 0, 0, {}, 0}, rest{1, 1, 400, 2400, 3400, 0, 0, {}, 0};
    const std::vector<std::function<void(JournalBuilder&)>> hostile = {
        [](JournalBuilder& j) { j.put_back(1); },
        [](JournalBuilder& j) { j.put_back(0); },
        [](JournalBuilder& j) { j.put_back(77); },
        [&](JournalBuilder& j) {
            j.iteration(own, {{2, Metric::Time, 350}});
            j.put_back(1);
            j.put_back(1);
        },
        [&](JournalBuilder& j) {
            j.iteration(rest, {{2, Metric::Time, 350}});
            j.put_back(1);
        },
        [&](JournalBuilder& j) {
            j.iteration(own, {});
            j.record([](Encoder& e) {
                for (const std::uint64_t n : {4u, 1u, 1u}) e.number(n);
            });
        },
        [&](JournalBuilder& j) { j.record([](Encoder& e) { e.number(4); }); },
    };
    for (std::size_t i = 0; i < hostile.size(); ++i) {
        JournalBuilder j;
        hostile[i](j);
        const Profile p = read_live(live_file(j.bytes(), 4096));
        EXPECT_EQ(p.notes.size(), 1u) << "case " << i;
        expect_sums(p);
    }
}

TEST(JournalTest, ClustersThatNoIterationNeedsTakeNoMemory) {
    const std::uint64_t before = libprofile::memory_quota.used();
    KeptIterations kept({4096, EquivalenceChoice::Auto}, 1);
    KeptProfile profile;
    profile.cells = {{libprofile::Cell::make_key(3, static_cast<std::size_t>(Metric::Visits)), 1}};
    kept.add(std::move(profile), 10, false);
    PhaseData data;
    kept.append_to(data, {});
    EXPECT_EQ(data.clusters.size(), 1u);
    EXPECT_LT(libprofile::memory_quota.used() - before, std::uint64_t{128} << 10);
}

TEST(JournalTest, WhatDoesNotFitIntoMemoryIsTheRest) {
    KeptIterations kept({Clusterer::no_limit, EquivalenceChoice::Strong}, 100000);
    const std::uint64_t before = libprofile::memory_quota.limit();
    libprofile::memory_quota.limit(libprofile::memory_quota.used() + (std::uint64_t{1} << 20));
    constexpr std::uint64_t many = 5000;
    for (std::uint64_t i = 0; i < many; ++i) {
        KeptProfile profile;
        profile.cells = {{libprofile::Cell::make_key(3, static_cast<std::size_t>(Metric::Visits)), 1 + i}};
        profile.signatures = {{{i, i}}, {{i, i}}};
        kept.add(std::move(profile), 10, false);
    }
    PhaseData data;
    kept.append_to(data, {});
    libprofile::memory_quota.limit(before);
    EXPECT_GT(kept.without_room(), 0u);
    EXPECT_GT(data.clusters.size(), 100u);
    EXPECT_EQ(data.unclustered, kept.without_room());
    ASSERT_EQ(data.cluster_of_iteration.size(), many);
    EXPECT_EQ(data.cluster_of_iteration.back(), data.clusters.size());
    std::uint64_t sum = 0, clustered = 0;
    for_each_cell(data, [&](const tools::Cell& cell) { sum += cell.value; });
    for (const tools::Cluster& cluster : data.clusters) clustered += cluster.size;
    EXPECT_EQ(sum, many * (many + 1) / 2);
    EXPECT_EQ(clustered + data.unclustered, many);
}

namespace {

/// What a job of two ranks leaves that is killed in MPI_Finalize: rank 0 had written all, with its call paths in the job's tables,
/// rank 1 had written its values only.
ByteVector unfinished_file(bool with_map, std::uint32_t first = 0) {
    ProfileBuilder b(2);
    b.job(2);
    b.metrics();
    b.modules(no_rank, {{"BUILD-APP", "/home/user/app"}});
    b.functions(no_rank, {{5, "MPI_Barrier", TimeCategory::MpiSyncColl}});
    b.tree(no_rank, 0, {{0, NodeKind::Frame, 0, 0x1000}, {1, NodeKind::Mpi, 5, 0}});
    b.compress_last();
    if (with_map) b.node_map(first, 0, {2, 1}); // of a rank that saw them in another order
    RankRecord r;
    r.rank = first;
    r.threads = 1;
    r.complete = 1;
    b.rank(r);
    b.location(first, {0, 100, 1, static_cast<std::uint64_t>(PathsIn::NodeMap), first, 0});
    BuiltPhase p;
    p.wall_ns = p.wall_inclusive_ns = 100;
    p.rest = {{1, Metric::Time, 40}, {1, Metric::Visits, 2}, {2, Metric::Time, 60}};
    b.phase(first, p);
    b.directory(first);
    p.rest = {{1, Metric::Time, 100}};
    b.phase(first + 1, p);
    return b.bytes();
}

ByteVector live_file_of(std::uint32_t rank) {
    ProfileBuilder b(1);
    b.job(2);
    b.metrics();
    add_sample_rank(b, rank, true);
    return b.bytes();
}

/// A folder of its own that goes with it.
class Folder {
  public:
    Folder() {
        path_ = std::filesystem::temp_directory_path() / "libprofile-recover-XXXXXX";
        std::string name = path_.string();
        path_ = ::mkdtemp(name.data());
    }
    ~Folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    void add(const char* name, const ByteVector& bytes) const {
        std::ofstream(path_ / name, std::ios::binary).write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    }
    const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_;
};

} // namespace

TEST(RecoverTest, ARankWhoseCallPathsAreInTheJobsTablesTakesThemAlong) {
    const Folder folder;
    folder.add("profile.lprof.partial", unfinished_file(true));
    folder.add("rank-0.lprof", live_file_of(0));
    folder.add("rank-1.lprof", live_file_of(1));
    const Recovery recovery = recover(folder.path());
    EXPECT_EQ(recovery.ended, std::vector<std::uint64_t>{0});
    EXPECT_EQ(recovery.live, std::vector<std::uint64_t>{1});
    const Profile p = read_profile(recovery.file);
    EXPECT_TRUE(p.notes.empty()) << p.notes.front();
    expect_sums(p);
    ASSERT_EQ(p.locations.size(), 2u);
    EXPECT_EQ(p.locations[0].wall_ns, 100u);
    EXPECT_EQ(p.locations[1].wall_ns, 3009u);
    for (const tools::Cell& cell : p.locations[0].phases.at(0).rest)
        if (cell.metric != 0) {
            EXPECT_EQ(p.paths[cell.path].kind, NodeKind::Mpi);
        }
}

TEST(RecoverTest, ARankWithoutItsWayIntoTheJobsTablesIsTakenFromItsLiveFile) {
    const Folder folder;
    folder.add("profile.lprof.partial", unfinished_file(false));
    folder.add("rank-0.lprof", live_file_of(0));
    folder.add("rank-1.lprof", live_file_of(1));
    const Profile before = read_profile(folder.path());
    ASSERT_EQ(before.locations.size(), 2u);
    EXPECT_EQ(before.locations[0].wall_ns, 3000u);
    const Recovery recovery = recover(folder.path());
    EXPECT_EQ(recovery.live, (std::vector<std::uint64_t>{0, 1}));
    const Profile p = read_profile(recovery.file);
    EXPECT_TRUE(p.notes.empty()) << p.notes.front();
    EXPECT_EQ(p.locations.at(0).wall_ns, 3000u);
}

TEST(RecoverTest, TablesOfTwoFilesAreNeverMixed) {
    const Folder folder;
    folder.add("profile.lprof.partial", unfinished_file(true));
    folder.add("rank-1.lprof", live_file_of(1));
    folder.add("rank-2.lprof.partial", unfinished_file(true, 2));
    const Recovery recovery = recover(folder.path());
    EXPECT_EQ(recovery.live, std::vector<std::uint64_t>{1});
    EXPECT_EQ(recovery.ended.size(), 1u);
    EXPECT_EQ(recovery.left_out.size(), 1u);
    EXPECT_EQ(recovery.not_needed.size(), 2u);
    expect_sums(read_profile(recovery.file));
}

TEST(RecoverTest, ARankThatRunsIsLeftAlone) {
    const Folder folder;
    const ByteVector bytes = [] {
        ProfileBuilder b(1);
        b.job(1);
        b.metrics();
        add_sample_rank(b, 0, true);
        RankRecord r;
        char host[257] = {};
        ::gethostname(host, sizeof host - 1);
        r.rank = 1;
        r.pid = static_cast<std::uint64_t>(::getpid());
        r.host = host;
        r.threads = r.checkpoint = 1;
        b.rank(r);
        return b.bytes();
    }();
    folder.add("rank-0.lprof", bytes);
    const std::filesystem::path file = folder.path() / "rank-0.lprof";
    {
        // The number of a process is not enough: it may be another one by now.
        EXPECT_NO_THROW(recover(folder.path()));
        std::filesystem::remove(folder.path() / "profile.lprof");
    }
    const int opened = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    void* const place = ::mmap(nullptr, 4096, PROT_READ, MAP_SHARED, opened, 0);
    ::close(opened);
    ASSERT_NE(place, MAP_FAILED);
    EXPECT_THROW(recover(folder.path()), ReadError);
    EXPECT_FALSE(std::filesystem::exists(folder.path() / "profile.lprof"));
    ::munmap(place, 4096);
    EXPECT_NO_THROW(recover(folder.path()));
}
