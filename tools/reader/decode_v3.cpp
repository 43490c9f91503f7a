#include "tools/reader/decode_v3.hpp"

#include "tools/reader/decode_phase.hpp"
#include "tools/reader/decode_tables.hpp"

namespace libprofile::tools {

namespace {

/// The cells of all metrics, sorted by node and metric.
bool decode_mixed_cells(Decoder& d, std::uint64_t count, std::vector<Cell>& cells) {
    if (d.failed() || count > d.remaining() / 3) return false;
    cells.reserve(count);
    std::uint64_t node = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
        std::uint64_t distance = 0, metric = 0, value = 0;
        d.number(distance);
        d.number(metric);
        d.number(value);
        if (distance > max_id || metric > max_id || (node += distance) > max_id) return false;
        cells.push_back({static_cast<std::uint32_t>(node), static_cast<std::uint32_t>(metric), value});
    }
    return !d.failed();
}

} // namespace

bool decode_tree_v3(Decoder d, RawRank& out) {
    LocationRecord location;
    RawTree tree;
    d.number(tree.record.thread);
    d.number(tree.record.nodes);
    d.number(location.wall_ns);
    d.number(location.complete);
    if (tree.record.thread > max_id || !decode_nodes(d, tree) || d.remaining() != 0) return false;
    const auto thread = static_cast<std::uint32_t>(tree.record.thread);
    location.thread = thread;
    return out.tables.trees.emplace(thread, std::move(tree)).second && out.locations.emplace(thread, location).second;
}

bool decode_phase_v3(Decoder d, RawRank& out) {
    PhaseRecord r;
    d.number(r.thread);
    d.text(r.name);
    for (std::uint64_t* field : {&r.kind, &r.instances, &r.wall_ns, &r.wall_inclusive_ns, &r.equivalence, &r.relaxed, &r.classes, &r.clusters, &r.unclustered})
        d.number(*field);
    RawPhase phase;
    if (d.failed() || !take_phase_record(r, phase) || r.clusters > d.remaining() / 3) return false;
    phase.data.clusters.resize(r.clusters);
    for (Cluster& cluster : phase.data.clusters) {
        std::uint64_t cells = 0;
        d.number(cluster.size);
        d.number(cluster.equivalence_class);
        d.number(cells);
        if (!decode_mixed_cells(d, cells, cluster.cells)) return false;
    }
    std::uint64_t rest = 0;
    d.number(rest);
    if (!decode_mixed_cells(d, rest, phase.data.rest)) return false;
    if (phase.kind == PhaseKind::Iterations && !decode_iterations(d, phase.data)) return false;
    if (d.failed() || d.remaining() != 0) return false;
    out.phases.push_back(std::move(phase));
    return true;
}

std::vector<unsigned char> rank_payload_of_v3(Bytes payload) {
    std::vector<unsigned char> bytes(payload.begin(), payload.end());
    bytes.resize(bytes.size() + rank_fields_since_version_4);
    return bytes;
}

} // namespace libprofile::tools
