#include "tools/diagnosis/thread_loss.hpp"

#include "tools/analysis/teams.hpp"
#include "tools/analysis/totals.hpp"
#include "tools/diagnosis/rank_gains.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace libprofile::tools {

namespace {

/// Means of a team's threads, and the one that works most; ns.
struct TeamTimes {
    double works = 0, locks = 0;
    double barriers = 0; // beyond what they take if all come at once, and what others wait for one without a processor
    double most = 0;     // work of the busiest
    std::uint32_t busiest = 0;

    explicit TeamTimes(const Team& team) {
        constexpr double passing_ns = 5000; // a barrier: what it may take, though nobody is late
        const auto n = static_cast<double>(team.threads.size());
        double off_cpu = 0;
        for (const TeamThread& one : team.threads) {
            const double work = static_cast<double>(one.working_ns - one.locks_ns);
            works += work / n;
            locks += static_cast<double>(one.locks_ns) / n;
            barriers += std::max(0.0, static_cast<double>(one.waiting_ns) - passing_ns * static_cast<double>(one.barriers)) / n;
            off_cpu += static_cast<double>(one.off_cpu_ns);
            if (work > most) most = work, busiest = one.thread;
        }
        barriers = std::max(0.0, barriers - off_cpu * (n - 1) / n);
    }
    double waits() const { return locks + barriers; }
    double more() const { return most - works; }
    /// What a region is shorter if nobody in it waits. Of little waiting it is not known whether it has a cause.
    double gain() const {
        constexpr double least_share = 0.03;
        return std::max(more(), waits() >= least_share * (works + waits()) ? waits() : 0);
    }
};

ThreadLoss loss_in_region(const TeamRegion& region, const RankGains& ranks) {
    ThreadLoss loss;
    loss.path = region.path;
    loss.function = region.function;
    loss.source = region.source;
    loss.caller = region.caller;
    std::map<std::uint32_t, double> gains, low, waits;
    for (const Team& team : region.teams) {
        const TeamTimes times(team);
        gains[team.rank] = times.gain();
        low[team.rank] = 0.5 * times.more();
        waits[team.rank] = times.waits();
    }
    const auto [rank, gain] = ranks.of_run(gains);
    loss.rank = rank;
    loss.gain = {gain, std::min(gain, ranks.of_run(low).second), std::max(gain, ranks.of_run(waits).second)};
    for (const Team& team : region.teams) {
        if (team.rank != rank) continue;
        const TeamTimes times(team);
        loss.cause = times.locks >= 0.5 * times.gain() ? Cause::ThreadLocks : Cause::UnequalThreads;
        loss.is_in_turn = times.more() < 0.5 * times.gain();
        loss.threads = team.threads.size();
        loss.mean_ns = times.works;
        loss.wait_ns = times.waits();
        loss.busiest_ns = times.most;
        loss.busiest = times.busiest;
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
        ThreadLoss serial;
        serial.cause = Cause::SerialThreads;
        serial.gain = {gain / 2, 0, gain};
        serial.rank = rank;
        serial.threads = threads_of_rank[rank];
        serial.idle_ns = idle[rank];
        losses.push_back(std::move(serial));
    }
    std::stable_sort(losses.begin(), losses.end(), [](const ThreadLoss& a, const ThreadLoss& b) { return a.gain.value > b.gain.value; });
    return losses;
}

} // namespace libprofile::tools
