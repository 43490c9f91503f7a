#include "tools/evaluation/memory_count.hpp"

namespace libprofile::tools {

namespace {

/// Bytes of a number in the file. What a method stores is counted with all metrics of a list side by side and before compression, so
/// that figures of different versions of the file can be compared; the file itself is smaller.
std::uint64_t number_size(std::uint64_t number) {
    Encoder measure(nullptr, 0);
    measure.number(number);
    return measure.size();
}

} // namespace

CellKind kind_of_cell(const PathKinds& paths, std::uint32_t key) {
    const CellKind kind = paths[key >> libprofile::Cell::metric_bits];
    const std::uint32_t metric = key & ((1u << libprofile::Cell::metric_bits) - 1);
    // Which MPI call a timer hits is random, whatever is known about the call, and so are the counters' values at that time.
    if (kind == CellKind::Event && (metric == static_cast<std::uint32_t>(Metric::Samples) || metric >= metric_count)) return CellKind::Sampled;
    return kind;
}

void MemoryCount::add_running(CellKind kind, std::uint64_t bytes) {
    (kind == CellKind::Event ? result_.running_event_bytes : result_.running_sampled_bytes) += bytes;
}

void MemoryCount::add_stored(CellKind kind, std::uint64_t bytes) {
    (kind == CellKind::Event ? result_.stored_event_bytes : result_.stored_sampled_bytes) += bytes;
}

void MemoryCount::add_profile(std::span<const libprofile::Cell> cells, std::uint64_t members, std::uint64_t equivalence_class) {
    add_stored(CellKind::Event, number_size(members) + number_size(equivalence_class) + number_size(cells.size()));
    std::uint32_t before = 0;
    for (const libprofile::Cell& cell : cells) {
        const CellKind kind = kind_of_cell(*paths_, cell.key);
        add_running(kind, sizeof(libprofile::Cell));
        add_stored(kind, number_size(cell.node() - before) + number_size(cell.metric()) + number_size(cell.value));
        before = cell.node();
    }
}

void MemoryCount::add_membership(std::span<const std::uint32_t> cluster_of_iteration, std::uint64_t running) {
    add_running(CellKind::Event, running);
    std::uint64_t runs = 0;
    for (std::size_t i = 0; i < cluster_of_iteration.size(); ++runs) {
        const std::size_t begin = i;
        while (i < cluster_of_iteration.size() && cluster_of_iteration[i] == cluster_of_iteration[begin]) ++i;
        add_stored(CellKind::Event, number_size(i - begin) + number_size(cluster_of_iteration[begin]));
    }
    add_stored(CellKind::Event, number_size(runs));
}

void MemoryCount::add_distances(std::uint64_t clusters) { add_running(CellKind::Event, clusters * clusters * sizeof(float) / 2); }

} // namespace libprofile::tools
