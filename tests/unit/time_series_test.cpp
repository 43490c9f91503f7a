#include "libprofile/clustering/time_series.hpp"

#include "tools/analysis/selection.hpp"
#include "tools/evaluation/bounded_method.hpp"
#include "tools/reader/series.hpp"

#include <cmath>
#include <gtest/gtest.h>
#include <map>
#include <random>

namespace libprofile {

using tools::series_data_of;

namespace {

struct Iteration {
    std::map<std::uint32_t, std::uint64_t> events; // by key
    std::vector<std::uint64_t> condensed = std::vector<std::uint64_t>(condensed_size);
    std::uint64_t wall = 0;
    StructureSignatures signatures;
};

std::uint32_t key(NodeId node, Metric metric) { return Cell::make_key(node, static_cast<std::size_t>(metric)); }

/// Some paths, some of them in every iteration, with noise in the times.
class Stream {
  public:
    explicit Stream(unsigned seed) : random_(seed) {}
    Iteration next(std::uint32_t paths, std::uint32_t kinds) {
        Iteration result;
        const auto kind = static_cast<std::uint32_t>(random_() % kinds);
        std::uint64_t direct[metric_count] = {};
        std::uint64_t by_category[static_cast<std::size_t>(TimeCategory::Count)] = {};
        for (std::uint32_t p = 1; p <= paths; ++p) {
            if (p % kinds == kind && p != 1) continue;
            const std::uint64_t visits = 1 + p % 5 + kind;
            const std::uint64_t time = p * 1000 * (1 + kind) + random_() % 500 + (random_() % 97 == 0 ? 1000000 : 0);
            result.events[key(p, Metric::Visits)] = visits;
            result.events[key(p, Metric::Time)] = time;
            result.events[key(p, Metric::P2pBytesSent)] = visits * 512 + (p % 3 == 0 ? random_() % 64 : 0);
            Node node;
            node.path_hash[0] = mix(p);
            node.path_hash[1] = mix(p + 1000);
            result.signatures.strong.add(node, visits);
            result.signatures.weak.add(node, 1);
            direct[static_cast<std::size_t>(Metric::Visits)] += visits;
            direct[static_cast<std::size_t>(Metric::P2pBytesSent)] += result.events[key(p, Metric::P2pBytesSent)];
            by_category[static_cast<std::size_t>(TimeCategory::MpiP2p)] += time;
        }
        by_category[static_cast<std::size_t>(TimeCategory::Compute)] = random_() % 100000;
        derive_catalogue(direct, by_category, result.condensed.data());
        result.wall = result.condensed[static_cast<std::size_t>(CatalogueId::Total)] + random_() % 3;
        return result;
    }

  private:
    std::mt19937_64 random_;
};

class TimeSeriesTest : public testing::Test {
  protected:
    void SetUp() override { memory_quota.limit(std::uint64_t{1} << 40); }
    void feed(TimeSeries& series, const Iteration& iteration) {
        std::vector<Cell> cells;
        for (const auto& [cell_key, value] : iteration.events) cells.push_back({cell_key, value});
        series.add(cells.data(), static_cast<std::uint32_t>(cells.size()), iteration.condensed.data(), iteration.wall, iteration.signatures);
        fed_.push_back(iteration);
    }
    std::vector<Iteration> fed_;
    Arena arena_;
    Pool pool_{arena_};
};

} // namespace

TEST_F(TimeSeriesTest, WholeIterationsCountsAndBytesAreExactAndTimesWithinTheBound) {
    for (const std::uint32_t error : {0u, 2500u, 50000u}) {
        TimeSeries series(arena_, pool_, {true, error, 0, 0});
        fed_.clear();
        Stream stream(3);
        for (int i = 0; i < 700; ++i) feed(series, stream.next(i < 300 ? 20 : 33, 3));
        const tools::SeriesData data = series_data_of(series);
        EXPECT_EQ(data.iterations(), fed_.size());
        tools::SeriesReader reader(data);
        const auto columns = data.numbered_columns();
        std::uint64_t largest = 0, largest_error = 0;
        for (const Iteration& want : fed_) {
            ASSERT_TRUE(reader.next());
            ASSERT_TRUE(reader.has_totals() && reader.has_cells());
            EXPECT_EQ(reader.wall_ns(), want.wall);
            for (std::size_t m = 0; m < catalogue_size; ++m) ASSERT_EQ(reader.condensed()[m], want.condensed[m]) << m;
            std::map<std::uint32_t, std::uint64_t> got;
            reader.for_each_cell([&](std::size_t number, std::uint64_t value) {
                const tools::SeriesData::Column& column = columns[number].column;
                got[Cell::make_key(column.path, column.metric)] = value;
            });
            for (const auto& [cell_key, value] : want.events) {
                const std::uint64_t coded = got[cell_key];
                got.erase(cell_key);
                if ((cell_key & 63) != 0) {
                    ASSERT_EQ(coded, value);
                    continue;
                }
                largest = std::max(largest, value);
                largest_error = std::max(largest_error, coded > value ? coded - value : value - coded);
            }
            EXPECT_TRUE(got.empty()) << "phantom cells";
        }
        EXPECT_FALSE(reader.next());
        EXPECT_LE(largest_error, largest * error / 1000000);
        EXPECT_EQ(largest_error, series.accuracy(0).largest);
        EXPECT_EQ(series.accuracy(0).largest_value, largest);
    }
}

/// Compares what views and exports make of some iterations with what was measured in them.
TEST_F(TimeSeriesTest, ValuesOfSomeIterationsAreAsFarOffAsTheySayAtMost) {
    constexpr std::uint32_t paths = 20, sampled = paths + 1;
    tools::Profile profile;
    profile.functions.push_back({"MPI_Sendrecv", TimeCategory::MpiP2p});
    profile.paths.emplace_back();
    for (std::uint32_t p = 1; p <= paths; ++p) profile.paths.push_back({0, NodeKind::Mpi, 0, 0});
    profile.paths.push_back({0, NodeKind::Frame, 0, 0});
    for (const std::uint64_t memory : {0u, 60000u}) { // with the second, iterations must be thinned out
        TimeSeries series(arena_, pool_, {true, 50000, 0, memory});
        fed_.clear();
        Stream stream(11);
        for (int i = 0; i < 900; ++i) feed(series, stream.next(paths, 3));
        tools::PhaseData data;
        data.series = series_data_of(series);
        data.cluster_of_iteration.assign(fed_.size(), 0);
        std::map<std::uint32_t, std::uint64_t> sums;
        for (const Iteration& one : fed_) {
            for (const auto& [cell_key, value] : one.events) sums[cell_key] += value;
            sums[key(sampled, Metric::Time)] +=
                one.condensed[static_cast<std::size_t>(CatalogueId::Execution)] - one.condensed[static_cast<std::size_t>(CatalogueId::Mpi)];
        }
        tools::Cluster& cluster = data.clusters.emplace_back();
        cluster.size = fed_.size();
        for (const auto& [cell_key, value] : sums) cluster.cells.push_back({cell_key / 64, cell_key % 64, value});
        EXPECT_EQ(tools::has_exact_sums(data), memory == 0 || data.series->iterations_with_totals() == fed_.size());

        std::mt19937_64 random(5);
        std::size_t bounded = 0;
        for (int round = 0; round < 60; ++round) {
            const std::uint64_t first = random() % fed_.size(), last = first + random() % (fed_.size() - first);
            std::map<std::uint32_t, std::uint64_t> truth;
            std::uint64_t time = 0, found = 0;
            for (std::uint64_t i = first; i <= last; ++i) {
                for (const auto& [cell_key, value] : fed_[i].events) truth[cell_key] += value;
                time += fed_[i].condensed[static_cast<std::size_t>(CatalogueId::Total)];
            }
            const tools::IterationRange range{first, last};
            const auto cells = selected_cells(profile, data, std::span(&range, 1)).front();
            for (const tools::SelectedCell& cell : cells) {
                found += cell.metric == 0 ? cell.value : 0;
                if (cell.guessed) continue;
                const std::uint64_t measured = truth[key(cell.path, static_cast<Metric>(cell.metric))];
                ASSERT_LE(cell.value > measured ? cell.value - measured : measured - cell.value, cell.bound)
                    << "path " << cell.path << " metric " << cell.metric << " iterations " << first << " to " << last;
                bounded += cell.bound != 0 ? 1 : 0;
            }
            if (tools::has_exact_sums(data)) {
                EXPECT_EQ(found, time);
            }
        }
        EXPECT_GT(bounded, 0u);
    }
}

TEST_F(TimeSeriesTest, BytesAreWithinTheBoundWhenThatIsAsked) {
    TimeSeries series(arena_, pool_, {true, 50000, 50000, 0});
    Stream stream(4);
    for (int i = 0; i < 300; ++i) feed(series, stream.next(20, 2));
    const tools::SeriesData data = series_data_of(series);
    tools::SeriesReader reader(data);
    const auto columns = data.numbered_columns();
    const auto metric = static_cast<std::size_t>(Metric::P2pBytesSent);
    std::uint64_t largest = 0, largest_error = 0;
    for (const Iteration& want : fed_) {
        ASSERT_TRUE(reader.next());
        std::map<std::uint32_t, std::uint64_t> got;
        reader.for_each_cell([&](std::size_t number, std::uint64_t value) {
            const tools::SeriesData::Column& column = columns[number].column;
            got[Cell::make_key(column.path, column.metric)] = value;
            EXPECT_TRUE(want.events.contains(key(column.path, Metric::Visits))) << "phantom path " << column.path;
        });
        for (const auto& [cell_key, value] : want.events) {
            if ((cell_key & 63) != metric) continue;
            largest = std::max(largest, value);
            largest_error = std::max(largest_error, got[cell_key] > value ? got[cell_key] - value : value - got[cell_key]);
        }
    }
    EXPECT_GT(largest_error, 0u);
    EXPECT_LE(largest_error, largest / 20);
}

TEST_F(TimeSeriesTest, AtAnyBoundTimesAreNoWorseThanTheirMeans) {
    constexpr std::uint64_t spike = 1000000; // rare; the bound is a share of it
    for (const std::uint32_t error : {2500u, 10000u, 50000u, 200000u}) {
        TimeSeries series(arena_, pool_, {true, error, error, 0});
        fed_.clear();
        Stream stream(17);
        std::map<std::uint32_t, std::pair<double, double>> usual; // sum and number
        for (int i = 0; i < 500; ++i) {
            feed(series, stream.next(20, 1));
            for (const auto& [cell_key, value] : fed_.back().events)
                if ((cell_key & 63) == 0 && value < spike) usual[cell_key].first += static_cast<double>(value), ++usual[cell_key].second;
        }
        const tools::SeriesData data = series_data_of(series);
        tools::SeriesReader reader(data);
        const auto columns = data.numbered_columns();
        double off = 0, off_mean = 0;
        for (const Iteration& want : fed_) {
            ASSERT_TRUE(reader.next());
            reader.for_each_cell([&](std::size_t number, std::uint64_t value) {
                const std::uint32_t cell_key = Cell::make_key(columns[number].column.path, columns[number].column.metric);
                const auto at = want.events.find(cell_key);
                if (at == want.events.end() || (cell_key & 63) != 0 || at->second >= spike) return;
                off += std::abs(static_cast<double>(value) - static_cast<double>(at->second));
                off_mean += std::abs(usual[cell_key].first / usual[cell_key].second - static_cast<double>(at->second));
            });
        }
        EXPECT_GT(off_mean, 0);
        EXPECT_LE(off, off_mean) << error;
    }
}

TEST_F(TimeSeriesTest, AnIterationTakesFewBytesAndAConstantOneNearlyNone) {
    TimeSeries series(arena_, pool_, {});
    Stream stream(5);
    const Iteration always = stream.next(30, 2);
    for (int i = 0; i < 256; ++i) feed(series, always);
    const std::uint64_t constant = series_data_of(series).bytes();
    EXPECT_LT(constant, 256u * 8);
    for (int i = 0; i < 2560; ++i) feed(series, stream.next(30, 2));
    std::uint64_t totals = 0;
    for (const tools::SeriesData::Chunk& chunk : series_data_of(series).chunks) totals += chunk.totals.size();
    EXPECT_LT(totals, fed_.size() * 64);
}

TEST_F(TimeSeriesTest, WhereOneCallHasAllTimeItsTimesFollowFromTheTotals) {
    TimeSeries series(arena_, pool_, {});
    std::mt19937_64 random(21);
    for (int i = 0; i < 512; ++i) {
        Iteration one;
        const std::uint64_t time = 1000000 + random() % 900000;
        one.events = {{key(1, Metric::Visits), 1}, {key(1, Metric::Time), time}};
        std::uint64_t direct[metric_count] = {};
        std::uint64_t by_category[static_cast<std::size_t>(TimeCategory::Count)] = {};
        direct[static_cast<std::size_t>(Metric::Visits)] = 1;
        by_category[static_cast<std::size_t>(TimeCategory::MpiColl)] = time;
        by_category[static_cast<std::size_t>(TimeCategory::Compute)] = random() % 100000;
        derive_catalogue(direct, by_category, one.condensed.data());
        one.wall = one.condensed[static_cast<std::size_t>(CatalogueId::Total)];
        feed(series, one);
    }
    EXPECT_EQ(series.accuracy(0).sum, 0u);
    const tools::SeriesData data = series_data_of(series);
    std::size_t bytes = 0;
    for (const tools::SeriesData::Chunk& chunk : data.chunks) bytes += chunk.cells.size();
    EXPECT_LT(bytes, 512u / 4);
    tools::SeriesReader reader(data);
    for (const Iteration& want : fed_) {
        ASSERT_TRUE(reader.next());
        std::vector<std::uint64_t> got;
        reader.for_each_cell([&](std::size_t, std::uint64_t value) { got.push_back(value); });
        EXPECT_EQ(got, (std::vector<std::uint64_t>{1, want.events.at(key(1, Metric::Time))}));
    }
}

/// The bound is a share of the largest value, which says nothing about all others.
TEST_F(TimeSeriesTest, WhereIterationsAreAlikeTimesAreOffByLessThanTheyDifferByThoughOneIsLarge) {
    TimeSeries series(arena_, pool_, {});
    std::mt19937_64 random(22);
    constexpr std::uint64_t noise = 400;
    double differs = 0, cells = 0;
    for (int i = 0; i < 1000; ++i) {
        Iteration one;
        std::uint64_t direct[metric_count] = {};
        std::uint64_t by_category[static_cast<std::size_t>(TimeCategory::Count)] = {};
        for (std::uint32_t p = 1; p <= 12; ++p) {
            const std::uint64_t off = random() % noise;
            const std::uint64_t time = p * 3000 + off + (i == 300 && p == 3 ? 1000000000 : 0);
            one.events[key(p, Metric::Visits)] = 1;
            one.events[key(p, Metric::Time)] = time;
            ++direct[static_cast<std::size_t>(Metric::Visits)];
            by_category[static_cast<std::size_t>(TimeCategory::MpiP2p)] += time;
            differs += std::abs(static_cast<double>(off) - noise / 2.0);
            ++cells;
        }
        derive_catalogue(direct, by_category, one.condensed.data());
        one.wall = one.condensed[static_cast<std::size_t>(CatalogueId::Total)];
        feed(series, one);
    }
    const double off = static_cast<double>(series.accuracy(0).sum) / cells;
    std::printf("off by %.1f ns, different by %.1f ns, %.2f bytes an iteration\n", off, differs / cells,
                static_cast<double>(series_data_of(series).bytes()) / 1000);
    EXPECT_LT(off, differs / cells / 2);
    EXPECT_LT(series.accuracy(0).largest, 2500000u);
    std::size_t bytes = 0;
    for (const tools::SeriesData::Chunk& chunk : series_data_of(series).chunks) bytes += chunk.cells.size();
    EXPECT_LT(static_cast<double>(bytes), cells * 4 / 8) << "more than four bits a time";
}

TEST_F(TimeSeriesTest, ThinsOutEvenlyWhenMemoryEndsAndWholeIterationsLast) {
    TimeSeries series(arena_, pool_, {true, 2500, 0, 100000});
    Stream stream(6);
    for (int i = 0; i < 256 * 40 + 17; ++i) feed(series, stream.next(30, 3));
    const tools::SeriesData data = series_data_of(series);
    EXPECT_EQ(data.iterations(), fed_.size());
    EXPECT_LT(series.memory(), 100000u + 60000u);
    std::size_t last = 0, widest = 0, with_totals = 0;
    for (std::size_t i = 0; i < data.chunks.size(); ++i) {
        with_totals += data.chunks[i].has_totals ? 1 : 0;
        if (data.chunks[i].has_totals) {
            widest = std::max(widest, i - last);
            last = i;
        }
    }
    EXPECT_GT(with_totals, data.chunks.size() / 8);
    EXPECT_LE(widest, 8u);
    tools::SeriesReader reader(data);
    for (const Iteration& want : fed_) {
        ASSERT_TRUE(reader.next());
        if (reader.has_totals()) {
            ASSERT_EQ(reader.wall_ns(), want.wall);
        }
    }
}

TEST_F(TimeSeriesTest, TimesBecomeCoarserBeforeIterationsAreLost) {
    const auto chunks_with_cells = [this](bool may_coarsen, double& error) {
        TimeSeries series(arena_, pool_, {true, 2500, 0, 150000, may_coarsen});
        Stream stream(6);
        for (int i = 0; i < 256 * 30; ++i) feed(series, stream.next(30, 3));
        const SeriesAccuracyRecord& time = series.accuracy(static_cast<std::size_t>(Metric::Time));
        error = static_cast<double>(time.largest) / static_cast<double>(time.largest_value);
        std::size_t count = 0;
        for (std::size_t i = 0; i < series.chunk_count(); ++i) count += series.chunk(i).has_cells ? 1 : 0;
        return count;
    };
    double error = 0;
    const std::size_t without = chunks_with_cells(false, error);
    EXPECT_LE(error, 0.0025);
    const std::size_t with = chunks_with_cells(true, error);
    EXPECT_GT(error, 0.0025);
    EXPECT_LE(error, 0.04);
    EXPECT_GE(with, without);
    std::printf("chunks with call paths: %zu, with coarser times %zu\n", without, with);
}

TEST_F(TimeSeriesTest, SeveralSeriesShareWhatSeriesMayHave) {
    memory_quota.limit(memory_quota.used() + (std::uint64_t{8} << 20));
    const std::uint64_t before = memory_quota.series();
    {
        TimeSeries a(arena_, pool_, {});
        TimeSeries b(arena_, pool_, {});
        Stream stream(16);
        for (int i = 0; i < 20000; ++i) {
            const Iteration iteration = stream.next(30, 3);
            feed(i % 4 == 0 ? a : b, iteration);
            fed_.clear();
        }
        EXPECT_EQ(a.iterations() + b.iterations(), 20000u);
        EXPECT_GT(memory_quota.series(), before);
        EXPECT_LE(memory_quota.series(), memory_quota.series_share() * 5 / 4);
    }
    EXPECT_EQ(memory_quota.series(), before);
}

TEST_F(TimeSeriesTest, UnknownIterationsKeepTheirPlace) {
    TimeSeries series(arena_, pool_, {});
    Stream stream(7);
    for (int i = 0; i < 20; ++i) {
        feed(series, stream.next(8, 2));
        series.add_unknown();
    }
    const tools::SeriesData data = series_data_of(series);
    tools::SeriesReader reader(data);
    for (int i = 0; i < 20; ++i) {
        ASSERT_TRUE(reader.next());
        EXPECT_EQ(reader.wall_ns(), fed_[static_cast<std::size_t>(i)].wall);
        ASSERT_TRUE(reader.next());
        EXPECT_FALSE(reader.has_totals());
    }
    EXPECT_FALSE(reader.next());
}

TEST_F(TimeSeriesTest, DamagedStreamsEndWithoutHarm) {
    TimeSeries series(arena_, pool_, {});
    Stream stream(8);
    for (int i = 0; i < 300; ++i) feed(series, stream.next(20, 3));
    std::mt19937_64 random(9);
    for (int round = 0; round < 200; ++round) {
        tools::SeriesData data = series_data_of(series);
        for (tools::SeriesData::Chunk& chunk : data.chunks)
            for (auto* bytes : {&chunk.totals, &chunk.cells}) {
                if (round % 2 == 0) bytes->resize(random() % (bytes->size() + 1));
                for (int k = 0; k < 5 && !bytes->empty(); ++k) (*bytes)[random() % bytes->size()] ^= static_cast<unsigned char>(random());
            }
        tools::SeriesReader reader(data);
        std::size_t iterations = 0;
        while (reader.next()) ++iterations;
        EXPECT_EQ(iterations, 300u);
    }
}

} // namespace libprofile
