// Where ranks ran: what the reader makes of Topology blocks, and what is said about bindings.
#include "tests/unit/tools_profile_builder.hpp"
#include "tools/analysis/affinity.hpp"
#include "tools/analysis/totals.hpp"
#include "tools/reader/counters.hpp"
#include "tools/reader/reader.hpp"
#include "tools/reader/series.hpp"

#include <gtest/gtest.h>

using namespace libprofile;
using namespace libprofile::test;
using namespace libprofile::tools;

namespace {

/// Ranks with an affinity each, as ProfileBuilder::place() wants it.
Profile placed(const std::vector<std::string>& allowed, const std::vector<std::string>& counters = {}, std::uint64_t mask = 0) {
    ProfileBuilder b(allowed.size());
    b.job(allowed.size());
    b.metrics(counters);
    std::string names;
    for (const std::string& name : counters)
        if (!name.starts_with("region_")) // ranks name those that were chosen
            names += (names.empty() ? "" : ",") + name;
    for (std::uint32_t rank = 0; rank < allowed.size(); ++rank) {
        add_sample_rank(b, rank, sample_rank_record(rank));
        b.place(rank, allowed[rank], rank % 4, names, mask);
    }
    const ByteVector bytes = b.bytes();
    const NamedBytes file{"profile.lprof", bytes};
    return read_profile(std::span(&file, 1));
}

std::string warning_of(const std::vector<std::string>& allowed) {
    std::string all;
    for (const std::string& sentence : affinity_warnings(placed(allowed))) all += sentence + "\n";
    return all;
}

} // namespace

TEST(Affinity, MachinesHaveTheRanksOfTheirCores) {
    const Profile profile = placed({"0-3", "0-3", "0-3"});
    EXPECT_TRUE(profile.complete) << (profile.notes.empty() ? "" : profile.notes[0]);
    const std::vector<UsedMachine> machines = used_machines(profile);
    ASSERT_EQ(machines.size(), 1u);
    EXPECT_EQ(machine_words(machines[0].info), "Processor of 1 GHz, 1 socket, 1 NUMA node, 2 cores, 4 processors, 1.00 GiB of memory");
    EXPECT_EQ(binding_words(machines[0]), "not bound: each rank was allowed all 4 processors");
    ASSERT_EQ(machines[0].cores.size(), 2u);
    EXPECT_EQ(machines[0].cores[0].core, 0u);
    EXPECT_EQ(machines[0].cores[0].ranks, (std::vector<std::uint64_t>{0, 2})); // processors 0 and 2 are of one core
    EXPECT_EQ(machines[0].cores[1].ranks, (std::vector<std::uint64_t>{1}));
}

TEST(Affinity, NothingIsSaidWhereEachRankMayHaveACore) {
    EXPECT_EQ(warning_of({"0-3"}), "");
    EXPECT_EQ(warning_of({"0-3", "0-3"}), "");
    EXPECT_EQ(warning_of({"0,2", "1,3"}), "");
    EXPECT_EQ(warning_of({"0", "0-3"}), ""); // the second may have gone to the other core
}

TEST(Affinity, RanksThatMustShareAreNamed) {
    EXPECT_NE(warning_of({"0", "0"}).find("ranks 0-1 on "), std::string::npos) << warning_of({"0", "0"});
    EXPECT_NE(warning_of({"0", "0"}).find("1 processor between them"), std::string::npos);
    EXPECT_NE(warning_of({"0", "2"}).find("shared the hardware threads of a core"), std::string::npos) << warning_of({"0", "2"});
    EXPECT_NE(warning_of({"0-3", "0-3", "0-3"}).find("2 cores between them"), std::string::npos) << warning_of({"0-3", "0-3", "0-3"});
    EXPECT_NE(warning_of({"0-3", "0-3", "0-3", "0-3", "0-3"}).find("took turns"), std::string::npos);
    EXPECT_NE(warning_of({"0", "1", "2"}).find("ranks 0-2 on "), std::string::npos) << warning_of({"0", "1", "2"}); // all together
    EXPECT_NE(warning_of({"0", "0", "1-3"}).find("ranks 0-1 on "), std::string::npos) << warning_of({"0", "0", "1-3"});
}

TEST(Affinity, ListsThatAreNoneAreDamage) {
    for (const char* list : {"x", "3-1", "0-99999", "99999", "0,"}) {
        const Profile profile = placed({list});
        EXPECT_FALSE(profile.complete) << list;
        EXPECT_FALSE(profile.ranks.at(0).affinity) << list;
    }
    EXPECT_TRUE(placed({""}).ranks.at(0).affinity->thread(0)->allowed.empty()); // unknown
}

TEST(Affinity, SingleIterationsHaveCounters) {
    ProfileBuilder b(1);
    b.job(1);
    b.metrics({"page_faults", "PAPI_TOT_INS"});
    add_sample_rank(b, 0);
    b.series(0, "timestep", 3, {1, 1, 2, 1, 1, 1}, {10, 10, 100, 10, 10, 20});
    const ByteVector bytes = b.bytes();
    const NamedBytes file{"profile.lprof", bytes};
    const Profile profile = read_profile(std::span(&file, 1));
    EXPECT_TRUE(profile.complete);
    const PhaseData* steps = find_phase(&profile.locations[0], 1);
    ASSERT_NE(steps, nullptr);
    ASSERT_TRUE(steps->series);
    EXPECT_TRUE(steps->series->has_row(catalogue_size + 1));
    EXPECT_FALSE(steps->series->has_row(catalogue_size + 2));
    SeriesReader reader(*steps->series);
    for (std::uint64_t i = 0; reader.next(); ++i) {
        ASSERT_TRUE(reader.has_totals() && reader.has_cells());
        EXPECT_EQ(reader.condensed()[catalogue_size], 100 + i);
        EXPECT_EQ(reader.condensed()[catalogue_size + 1], 200 + i);
        EXPECT_EQ(reader.condensed()[static_cast<std::size_t>(CatalogueId::Visits)], i == 2 ? 2u : 1u);
    }
}

TEST(Affinity, CountersOfRegionsAreNotAskedForAgain) {
    const Profile profile = placed({"0-3", "0-3"}, {"page_faults", "energy", "region_page_faults", "region_energy"}, 3);
    EXPECT_EQ(chosen_counters(profile.metrics), 2u);
    EXPECT_EQ(in_regions(profile.metrics, metric_count + 1), metric_count + 3);
    EXPECT_EQ(in_regions(profile.metrics, metric_count + 3), 0u);
    const Profile other = placed({"0-3", "0-3"}, {"page_faults", "energy"}, 3);
    EXPECT_EQ(chosen_counters(other.metrics), 2u);
}

TEST(Affinity, CountersAreNamedAndThoseThatAreMissingAreSaid) {
    const Profile profile = placed({"0-3", "0-3"}, {"page_faults", "PAPI_TOT_INS"}, 1);
    EXPECT_TRUE(profile.complete);
    ASSERT_EQ(profile.metrics.size(), metric_count + 2);
    const std::vector<MetricRow> rows = metric_rows(profile);
    EXPECT_EQ(rows.back().name, "PAPI_TOT_INS");
    EXPECT_EQ(rows.back().description, "what PAPI_TOT_INS is");
    EXPECT_EQ(counter_warnings(profile), (std::vector<std::string>{"PAPI_TOT_INS could not be counted on any rank"}));
    EXPECT_TRUE(had_counter(profile, 0, 0, metric_count));
    EXPECT_FALSE(had_counter(profile, 0, 0, metric_count + 1) || had_counter(profile, metric_count + 1));
    EXPECT_TRUE(had_counter(profile, 0, 0, 0) && had_counter(profile, 7, 0, metric_count + 1)) << "what is no counter, and who is not known";
}

TEST(Affinity, CountersOfRegionsAreMissingWithTheCounter) {
    const Profile profile = placed({"0-3", "0-3"}, {"page_faults", "PAPI_TOT_INS", "region_page_faults", "region_PAPI_TOT_INS"}, 1);
    EXPECT_TRUE(had_counter(profile, 1, 0, metric_count + 2));
    EXPECT_FALSE(had_counter(profile, 1, 0, metric_count + 3) || had_counter(profile, metric_count + 3));
}
