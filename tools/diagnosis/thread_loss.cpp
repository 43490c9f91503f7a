#include "tools/diagnosis/thread_loss.hpp"

#include "tools/analysis/teams.hpp"
#include "tools/analysis/totals.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace libprofile::tools {

namespace {

/// What each rank would gain, and how long it is without waiting for others.
class RankGains {
  public:
    explicit RankGains(const Profile& profile) {
        for (const Location* location : main_threads(profile)) {
            if (location == nullptr) continue;
            const MetricValues values = totals(profile, *location);
            const auto at = [&](CatalogueId id) { return static_cast<double>(values[static_cast<std::size_t>(id)]); };
            local_[location->rank] = at(CatalogueId::Execution) - at(CatalogueId::Mpi);
            mpi_[location->rank] = at(CatalogueId::Mpi);
        }
    }
    double mpi(std::uint32_t rank) const { return mpi_.contains(rank) ? mpi_.at(rank) : 0; }
    /// The rank with most to do, and by how much the run is shorter if each rank gains this: the others wait for it anyway.
    std::pair<std::uint32_t, double> of_run(const std::map<std::uint32_t, double>& gains) const {
        double before = 0, after = 0;
        std::uint32_t longest = 0;
        for (const auto& [rank, local] : local_) {
            const auto gain = gains.find(rank);
            if (local > before) before = local, longest = rank;
            after = std::max(after, local - (gain == gains.end() ? 0 : gain->second));
        }
        return {longest, before - after};
    }

  private:
    std::map<std::uint32_t, double> local_, mpi_;
};

ThreadLoss loss_in_region(const TeamRegion& region, const RankGains& ranks) {
    ThreadLoss loss{Cause::UnequalThreads, {}, 0, 0, region.path, region.function, region.source, region.caller, 0, 0, 0, 0};
    std::map<std::uint32_t, double> gains, waits;
    for (const Team& team : region.teams) {
        double longest = 0;
        for (const TeamThread& one : team.threads) longest = std::max(longest, static_cast<double>(one.working_ns));
        // Threads may take turns in having most, so their sums say less than what they waited.
        gains[team.rank] = longest - static_cast<double>(team.working_ns()) / static_cast<double>(team.threads.size());
        waits[team.rank] = static_cast<double>(team.waiting_ns()) / static_cast<double>(team.threads.size());
    }
    const auto [rank, gain] = ranks.of_run(gains);
    loss.rank = rank;
    loss.gain = {gain, 0.5 * gain, std::max(gain, ranks.of_run(waits).second)};
    for (const Team& team : region.teams) {
        if (team.rank != rank) continue;
        loss.threads = team.threads.size();
        loss.mean_ns = static_cast<double>(team.working_ns()) / static_cast<double>(team.threads.size());
        for (const TeamThread& one : team.threads)
            if (static_cast<double>(one.working_ns) > loss.busiest_ns) loss.busiest_ns = static_cast<double>(one.working_ns), loss.busiest = one.thread;
    }
    return loss;
}

} // namespace

std::vector<ThreadLoss> thread_losses(const Profile& profile, double least_sum) {
    std::vector<ThreadLoss> losses;
    const RankGains ranks(profile);
    std::map<std::uint32_t, std::size_t> threads_of_rank;
    for (const TeamRegion& region : team_regions(profile)) {
        for (const Team& team : region.teams) threads_of_rank[team.rank] = std::max(threads_of_rank[team.rank], team.threads.size());
        if (ThreadLoss loss = loss_in_region(region, ranks); loss.threads > 1 && loss.gain.value >= least_sum) losses.push_back(std::move(loss));
    }
    // What the main thread does alone: workers are idle, and it is not in MPI.
    std::map<std::uint32_t, double> idle, gains;
    for (const Location* worker : worker_threads(profile)) {
        const double ns = static_cast<double>(totals(profile, *worker)[static_cast<std::size_t>(CatalogueId::OmpIdle)]) - ranks.mpi(worker->rank);
        if (threads_of_rank.contains(worker->rank)) idle[worker->rank] = std::max(idle[worker->rank], ns);
    }
    for (const auto& [rank, ns] : idle) gains[rank] = ns * (1 - 1 / static_cast<double>(threads_of_rank[rank]));
    const auto [rank, gain] = ranks.of_run(gains);
    if (gain / 2 >= 3 * least_sum && threads_of_rank.contains(rank)) { // as far as the work can be divided up: half of it is a guess
        ThreadLoss serial{Cause::SerialThreads, {gain / 2, 0, gain}, rank, threads_of_rank[rank], 0, "", "", "", 0, 0, 0, 0};
        serial.idle_ns = idle[rank];
        losses.push_back(std::move(serial));
    }
    std::stable_sort(losses.begin(), losses.end(), [](const ThreadLoss& a, const ThreadLoss& b) { return a.gain.value > b.gain.value; });
    return losses;
}

} // namespace libprofile::tools
