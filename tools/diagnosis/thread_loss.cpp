#include "tools/diagnosis/thread_loss.hpp"

#include "tools/analysis/teams.hpp"
#include "tools/analysis/totals.hpp"

#include <algorithm>
#include <map>

namespace libprofile::tools {

std::vector<ThreadLoss> thread_losses(const Profile& profile, double least_sum) {
    std::vector<ThreadLoss> losses;
    std::map<std::uint32_t, std::size_t> threads_of_rank;
    for (const TeamRegion& region : team_regions(profile)) {
        ThreadLoss worst{Cause::UnequalThreads, {}, 0, 0, region.path, region.function, region.source, region.caller, 0, 0, 0, 0};
        for (const Team& team : region.teams) {
            const auto longest = std::max_element(team.threads.begin(), team.threads.end(),
                                                  [](const TeamThread& a, const TeamThread& b) { return a.working_ns < b.working_ns; });
            const double mean = static_cast<double>(team.working_ns()) / static_cast<double>(team.threads.size());
            std::size_t& threads = threads_of_rank[team.rank];
            threads = std::max(threads, team.threads.size());
            // Threads may take turns, so their sums say less than what they waited; a thread that waited least was the last one to come.
            const double gain = std::max(0.0, static_cast<double>(longest->working_ns) - mean);
            if (gain <= worst.gain.value) continue;
            worst.gain = {gain, 0.5 * gain, static_cast<double>(team.waiting_ns()) / static_cast<double>(team.threads.size())};
            worst.gain.high = std::max(worst.gain.high, gain);
            worst.rank = team.rank;
            worst.threads = team.threads.size();
            worst.busiest = longest->thread;
            worst.busiest_ns = static_cast<double>(longest->working_ns);
            worst.mean_ns = mean;
        }
        if (worst.gain.value >= least_sum) losses.push_back(std::move(worst));
    }
    // What the main thread does alone.
    ThreadLoss serial{Cause::SerialThreads, {}, 0, 0, 0, "", "", "", 0, 0, 0, 0};
    for (const Location* worker : worker_threads(profile)) {
        const double idle = static_cast<double>(totals(profile, *worker)[static_cast<std::size_t>(CatalogueId::OmpIdle)]);
        const auto team = threads_of_rank.find(worker->rank);
        if (team == threads_of_rank.end() || idle <= serial.idle_ns) continue;
        serial.idle_ns = idle;
        serial.rank = worker->rank;
        serial.threads = team->second;
    }
    if (serial.threads > 1) {
        const double all = serial.idle_ns * (1 - 1 / static_cast<double>(serial.threads));
        serial.gain = {all, 0, all}; // as far as it can be divided up
        if (all >= 3 * least_sum) losses.push_back(serial);
    }
    std::stable_sort(losses.begin(), losses.end(), [](const ThreadLoss& a, const ThreadLoss& b) { return a.gain.value > b.gain.value; });
    return losses;
}

} // namespace libprofile::tools
