#include "libprofile/phases/phase.hpp"

namespace libprofile {

void Phase::close_interval(CallTree& tree, Arena& arena) noexcept {
    const std::uint64_t compute = compute_ns(), off_cpu = off_cpu_ns();
    if (const std::uint64_t rest = compute - outside.sampled_ns; rest != 0) rows.row(tree.not_sampled(), tree, arena)[Metric::Time] += rest;
    if (off_cpu != 0) rows.row(tree.off_cpu(), tree, arena)[Metric::Time] += off_cpu;
    for (std::size_t i = 0; i < most_counters; ++i)
        if (outside.counted[i] != 0) rows.row(tree.not_sampled(), tree, arena).counter(i) += outside.counted[i];
    outside = {};
}

} // namespace libprofile
