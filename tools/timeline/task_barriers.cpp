#include "tools/timeline/task_barriers.hpp"

#include <algorithm>
#include <tuple>

namespace libprofile::tools {

namespace {

struct BarrierWait {
    std::uint32_t region = TaskRecords::none;
    std::uint64_t begin_ns = 0, end_ns = 0;
    std::uint32_t thread = 0;
    std::uint32_t wait = 0;

    auto key() const { return std::tie(region, begin_ns, end_ns, thread, wait); }
};

/// Those of implicit tasks.
std::vector<BarrierWait> barrier_waits(const TaskRecords& records, const TaskPieces& pieces) {
    std::vector<BarrierWait> list;
    for (std::uint32_t w = 0; w < records.waits.size(); ++w) {
        const TaskRecords::Wait& wait = records.waits[w];
        const std::uint32_t task = pieces.waiting[w];
        if (wait.kind != TaskRecords::WaitKind::Barrier || task == TaskRecords::none || task < records.tasks.size()) continue;
        list.push_back({pieces.implicits[task - records.tasks.size()].region, wait.begin_ns, wait.end_ns, wait.thread, w});
    }
    std::sort(list.begin(), list.end(), [](const BarrierWait& a, const BarrierWait& b) { return a.key() < b.key(); });
    return list;
}

} // namespace

TaskBarriers task_barriers(const TaskRecords& records, const TaskPieces& pieces) {
    TaskBarriers out;
    out.of_wait.assign(records.waits.size(), TaskRecords::none);
    std::vector<std::uint32_t> last(records.threads.size(), TaskRecords::none); // by thread: its last barrier
    for (const BarrierWait& wait : barrier_waits(records, pieces)) {
        const bool is_same = !out.barriers.empty() && out.barriers.back().region == wait.region && wait.begin_ns < out.barriers.back().release_ns &&
                             last[wait.thread] != out.barriers.size() - 1;
        if (!is_same) out.barriers.push_back({wait.region, wait.end_ns});
        out.barriers.back().release_ns = std::min(out.barriers.back().release_ns, wait.end_ns);
        last[wait.thread] = out.of_wait[wait.wait] = static_cast<std::uint32_t>(out.barriers.size() - 1);
    }
    // Later barriers are released later, whatever was recorded.
    for (std::size_t b = 1; b < out.barriers.size(); ++b)
        if (out.barriers[b].region == out.barriers[b - 1].region)
            out.barriers[b].release_ns = std::max(out.barriers[b].release_ns, out.barriers[b - 1].release_ns);
    return out;
}

std::uint32_t TaskBarriers::after(std::uint32_t region, std::uint64_t created_ns) const {
    const auto at = std::partition_point(barriers.begin(), barriers.end(),
                                         [&](const Barrier& barrier) { return std::tie(barrier.region, barrier.release_ns) <= std::tie(region, created_ns); });
    return at == barriers.end() || at->region != region ? TaskRecords::none : static_cast<std::uint32_t>(at - barriers.begin());
}

} // namespace libprofile::tools
