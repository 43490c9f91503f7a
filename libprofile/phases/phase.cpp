#include "libprofile/phases/phase.hpp"

namespace libprofile {

namespace {

/// Like computing time: what no sample and no long call has been given belongs to the sampled paths by their weights.
void share_out_counted(Phase& phase, CallTree& tree, Arena& arena) noexcept {
    std::uint64_t any = 0;
    for (const std::uint64_t counted : phase.outside.counted) any |= counted;
    if (any == 0) return;
    if (!share_out_counters(phase.rows, phase.outside.counted)) {
        Row& row = phase.rows.row(tree.not_sampled(), tree, arena);
        for (std::size_t i = 0; i < most_counters; ++i)
            if (phase.outside.counted[i] != 0) row.counter(i) += phase.outside.counted[i];
    }
    for (std::uint64_t& counted : phase.outside.counted) counted = 0;
}

} // namespace

void Phase::close_interval(CallTree& tree, Arena& arena, Pool& pool) noexcept {
    share_out_counted(*this, tree, arena);
    const std::uint64_t compute = outside.cpu_ns < outside.wall_ns ? outside.cpu_ns : outside.wall_ns;
    const std::uint64_t off_cpu = outside.wall_ns - compute;
    if (compute != 0 && !share_out_compute_time(rows, compute, pool)) rows.row(tree.not_sampled(), tree, arena)[Metric::Time] += compute;
    if (off_cpu != 0) rows.row(tree.off_cpu(), tree, arena)[Metric::Time] += off_cpu;
    outside.wall_ns = outside.cpu_ns = 0;
    if (compute != 0) return; // what was shared out has no weight any more, and else there was none
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i].weight = 0;
}

} // namespace libprofile
