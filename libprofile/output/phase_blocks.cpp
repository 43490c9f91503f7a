#include "libprofile/output/phase_blocks.hpp"

#include "libprofile/output/block_writer.hpp"

namespace libprofile {

namespace {

void write_cell(Encoder& encoder, NodeId node, NodeId& previous, std::uint64_t metric, std::uint64_t value) {
    CellRecord record{node - previous, metric, value};
    describe(encoder, record);
    previous = node;
}

void write_cells(Encoder& encoder, const IterationProfile& profile) {
    NodeId previous = 0;
    for (std::uint32_t i = 0; i < profile.size; ++i)
        write_cell(encoder, profile.cells[i].node(), previous, profile.cells[i].metric(), profile.cells[i].value);
}

void write_assignments(Encoder& encoder, Clusterer& clusterer, std::uint64_t iterations) {
    std::uint64_t runs = 0;
    for (std::uint32_t i = 0; i < iterations; ++i)
        runs += i == 0 || clusterer.cluster_of(i) != clusterer.cluster_of(i - 1) ? 1 : 0;
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

/// The open rows of a phase in the order of the file, without memory of our own: it may just have run out.
template <class Visit> void for_each_open_cell(Phase& phase, const CallTree& tree, Visit visit) {
    for (NodeId node = 0; node < tree.size(); ++node) {
        const Row* row = phase.rows.find(node);
        for (std::size_t m = 0; row != nullptr && m < metric_count; ++m)
            if (row->values[m] != 0) visit(node, m, row->values[m]);
    }
}

void write_rest(Encoder& encoder, Phase& phase, const CallTree& tree) {
    std::uint64_t count = 0;
    for_each_open_cell(phase, tree, [&](NodeId, std::size_t, std::uint64_t) { ++count; });
    encoder.number(count);
    NodeId previous = 0;
    for_each_open_cell(phase, tree, [&](NodeId node, std::size_t metric, std::uint64_t value) {
        write_cell(encoder, node, previous, metric, value);
    });
}

/// `now`: of a thread that runs. Of an iteration that is not over the time until now counts for the phase; its values are in
/// the rest.
void describe_phase(Encoder& encoder, const Thread& thread, Phase& phase, std::uint64_t now) {
    Clusterer* clusterer = phase.clusterer;
    PhaseRecord record;
    record.thread = thread.index;
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
        const Cluster& cluster = clusterer->cluster(i);
        ClusterRecord out{cluster.members, cluster.equivalence_class, cluster.sums.size};
        describe(encoder, out);
        write_cells(encoder, cluster.sums);
    }
    write_rest(encoder, phase, thread.tree);
    if (phase.kind != PhaseKind::Iterations) return;
    if (clusterer != nullptr)
        write_assignments(encoder, *clusterer, record.instances);
    else
        encoder.number(0);
    std::uint64_t previous = 0;
    for (std::uint64_t i = 0; i < record.instances; ++i) {
        const std::uint64_t wall = phase.iteration_wall_ns[i];
        encoder.signed_number(static_cast<std::int64_t>(wall - previous));
        previous = wall;
    }
}

} // namespace

std::uint64_t iterations_of(const Phase& phase) noexcept {
    if (phase.clusterer == nullptr) return 0;
    const std::uint64_t clustered = phase.clusterer->iterations();
    return clustered < phase.iteration_wall_ns.size() ? clustered : phase.iteration_wall_ns.size();
}

std::uint64_t overhead_of(Phase& phase, NodeId overhead) noexcept {
    const std::uint32_t key = Cell::make_key(overhead, static_cast<std::size_t>(Metric::Time));
    const auto in = [key](const IterationProfile& profile) {
        for (std::uint32_t i = 0; i < profile.size; ++i)
            if (profile.cells[i].key == key) return profile.cells[i].value;
        return std::uint64_t{0};
    };
    const Row* open = phase.rows.find(overhead);
    std::uint64_t sum = open == nullptr ? 0 : (*open)[Metric::Time];
    for (std::uint32_t i = 0; phase.clusterer != nullptr && i < phase.clusterer->cluster_count(); ++i)
        sum += in(phase.clusterer->cluster(i).sums);
    return sum;
}

bool write_phase(ByteBuffer& buffer, std::uint32_t rank, const Thread& thread, Phase& phase, std::uint64_t now) noexcept {
    return write_block(buffer, BlockType::Phase, rank,
                       [&](Encoder& encoder) { describe_phase(encoder, thread, phase, now); });
}

} // namespace libprofile
