#include "libprofile/output/phase_blocks.hpp"

#include "libprofile/output/block_writer.hpp"
#include "libprofile/output/open_rows.hpp"

#include <bit>

namespace libprofile {

namespace {

void write_assignments(Encoder& encoder, Clusterer& clusterer, std::uint64_t iterations) {
    std::uint64_t runs = 0;
    for (std::uint32_t i = 0; i < iterations; ++i) runs += i == 0 || clusterer.cluster_of(i) != clusterer.cluster_of(i - 1) ? 1 : 0;
    encoder.number(runs);
    for (std::uint32_t i = 0; i < iterations;) {
        const std::uint32_t cluster = clusterer.cluster_of(i);
        std::uint32_t length = 1;
        while (i + length < iterations && clusterer.cluster_of(i + length) == cluster) ++length;
        encoder.number(length);
        encoder.number(cluster);
        i += length;
    }
}

/// Calls visit(node, value) for the cells of a metric in one list of the phase, by node. A list is that of a cluster; the last one is that of the
/// open rows.
template <class Visit> void for_each_cell(Phase& phase, const OpenRows& open, std::uint64_t list, std::size_t metric, Visit visit) {
    if (phase.clusterer != nullptr && list < phase.clusterer->cluster_count()) {
        const IterationProfile& sums = phase.clusterer->cluster(static_cast<std::uint32_t>(list)).sums;
        for (std::uint32_t i = 0; i < sums.size; ++i)
            if (sums.cells[i].metric() == metric) visit(sums.cells[i].node(), sums.cells[i].value);
        return;
    }
    for (std::size_t i = 0; i < open.size(); ++i)
        if (open[i].values[metric] != 0) visit(open[i].node, open[i].values[metric]);
}

std::uint64_t lists_of(const Phase& phase) { return 1 + (phase.clusterer == nullptr ? 0 : std::uint64_t{phase.clusterer->cluster_count()}); }

/// The set of metrics that have cells, one bit each.
std::uint64_t metrics_in(Phase& phase, const OpenRows& open) {
    static_assert(cell_metrics <= 64);
    std::uint64_t found = 0;
    for (std::uint64_t list = 0; list + 1 < lists_of(phase); ++list) {
        const IterationProfile& sums = phase.clusterer->cluster(static_cast<std::uint32_t>(list)).sums;
        for (std::uint32_t i = 0; i < sums.size; ++i) found |= std::uint64_t{1} << sums.cells[i].metric();
    }
    for (std::size_t i = 0; i < open.size(); ++i)
        for (std::size_t m = 0; m < cell_metrics; ++m)
            if (open[i].values[m] != 0) found |= std::uint64_t{1} << m;
    return found;
}

/// Numbers of one kind are stored together: they are similar in all lists, which helps compression.
void describe_cells(Encoder& encoder, Phase& phase, const OpenRows& open, std::size_t metric) {
    const std::uint64_t lists = lists_of(phase);
    for (std::uint64_t list = 0; list < lists; ++list) {
        std::uint64_t count = 0;
        for_each_cell(phase, open, list, metric, [&](NodeId, std::uint64_t) { ++count; });
        encoder.number(count);
    }
    for (std::uint64_t list = 0; list < lists; ++list) {
        NodeId before = 0;
        for_each_cell(phase, open, list, metric, [&](NodeId node, std::uint64_t) {
            encoder.number(node - before);
            before = node;
        });
    }
    for (std::uint64_t list = 0; list < lists; ++list) for_each_cell(phase, open, list, metric, [&](NodeId, std::uint64_t value) { encoder.number(value); });
}

/// `now`: for a running thread. The time of an unfinished iteration until now counts for the phase; its values are in the rest.
void describe_phase(Encoder& encoder, PhaseRecord record, Phase& phase, std::uint64_t now) {
    Clusterer* clusterer = phase.clusterer;
    record.name = phase.name;
    record.kind = static_cast<std::uint64_t>(phase.kind);
    record.instances = phase.kind == PhaseKind::Iterations ? iterations_of(phase) : phase.instances;
    record.wall_ns = phase.wall_ns;
    record.wall_inclusive_ns = phase.wall_inclusive_ns + (now != 0 && phase.open ? now - phase.opened_at : 0);
    if (clusterer != nullptr) {
        record.equivalence = static_cast<std::uint64_t>(clusterer->equivalence());
        record.relaxed = clusterer->relaxations();
        record.classes = clusterer->class_count();
        record.clusters = clusterer->cluster_count();
        record.unclustered = clusterer->unclustered();
    }
    describe(encoder, record);
    for (std::uint32_t i = 0; i < record.clusters; ++i) {
        ClusterRecord out{clusterer->cluster(i).members, clusterer->cluster(i).equivalence_class};
        describe(encoder, out);
    }
    if (phase.kind != PhaseKind::Iterations) return;
    if (clusterer != nullptr)
        write_assignments(encoder, *clusterer, record.instances);
    else
        encoder.number(0);
    std::uint64_t previous = 0;
    phase.iteration_walls.for_each(record.instances, [&](std::uint64_t wall) {
        encoder.signed_number(static_cast<std::int64_t>(wall - previous));
        previous = wall;
    });
}

} // namespace

std::uint64_t iterations_of(const Phase& phase) noexcept {
    if (phase.clusterer == nullptr) return 0;
    const std::uint64_t clustered = phase.clusterer->iterations();
    return clustered < phase.iteration_walls.size() ? clustered : phase.iteration_walls.size();
}

std::uint64_t time_of(Phase& phase, NodeId node) noexcept {
    const std::uint32_t key = Cell::make_key(node, static_cast<std::size_t>(Metric::Time));
    const auto in = [key](const IterationProfile& profile) {
        for (std::uint32_t i = 0; i < profile.size; ++i)
            if (profile.cells[i].key == key) return profile.cells[i].value;
        return std::uint64_t{0};
    };
    const Row* open = phase.rows.find(node);
    std::uint64_t sum = open == nullptr ? 0 : (*open)[Metric::Time];
    for (std::uint32_t i = 0; phase.clusterer != nullptr && i < phase.clusterer->cluster_count(); ++i) sum += in(phase.clusterer->cluster(i).sums);
    return sum;
}

bool write_phase(BlockBuffer& buffer, std::uint32_t rank, const Thread& thread, std::uint32_t number, Phase& phase, std::uint64_t now) noexcept {
    OpenRows open;
    if (!open.sort(phase.rows)) return false;
    std::uint64_t metrics = metrics_in(phase, open); // a set
    PhaseRecord record;
    record.thread = thread.index;
    record.number = number;
    record.metrics = static_cast<std::uint64_t>(std::popcount(metrics));
    bool ok = write_block(buffer, {BlockType::Phase, rank, thread.index, std::uint64_t{number} + 1},
                          [&](Encoder& encoder) { describe_phase(encoder, record, phase, now); });
    for (; ok && metrics != 0; metrics &= metrics - 1) {
        const auto metric = static_cast<std::uint64_t>(std::countr_zero(metrics));
        ok = write_block(buffer, {BlockType::Cells, rank, thread.index, std::uint64_t{number} + 1, metric + 1}, [&](Encoder& encoder) {
            CellsRecord cells{thread.index, number, metric, lists_of(phase)};
            describe(encoder, cells);
            describe_cells(encoder, phase, open, metric);
        });
    }
    return ok;
}

} // namespace libprofile
