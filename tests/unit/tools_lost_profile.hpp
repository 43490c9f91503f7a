// The profile file of a LostRun: call paths with samples, clusters of iterations, the time series, and worker threads.
// Contract: for tests; one thread; allocates freely.
//
// Samples are drawn at 200 per second of computing. Iterations are clustered by their calls and bytes, and by computing time in steps of 1 %.
#pragma once

#include "tests/unit/tools_lost_run.hpp"
#include "tests/unit/tools_read_one.hpp"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace libprofile::test {

class LostProfile {
  public:
    explicit LostProfile(const LostRun& run) : run_(run), builder_(run.ranks()), random_(99) {
        builder_.job(run.ranks(), "./lost_time");
        builder_.metrics();
        for (std::size_t r = 0; r < run.ranks(); ++r) add_rank(static_cast<std::uint32_t>(r));
        builder_.end();
    }

    tools::Profile read() const {
        tools::Profile profile = read_one(builder_.bytes());
        for (tools::Site& site : profile.sites) {
            site.name.function = names[site.offset / 0x1000];
            site.name.file = "/src/lost_time.c";
            site.name.line = site.offset / 0x100;
        }
        return profile;
    }

  private:
    static constexpr const char* names[] = {"", "main", "assemble", "solve", "update", "refine", "prepare", "write_results", "write", "kernel"};
    static constexpr double sample_ns = 5e6;
    // Nodes of the tree.
    static constexpr std::uint64_t main_node = 1, region_node = 2, write_node = 9, off_node = 10, not_sampled = 11, first_mpi = 12, barrier_node = 19,
                                   idle_node = 20, first_kernel = 21; // below assemble, solve, update, refine

    static std::uint64_t node_of(Work work) {
        if (work == Work::Write) return write_node;
        if (work == Work::OffCpu) return off_node;
        if (work >= Work::FileWrite) return first_mpi + static_cast<std::uint64_t>(work) - static_cast<std::uint64_t>(Work::FileWrite);
        return 3 + static_cast<std::uint64_t>(work); // assemble, solve, update, refine, prepare
    }
    static CatalogueId row_of(Work work) {
        return work == Work::FileWrite                          ? CatalogueId::MpiFileIo
               : work == Work::Pack                             ? CatalogueId::Mpi
               : work == Work::Bcast || work == Work::Allreduce ? CatalogueId::MpiCollective
                                                                : CatalogueId::MpiPointToPoint;
    }

    void add_tree(std::uint32_t rank, std::uint64_t thread, double wall) {
        const std::uint64_t in = run_.has_threads() ? region_node : main_node;
        std::vector<BuiltNode> nodes = {{0, NodeKind::Frame, 0, 0x1000}, {1, NodeKind::OpenMp, 20, 0}};
        for (std::uint64_t f = 2; f <= 5; ++f) nodes.push_back({in, NodeKind::Frame, 0, f * 0x1000});
        nodes.push_back({1, NodeKind::Frame, 0, 0x6000});
        nodes.push_back({1, NodeKind::Frame, 0, 0x7000});
        nodes.push_back({8, NodeKind::Frame, 1, 0x8000});
        nodes.push_back({run_.has("io_placed") ? 8u : 1u, NodeKind::OffCpu, 0, 0});
        nodes.push_back({0, NodeKind::NotSampled, 0, 0});
        for (std::uint64_t m = 0; m < std::size(mpi_work); ++m)
            nodes.push_back({mpi_work[m] == Work::FileWrite ? 8u : mpi_work[m] == Work::Pack ? node_of(Work::Refine) : 1u, NodeKind::Mpi, 1 + m, 0});
        nodes.push_back({region_node, NodeKind::OpenMp, 21, 0});
        nodes.push_back({main_node, NodeKind::OpenMp, 22, 0});
        for (const Work work : {Work::Assemble, Work::Solve, Work::Update, Work::Refine}) nodes.push_back({node_of(work), NodeKind::Frame, 0, 0x9000});
        builder_.tree(rank, thread, static_cast<std::uint64_t>(wall), nodes);
    }

    /// Computing by function, shared out by samples.
    void add_computing(std::vector<BuiltCell>& cells, const std::vector<std::pair<std::uint64_t, double>>& ns) {
        double all = 0;
        std::uint64_t samples = 0;
        for (const auto& [node, time] : ns) {
            all += time;
            const std::uint64_t hits = time <= 0 ? 0 : std::poisson_distribution<std::uint64_t>(time / sample_ns)(random_);
            samples += hits;
            const bool has_kernel = run_.has_kernel() && node >= node_of(Work::Assemble) && node <= node_of(Work::Refine);
            const std::uint64_t in_kernel = has_kernel ? std::binomial_distribution<std::uint64_t>(hits, 0.8)(random_) : 0;
            add_hits(cells, node, hits - in_kernel);
            if (has_kernel) add_hits(cells, first_kernel + node - node_of(Work::Assemble), in_kernel);
        }
        cells.push_back({not_sampled, Metric::Time, static_cast<std::uint64_t>(all) - samples * static_cast<std::uint64_t>(sample_ns)});
        cells.push_back({not_sampled, Metric::Samples, samples * 25'000'000});
    }
    static void add_hits(std::vector<BuiltCell>& cells, std::uint64_t node, std::uint64_t hits) {
        if (hits == 0) return;
        cells.push_back({node, Metric::Time, hits * static_cast<std::uint64_t>(sample_ns)});
        cells.push_back({node, Metric::Samples, hits});
    }
    static void sort(std::vector<BuiltCell>& cells) {
        std::sort(cells.begin(), cells.end(), [](const BuiltCell& a, const BuiltCell& b) { return std::pair(a.node, a.metric) < std::pair(b.node, b.metric); });
    }

    std::uint64_t gathered() const { return 5'000'000 * (run_.ranks() - 1); } // bytes that the root receives
    bool is_used(Work work, std::size_t r, std::size_t i) const { return run_.at(work, r, i) > 0; }
    std::uint64_t whole(Work work, std::size_t r, std::size_t i) const { return static_cast<std::uint64_t>(run_.at(work, r, i)); }
    std::uint64_t bytes(std::size_t i) const { return static_cast<std::uint64_t>(run_.bytes(i)); }

    void add_rank(std::uint32_t rank) {
        const std::size_t n = run_.iterations();
        RankRecord record;
        record.rank = rank;
        record.pid = 1000 + rank;
        const std::string host = "node" + std::to_string(rank / std::max<std::size_t>(1, run_.ranks() / 8));
        record.host = Text(host.data(), host.size());
        record.threads = run_.has_threads() ? 2 : 1;
        record.complete = 1;
        record.rate = 200;
        builder_.rank(record);
        builder_.modules(rank, {{"BUILD-APP", "/home/user/lost_time"}, {"BUILD-LIBC", "/usr/lib/libc.so.6"}});
        builder_.functions(rank, {{1, "MPI_File_write_at", TimeCategory::MpiFile},
                                  {2, "MPI_Bcast", TimeCategory::MpiColl},
                                  {3, "MPI_Recv", TimeCategory::MpiP2p},
                                  {4, "MPI_Send", TimeCategory::MpiP2p},
                                  {5, "MPI_Sendrecv", TimeCategory::MpiP2p},
                                  {6, "MPI_Allreduce", TimeCategory::MpiColl},
                                  {7, "MPI_Pack", TimeCategory::MpiOther},
                                  {20, "omp parallel", TimeCategory::OmpOther},
                                  {21, "omp barrier", TimeCategory::OmpBarrier},
                                  {22, "omp idle", TimeCategory::OmpIdle}});
        BuiltPhase steps;
        steps.name = "step";
        steps.kind = PhaseKind::Iterations;
        steps.instances = n;
        std::map<std::pair<std::uint64_t, int>, std::uint64_t> numbers;
        std::vector<std::array<double, works>> sums;
        std::vector<std::array<std::uint64_t, works>> visits;
        std::vector<std::uint64_t> sent;
        std::vector<double> computing(n);
        for (std::size_t i = 0; i < n; ++i)
            for (const Work work : computing_work) computing[i] += run_.at(work, rank, i);
        std::vector<double> order = computing;
        std::nth_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(n / 2), order.end());
        for (std::size_t i = 0; i < n; ++i) {
            std::uint64_t structure = 0, wall = 0;
            for (const Work work : mpi_work) structure = 2 * structure + (is_used(work, rank, i) ? 1 : 0);
            structure = structure * 16 + static_cast<std::uint64_t>(std::log2(static_cast<double>(bytes(i)) / 1024) * 2);
            const int step = static_cast<int>(std::lround(std::clamp(std::log(computing[i] / order[n / 2]) / 0.01, -20.0, 40.0)));
            const auto [at, is_new] = numbers.try_emplace({structure, step}, numbers.size());
            if (is_new) {
                sums.push_back({});
                visits.push_back({});
                sent.push_back(0);
                steps.clusters.push_back({});
            }
            const std::uint64_t cluster = at->second;
            for (std::size_t w = 0; w < works; ++w) {
                const auto ns = whole(static_cast<Work>(w), rank, i);
                sums[cluster][w] += static_cast<double>(ns);
                visits[cluster][w] += ns > 0 ? 1 : 0;
                wall += ns;
            }
            sent[cluster] += bytes(i);
            ++steps.clusters[cluster].size;
            steps.cluster_of_iteration.push_back(cluster);
            steps.iteration_ns.push_back(wall);
            steps.wall_ns += wall;
        }
        steps.wall_inclusive_ns = steps.wall_ns;
        for (std::size_t c = 0; c < sums.size(); ++c) {
            std::vector<std::pair<std::uint64_t, double>> ns;
            for (const Work work : computing_work) ns.emplace_back(node_of(work), sums[c][static_cast<std::size_t>(work)]);
            std::vector<BuiltCell>& cells = steps.clusters[c].cells;
            add_computing(cells, ns);
            if (const double off = sums[c][static_cast<std::size_t>(Work::OffCpu)]; off > 0)
                cells.push_back({node_of(Work::OffCpu), Metric::Time, static_cast<std::uint64_t>(off)});
            for (const Work work : mpi_work) {
                const auto w = static_cast<std::size_t>(work);
                if (visits[c][w] == 0) continue;
                cells.push_back({node_of(work), Metric::Time, static_cast<std::uint64_t>(sums[c][w])});
                cells.push_back({node_of(work), Metric::Visits, visits[c][w]});
                if (work == Work::Allreduce) cells.push_back({node_of(work), Metric::CollExchanges, visits[c][w]});
                if (work == Work::Bcast) cells.push_back({node_of(work), is_root(rank) ? Metric::CollAsSource : Metric::CollAsDestination, visits[c][w]});
                if (work == Work::Sendrecv) {
                    cells.push_back({node_of(work), Metric::P2pSends, visits[c][w]});
                    cells.push_back({node_of(work), Metric::P2pBytesSent, sent[c]});
                }
                if (work == Work::Recv) cells.push_back({node_of(work), Metric::P2pRecvs, visits[c][w]});
                if (work == Work::Recv && run_.has("gather")) cells.push_back({node_of(work), Metric::P2pBytesReceived, visits[c][w] * gathered()});
                if (work == Work::Send) cells.push_back({node_of(work), Metric::P2pSends, visits[c][w]});
            }
            sort(cells);
        }
        const double outside_ns = 1e6;
        add_tree(rank, 0, static_cast<double>(steps.wall_ns) + outside_ns);
        BuiltPhase outside;
        outside.wall_ns = static_cast<std::uint64_t>(outside_ns);
        outside.wall_inclusive_ns = steps.wall_ns + outside.wall_ns;
        outside.rest = {{main_node, Metric::Time, outside.wall_ns}};
        builder_.phase(rank, outside);
        builder_.phase(rank, steps);
        add_series(rank);
        if (run_.has_threads()) add_worker(rank, steps.wall_ns);
        builder_.directory(rank);
    }

    bool is_root(std::uint32_t rank) const {
        for (const PlantedCause& planted : run_.planted())
            if (planted.cause == "late_root") return planted.ranks[0] == rank;
        return false;
    }

    void add_series(std::uint32_t rank) {
        BuiltSeries series;
        series.iterations = run_.iterations();
        for (const Work work : mpi_work) {
            series.visits_of.push_back(static_cast<std::uint32_t>(series.counts.size()));
            series.counts.emplace_back(node_of(work), Metric::Visits);
            series.times.push_back(node_of(work));
        }
        series.counts.emplace_back(node_of(Work::Allreduce), Metric::CollExchanges);
        series.counts.emplace_back(node_of(Work::Bcast), is_root(rank) ? Metric::CollAsSource : Metric::CollAsDestination);
        series.counts.emplace_back(node_of(Work::Sendrecv), Metric::P2pSends);
        series.counts.emplace_back(node_of(Work::Sendrecv), Metric::P2pBytesSent);
        series.counts.emplace_back(node_of(Work::Recv), Metric::P2pRecvs);
        series.counts.emplace_back(node_of(Work::Send), Metric::P2pSends);
        if (run_.has("gather")) series.counts.emplace_back(node_of(Work::Recv), Metric::P2pBytesReceived);
        series.values = [&](std::size_t i, BuiltIteration& to) {
            const auto add = [&](CatalogueId row, std::uint64_t value) {
                for (; row != CatalogueId::None; row = metric_catalogue[static_cast<std::size_t>(row)].parent)
                    to.condensed[static_cast<std::size_t>(row)] += value;
            };
            for (const Work work : computing_work) add(CatalogueId::Execution, whole(work, rank, i));
            add(CatalogueId::OffCpu, whole(Work::OffCpu, rank, i));
            std::size_t m = 0;
            for (const Work work : mpi_work) {
                const bool used = is_used(work, rank, i);
                add(row_of(work), whole(work, rank, i));
                add(CatalogueId::Visits, used ? 1 : 0);
                to.times[m] = static_cast<std::int64_t>(whole(work, rank, i));
                to.counts[m++] = used ? 1 : 0;
            }
            const auto count = [&](CatalogueId row, Work work, std::uint64_t each) {
                const std::uint64_t value = is_used(work, rank, i) ? each : 0;
                add(row, value);
                to.counts[m++] = static_cast<std::int64_t>(value);
            };
            count(CatalogueId::CollExchanges, Work::Allreduce, 1);
            count(is_root(rank) ? CatalogueId::CollAsSource : CatalogueId::CollAsDestination, Work::Bcast, 1);
            count(CatalogueId::P2pSends, Work::Sendrecv, 1);
            count(CatalogueId::P2pBytesSent, Work::Sendrecv, bytes(i));
            count(CatalogueId::P2pRecvs, Work::Recv, 1);
            count(CatalogueId::P2pSends, Work::Send, 1);
            if (run_.has("gather")) count(CatalogueId::P2pBytesReceived, Work::Recv, gathered());
            to.wall = to.condensed[static_cast<std::size_t>(CatalogueId::Total)];
        };
        builder_.series(rank, "step", series);
    }

    /// It works in the parallel region, waits in its barrier, and is idle while the main thread is in MPI.
    void add_worker(std::uint32_t rank, std::uint64_t wall) {
        double works_ns = 0, region = 0;
        for (std::size_t i = 0; i < run_.iterations(); ++i) {
            works_ns += run_.worker(rank, i);
            for (const Work work : {Work::Assemble, Work::Solve, Work::Update, Work::Refine}) region += run_.at(work, rank, i);
        }
        add_tree(rank, 1, static_cast<double>(wall));
        BuiltPhase all;
        all.thread = 1;
        all.wall_ns = all.wall_inclusive_ns = wall;
        add_computing(all.rest, {{node_of(Work::Solve), works_ns}});
        all.rest.push_back({barrier_node, Metric::Time, static_cast<std::uint64_t>(std::max(0.0, region - works_ns))});
        all.rest.push_back({idle_node, Metric::Time, wall - std::min(wall, static_cast<std::uint64_t>(std::max(region, works_ns)))});
        sort(all.rest);
        builder_.phase(rank, all);
    }

    const LostRun& run_;
    ProfileBuilder builder_;
    std::mt19937_64 random_;
};

} // namespace libprofile::test
