#include "libprofile/output/rank_block.hpp"

#include "format/own_share.hpp"
#include "format/sampling_rate.hpp"
#include "libprofile/base/process.hpp"
#include "libprofile/base/process_state.hpp"
#include "libprofile/loops/loop_watch.hpp"
#include "libprofile/output/live_file.hpp"
#include "libprofile/output/phase_blocks.hpp"

#include <unistd.h>

namespace libprofile {

namespace {

/// Samples per second: those that were asked for, or those that were taken, which stand for `weighed_ns`.
std::uint64_t rate_of(std::uint64_t taken, std::uint64_t weighed_ns) {
    const std::int64_t period = process.config().number(Option::Sample);
    if (period != automatic_period) return samples_per_second(period);
    return samples_per_second(static_cast<std::int64_t>(taken == 0 ? SampleRate::shortest_automatic : weighed_ns / taken));
}

} // namespace

RankRecord describe_rank(bool complete, RankSummary& summary, RunningThread running) noexcept {
    RankRecord record;
    record.rank = static_cast<std::uint64_t>(process.job().rank);
    record.pid = static_cast<std::uint64_t>(getpid());
    record.host = process.job().host;
    record.complete = complete ? 1 : 0;
    record.clock = static_cast<std::uint64_t>(session_clock.source());
    record.threads_lost = thread_registry.lost();
    record.memory_used = memory_quota.used();
    record.memory_peak = summary.memory_peak = memory_quota.peak() + LiveFile::mapped_peak();
    record.memory_quota = memory_quota.limit();
    record.checkpoint = running.thread == nullptr ? 0 : 1;
    if (running.thread != nullptr) record.threads_running = thread_registry.choose_for_checkpoint() - 1;
    std::uint64_t weighed_ns = 0;
    for_each_location(running, [&](Thread& thread, std::uint64_t end) {
        weighed_ns += thread.clock.weighed_ns;
        ++record.threads;
        record.samples_taken += thread.samples_taken;
        record.samples_lost += thread.samples_lost;
        for (std::size_t i = 0; i < skip_reason_count; ++i) record.skipped[i] += thread.skipped[i];
        record.clocks_lost += thread.clock.was_lost ? 1 : 0;
        record.partial_paths += thread.tree.partial_paths();
        record.quota_losses += thread.tree.quota_hits() + thread.phases.losses();
        record.nesting_repairs += thread.phases.repairs().count();
        record.requests_lost += thread.requests_lost;
        record.operations_lost += thread.operations_lost;
        for (std::size_t i = 0; i < path_count_count; ++i) record.path_counts[i] += thread.paths.count_of(static_cast<PathCount>(i));
        record.path_counts[static_cast<std::size_t>(PathCount::Repeated)] += thread.paths_repeated;
        if (thread.index != 0) return;
        record.sampling_clock = static_cast<std::uint64_t>(thread.clock.kind);
        summary.wall_ns = end - thread.started_at;
        std::uint64_t longest = 0, not_recorded_ns = 0;
        for (std::size_t i = 0; i < thread.phases.all().size(); ++i) {
            Phase& phase = thread.phases.all()[i];
            summary.overhead_ns += time_of(phase, thread.tree.overhead());
            not_recorded_ns += time_of(phase, thread.tree.not_recorded());
            if (iterations_of(phase) == 0 || phase.wall_inclusive_ns <= longest) continue;
            if (thread.loops != nullptr && thread.loops->is_frame(thread.phases, phase)) continue;
            longest = phase.wall_inclusive_ns;
            summary.phase = phase.name;
            summary.iterations = iterations_of(phase);
            summary.clusters = phase.clusterer->cluster_count();
        }
        summary.partly_seen = not_recorded_ns != 0 || thread.regions != nullptr || thread.openmp.has_constructs() ? 1 : 0;
    });
    record.rate = rate_of(record.samples_taken, weighed_ns);
    summary.sampled_ns = sampled_time(record.samples_taken + record.samples_lost, record.rate, UINT64_MAX);
    summary.samples_taken = record.samples_taken;
    summary.samples_lost = record.samples_lost;
    summary.samples_inside = record.skipped[static_cast<std::size_t>(SkipReason::InTool)];
    summary.repairs = record.nesting_repairs;
    summary.quota_losses = record.quota_losses;
    summary.paths_wrong = record.path_counts[static_cast<std::size_t>(PathCount::Wrong)];
    return record;
}

} // namespace libprofile
