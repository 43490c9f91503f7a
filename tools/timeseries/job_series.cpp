#include "tools/timeseries/job_series.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace libprofile::tools {

namespace {

using LoopsOfThread = std::map<ContextId, LoopTotals>;

LoopsOfThread totals_of(const std::vector<LoopRun>& runs) {
    LoopsOfThread totals;
    for (const LoopRun& run : runs) {
        LoopTotals& loop = totals[run.context];
        loop.context = run.context;
        loop.threads = 1;
        ++loop.runs;
        loop.profiles += run.found.is_profile;
        loop.accepted += run.found.accepted;
        loop.rejected += run.found.rejected;
        loop.duration += run.duration;
    }
    return totals;
}

std::vector<LoopTotals> all_totals(const std::vector<LoopsOfThread>& threads) {
    LoopsOfThread sums;
    for (const LoopsOfThread& thread : threads)
        for (const auto& [context, loop] : thread) {
            LoopTotals& sum = sums[context];
            sum.context = context;
            ++sum.threads;
            sum.runs += loop.runs;
            sum.profiles += loop.profiles;
            sum.accepted += loop.accepted;
            sum.rejected += loop.rejected;
            sum.duration += loop.duration;
        }
    std::vector<LoopTotals> sorted;
    for (const auto& [context, sum] : sums) sorted.push_back(sum);
    std::stable_sort(sorted.begin(), sorted.end(), [](const LoopTotals& a, const LoopTotals& b) { return a.duration > b.duration; });
    return sorted;
}

} // namespace

JobSeries job_series(const SeriesInput& input, const TimeSeriesParameters& parameters) {
    JobSeries job{Contexts(input.profile, input.loops), {}, 0, {}, {}, {}, 0, 0, {}};
    for (const Location* thread : input.threads) {
        if (thread->trace.samples.empty()) continue;
        job.threads.push_back(thread);
        for (const TraceSample& sample : thread->trace.samples) {
            job.contexts.of_sample(sample.path);
            job.unknown_ancestors += sample.lca_kind == LcaKind::Unknown;
        }
        for (const TraceWait& wait : thread->trace.waits) job.contexts.of_sample(wait.path);
        --job.unknown_ancestors; // the first has no sample before it
        job.samples += thread->trace.samples.size();
        job.period = std::max(job.period, sampling_period(thread->trace));
        job.known.push_back(input.known ? KnownLoops(job.contexts, thread->trace, input.known(*thread)) : KnownLoops());
    }
    const FlowOrder order(job.contexts, input.loops);
    const Clustering clustering(order, job.period, parameters);
    std::vector<LoopsOfThread> loops(job.threads.size());
    job.clusters = clustering(
        job.threads.size(),
        [&](std::size_t i) {
            ThreadTree tree = thread_tree(job.threads[i]->trace, job.contexts, job.known[i], order, parameters);
            loops[i] = totals_of(tree.loops);
            return std::move(tree.root);
        },
        MergeOf::Threads);
    job.mean = clustering.mean_of(job.clusters);
    job.loops = all_totals(loops);
    return job;
}

} // namespace libprofile::tools
