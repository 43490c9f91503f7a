#include "tools/reader/decode_phase.hpp"

#include "format/begins.hpp"
#include "tools/reader/merge_runs.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace libprofile::tools {

namespace {

/// @param cells that belong to the phase
void join(const RawCells& cells, RawPhase& phase) {
    auto next = cells.cells.begin();
    for (std::size_t list = 0; list < cells.sizes.size(); ++list) {
        const bool is_rest = list == phase.data.clusters.size();
        std::vector<Cell>& to = is_rest ? phase.data.rest : phase.data.clusters[list].cells;
        const auto end = next + static_cast<std::ptrdiff_t>(cells.sizes[list]);
        to.insert(to.end(), next, end);
        next = end;
    }
}

void sort_cells(std::vector<Cell>& cells) {
    merge_runs(cells, [](const Cell& a, const Cell& b) { return a.path != b.path ? a.path < b.path : a.metric < b.metric; });
}

} // namespace

bool take_phase_record(const PhaseRecord& r, RawPhase& phase) {
    if (r.thread > max_id || r.number > max_id || r.kind > static_cast<std::uint64_t>(PhaseKind::Iterations) ||
        r.equivalence > static_cast<std::uint64_t>(Equivalence::Strong) || r.metrics > max_id)
        return false;
    phase.thread = static_cast<std::uint32_t>(r.thread);
    phase.number = static_cast<std::uint32_t>(r.number);
    phase.name = std::string(r.name.size == 0 ? "" : r.name.data, r.name.size);
    phase.kind = static_cast<PhaseKind>(r.kind);
    phase.metrics_expected = r.metrics;
    PhaseData& data = phase.data;
    data.instances = r.instances;
    data.wall_ns = r.wall_ns;
    data.wall_inclusive_ns = r.wall_inclusive_ns;
    data.equivalence = static_cast<Equivalence>(r.equivalence);
    data.relaxed = r.relaxed;
    data.classes = r.classes;
    data.unclustered = r.unclustered;
    return true;
}

bool decode_iterations(Decoder& d, PhaseData& data) {
    std::uint64_t runs = 0;
    d.number(runs);
    if (d.failed() || runs > d.remaining() / 2) return false;
    // Every iteration's time takes at least a byte, which bounds what the runs may expand to.
    if (data.instances > d.remaining()) return false;
    data.cluster_of_iteration.reserve(data.instances);
    for (std::uint64_t i = 0; i < runs; ++i) {
        std::uint64_t length = 0, cluster = 0;
        d.number(length);
        d.number(cluster);
        if (d.failed() || cluster > data.clusters.size() || length > data.instances - data.cluster_of_iteration.size()) return false;
        data.cluster_of_iteration.insert(data.cluster_of_iteration.end(), length, static_cast<std::uint32_t>(cluster));
    }
    if (data.cluster_of_iteration.size() != data.instances) return false;
    data.iteration_ns.reserve(data.instances);
    std::uint64_t time = 0;
    for (std::uint64_t i = 0; i < data.instances; ++i) {
        std::int64_t difference = 0;
        d.signed_number(difference);
        time += static_cast<std::uint64_t>(difference);
        data.iteration_ns.push_back(time);
    }
    return !d.failed();
}

bool decode_phase(Decoder d, RawRank& out) {
    PhaseRecord r;
    describe(d, r);
    RawPhase phase;
    if (d.failed() || !take_phase_record(r, phase) || r.clusters > d.remaining() / 2) return false;
    phase.data.clusters.resize(r.clusters);
    for (Cluster& cluster : phase.data.clusters) {
        ClusterRecord c;
        describe(d, c);
        cluster.size = c.size;
        cluster.equivalence_class = c.equivalence_class;
    }
    if (phase.kind == PhaseKind::Iterations && !decode_iterations(d, phase.data)) return false;
    if (d.failed() || d.remaining() != 0) return false;
    out.phases.push_back(std::move(phase));
    return true;
}

bool decode_inside(Decoder d, RawRank& out) {
    InsideRecord r;
    describe(d, r);
    if (d.failed() || r.thread > max_id || r.phase > max_id || r.iterations > d.remaining() / 5) return false;
    RawInside inside;
    inside.thread = static_cast<std::uint32_t>(r.thread);
    inside.phase = static_cast<std::uint32_t>(r.phase);
    inside.data.known = r.known;
    std::uint64_t iteration = 0;
    for (std::uint64_t i = 0; i < r.iterations; ++i, ++iteration) {
        std::uint64_t left_out = 0, phases = 0;
        d.number(left_out);
        d.number(phases);
        if (d.failed() || left_out >= max_id || phases > d.remaining() / 3) return false;
        iteration += left_out;
        for (std::uint64_t p = 0; p < phases; ++p) {
            std::uint64_t phase = 0;
            InsideData::Entry entry{iteration};
            d.number(phase);
            d.number(entry.count);
            d.number(entry.first); // or its time: unify() knows which
            if (d.failed() || phase > max_id) return false;
            entry.phase = static_cast<std::uint32_t>(phase);
            inside.data.entries.push_back(entry);
        }
    }
    if (d.failed() || d.remaining() != 0) return false;
    out.insides.push_back(std::move(inside));
    return true;
}

bool decode_begins(Decoder d, RawRank& out) {
    BeginsRecord r;
    Text gaps;
    describe(d, r);
    d.text(gaps);
    if (d.failed() || d.remaining() != 0 || r.thread > max_id || r.phase > max_id || gaps.size % GapCode::bytes != 0) return false;
    RawBegins begins{static_cast<std::uint32_t>(r.thread), static_cast<std::uint32_t>(r.phase), r.first, {}, {}};
    begins.gaps.reserve(gaps.size / GapCode::bytes);
    for (std::size_t i = 0; i < gaps.size; i += GapCode::bytes) {
        const auto low = static_cast<unsigned char>(gaps.data[i]), high = static_cast<unsigned char>(gaps.data[i + 1]);
        begins.gaps.push_back(GapCode::decode(static_cast<std::uint16_t>(low | high << 8)));
    }
    out.begins.push_back(std::move(begins));
    return true;
}

bool decode_cells(Decoder d, RawRank& out) {
    CellsRecord r;
    describe(d, r);
    if (d.failed() || r.thread > max_id || r.phase > max_id || r.metric > max_id || r.lists > d.remaining()) return false;
    RawCells cells;
    cells.thread = static_cast<std::uint32_t>(r.thread);
    cells.phase = static_cast<std::uint32_t>(r.phase);
    cells.metric = static_cast<std::uint32_t>(r.metric);
    cells.sizes.resize(r.lists);
    std::uint64_t count = 0;
    for (std::uint64_t& size : cells.sizes) {
        d.number(size);
        if (size > d.remaining() || (count += size) > d.remaining()) return false;
    }
    if (d.failed() || count > d.remaining() / 2) return false;
    if (!out.spare_cells.empty()) {
        cells.cells = std::move(out.spare_cells.back());
        out.spare_cells.pop_back();
    }
    cells.cells.resize(count);
    auto cell = cells.cells.begin();
    for (const std::uint64_t size : cells.sizes) {
        std::uint64_t node = 0;
        for (std::uint64_t i = 0; i < size; ++i) {
            std::uint64_t distance = 0;
            d.number(distance);
            if (distance > max_id || (node += distance) > max_id) return false;
            *cell++ = {static_cast<std::uint32_t>(node), cells.metric, 0};
        }
    }
    for (Cell& decoded : cells.cells) d.number(decoded.value);
    if (d.failed() || d.remaining() != 0) return false;
    out.cells.push_back(std::move(cells));
    return true;
}

bool belongs_to(RawPhase& phase, const RawCells& cells) {
    return cells.sizes.size() == phase.data.clusters.size() + 1 && phase.metrics_found.insert(cells.metric).second;
}

void join_cells(RawFile& file) {
    for (auto& [number, rank] : file.ranks) {
        std::map<std::pair<std::uint32_t, std::uint32_t>, RawPhase*> phases;
        for (RawPhase& phase : rank.phases) phases.emplace(std::pair(phase.thread, phase.number), &phase);
        for (RawCells& cells : rank.cells) {
            const auto phase = phases.find({cells.thread, cells.phase});
            if (phase != phases.end() && belongs_to(*phase->second, cells))
                join(cells, *phase->second);
            else
                file.damages.note(
                    [&, number = number] { return fmt::format("values of rank {} thread {} belong to no phase of the file", number, cells.thread); });
            cells.cells = {}; // its memory is for the next ones
        }
        rank.cells.clear();
        for (RawPhase& phase : rank.phases) {
            if (!file.selected && phase.metrics_found.size() < phase.metrics_expected)
                file.damages.note([&, number = number] {
                    return fmt::format("phase \"{}\" of rank {} thread {} has values of {} metrics, but the file has only {}", phase.name, number, phase.thread,
                                       phase.metrics_expected, phase.metrics_found.size());
                });
            for (Cluster& cluster : phase.data.clusters) sort_cells(cluster.cells);
            sort_cells(phase.data.rest);
        }
    }
}

} // namespace libprofile::tools
