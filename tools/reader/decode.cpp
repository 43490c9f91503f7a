#include "tools/reader/decode.hpp"

#include "format/loops.hpp"
#include "tools/reader/code_loops.hpp"
#include "tools/reader/counters.hpp"
#include "tools/reader/decode_events.hpp"
#include "tools/reader/decode_machine.hpp"
#include "tools/reader/decode_pages.hpp"
#include "tools/reader/decode_phase.hpp"
#include "tools/reader/decode_sequences.hpp"
#include "tools/reader/decode_series.hpp"
#include "tools/reader/decode_tables.hpp"
#include "tools/reader/decode_topology.hpp"
#include "tools/reader/decode_v3.hpp"
#include "tools/reader/journal.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>

namespace libprofile::tools {

namespace {

bool finished(const Decoder& d) { return !d.failed() && d.remaining() == 0; }

bool decode_job(Decoder d, RawFile& file) {
    JobRecord r;
    describe(d, r);
    if (!finished(d) || r.ranks == 0 || r.ranks > rank_limit) return false;
    file.job = Job{r.ranks, r.start_unix_ns, owned(r.mpi), owned(r.command), owned(r.executable), owned(r.folder), owned(r.version), owned(r.configuration)};
    return true;
}

bool decode_metrics(Decoder d, RawFile& file) {
    std::uint64_t count = 0;
    if (!read_count(d, count, 2)) return false;
    std::vector<MetricInfo> metrics;
    metrics.reserve(count);
    for (std::uint64_t i = 0; i < count; ++i) {
        Text name, unit;
        d.text(name);
        d.text(unit);
        metrics.push_back({owned(name), owned(unit), {}});
    }
    // The earliest files of this version end here.
    if (!d.failed() && d.remaining() != 0) {
        std::uint64_t counters = 0;
        d.number(counters);
        if (d.failed() || counters > metrics.size() || counters > d.remaining()) return false;
        for (std::uint64_t i = count - counters; i < count; ++i) {
            Text description;
            d.text(description);
            metrics[i].description = owned(description);
        }
    }
    if (!finished(d)) return false;
    file.metrics = std::move(metrics);
    return true;
}

bool decode_rank(Decoder d, std::uint32_t rank, RawRank& out) {
    RankRecord r;
    describe(d, r);
    if (!finished(d) || r.rank != rank || r.sampling_clock >= sampling_clock_count) return false;
    RankInfo info;
    info.pid = r.pid;
    info.host = owned(r.host);
    info.threads = r.threads;
    info.complete = r.complete != 0;
    info.tsc = r.clock != 0;
    info.rate = r.rate;
    info.samples_taken = r.samples_taken;
    info.samples_lost = r.samples_lost;
    info.partial_paths = r.partial_paths;
    info.quota_losses = r.quota_losses;
    info.nesting_repairs = r.nesting_repairs;
    info.threads_lost = r.threads_lost;
    info.requests_lost = r.requests_lost;
    info.operations_lost = r.operations_lost;
    info.memory_used = r.memory_used;
    info.memory_quota = r.memory_quota;
    info.memory_peak = r.memory_peak;
    info.bytes_written = r.bytes_written;
    info.writing_ns = r.writing_ns;
    info.checkpoint = r.checkpoint != 0;
    info.threads_running = r.threads_running;
    std::copy(std::begin(r.path_counts), std::end(r.path_counts), info.path_counts.begin());
    info.sampling_clock = static_cast<SamplingClock>(r.sampling_clock);
    info.clocks_lost = r.clocks_lost;
    std::copy(std::begin(r.skipped), std::end(r.skipped), std::begin(info.skipped));
    out.info = std::move(info);
    return true;
}

bool decode_modules(Decoder d, RawTables& out) {
    std::uint64_t count = 0;
    if (!read_count(d, count, 2)) return false;
    std::vector<Module> modules;
    modules.reserve(count);
    for (std::uint64_t i = 0; i < count; ++i) {
        ModuleRecord r;
        describe(d, r);
        modules.push_back({owned(r.build_id), owned(r.path)});
    }
    if (!finished(d)) return false;
    out.modules = std::move(modules);
    return true;
}

bool decode_functions(Decoder d, RawTables& out) {
    std::map<std::uint64_t, Function> functions;
    if (!read_functions(d, functions) || !finished(d)) return false;
    out.functions = std::move(functions);
    return true;
}

bool decode_tree(Decoder d, RawTables& out) {
    RawTree tree;
    describe(d, tree.record);
    if (tree.record.thread > max_id || !decode_nodes(d, tree) || !finished(d)) return false;
    return out.trees.emplace(static_cast<std::uint32_t>(tree.record.thread), std::move(tree)).second;
}

bool decode_location(Decoder d, RawRank& out) {
    LocationRecord r;
    describe(d, r);
    if (!finished(d) || r.thread > max_id || r.paths_in > static_cast<std::uint64_t>(PathsIn::NodeMap) || r.map_rank >= rank_limit || r.map_thread > max_id)
        return false;
    return out.locations.emplace(static_cast<std::uint32_t>(r.thread), r).second;
}

bool decode_node_map(Decoder d, RawRank& out) {
    NodeMapRecord r;
    describe(d, r);
    if (d.failed() || r.thread > max_id || r.nodes > d.remaining()) return false;
    std::vector<std::uint32_t> nodes;
    nodes.reserve(r.nodes);
    std::uint64_t node = 0;
    for (std::uint64_t i = 0; i < r.nodes; ++i) {
        std::int64_t difference = 0;
        d.signed_number(difference);
        node += static_cast<std::uint64_t>(difference);
        if (node > max_id) return false;
        nodes.push_back(static_cast<std::uint32_t>(node));
    }
    return finished(d) && out.node_maps.emplace(static_cast<std::uint32_t>(r.thread), std::move(nodes)).second;
}

/// depth * 4 + kind. Returns false if it is no common ancestor.
bool take_ancestor(std::uint64_t lca, std::uint32_t& depth, LcaKind& kind) {
    if (lca >> 2 > max_id || (lca & 3u) > static_cast<std::uint64_t>(LcaKind::Exact)) return false;
    depth = static_cast<std::uint32_t>(lca >> 2);
    kind = static_cast<LcaKind>(lca & 3u);
    return true;
}

bool decode_trace(Decoder d, RawRank& out) {
    TraceRecord r;
    describe(d, r);
    if (d.failed() || r.thread > max_id || r.stride == 0 || r.samples > d.remaining() / 3) return false;
    Trace trace{r.stride, r.dropped, {}};
    trace.samples.reserve(r.samples);
    std::uint64_t time = 0, node = 0;
    for (std::uint64_t i = 0; i < r.samples; ++i) {
        TraceSampleRecord s;
        describe(d, s);
        time += static_cast<std::uint64_t>(s.time_difference);
        node += static_cast<std::uint64_t>(s.node_difference);
        TraceSample sample{time, static_cast<std::uint32_t>(node)};
        if (node > max_id || !take_ancestor(s.lca, sample.lca_depth, sample.lca_kind)) return false;
        trace.samples.push_back(sample);
    }
    if (!finished(d)) return false;
    return out.traces.emplace(static_cast<std::uint32_t>(r.thread), std::move(trace)).second;
}

bool decode_waits(Decoder d, RawRank& out) {
    WaitsRecord r;
    describe(d, r);
    if (d.failed() || r.thread > max_id || r.waits > d.remaining() / 5) return false;
    Trace trace{0, 0, {}, {}, r.dropped, r.longest_dropped_ns};
    trace.waits.reserve(r.waits);
    std::uint64_t time = 0, node = 0;
    for (std::uint64_t i = 0; i < r.waits; ++i) {
        WaitRecord w;
        describe(d, w);
        TraceWait wait;
        wait.begin_ns = time + static_cast<std::uint64_t>(w.begin_difference);
        time = wait.end_ns = wait.begin_ns + w.duration;
        node += static_cast<std::uint64_t>(w.node_difference);
        if (wait.end_ns < wait.begin_ns || node > max_id) return false;
        wait.path = static_cast<std::uint32_t>(node);
        if (!take_ancestor(w.lca, wait.lca_depth, wait.lca_kind) || !take_ancestor(w.lca_after, wait.after_depth, wait.after_kind)) return false;
        trace.waits.push_back(wait);
    }
    return finished(d) && out.waits.emplace(static_cast<std::uint32_t>(r.thread), std::move(trace)).second;
}

bool decode_loops(Decoder d, RawRank& out) {
    constexpr std::uint64_t most_loops = 64;
    LoopsRecord r;
    describe(d, r);
    if (d.failed() || r.thread > max_id || r.loops > most_loops) // a job has a handful
        return false;
    LoopSearch search{r.searched_ns, r.calls, {}};
    for (std::uint64_t i = 0; i < r.loops; ++i) {
        LoopRecord l;
        describe(d, l);
        if (d.failed()) return false;
        search.loops.push_back({owned(l.phase),
                                {owned(l.build_id), owned(l.path)},
                                l.offset,
                                owned(l.call),
                                l.flags,
                                l.missed,
                                l.moves,
                                l.passes,
                                l.other_offset,
                                l.other_passes,
                                owned(l.phase)});
    }
    for (std::size_t i = 0; d.remaining() != 0 && i < search.loops.size(); ++i) {
        LoopFunctionRecord f;
        describe(d, f);
        search.loops[i].function = f.function;
        search.loops[i].caller = f.caller;
        search.loops[i].first_ns = f.first_ns;
        search.loops[i].last_ns = f.last_ns;
    }
    for (std::size_t i = 0; d.remaining() != 0 && i < search.loops.size(); ++i) {
        LoopLevelRecord l;
        describe(d, l);
        if (l.around > search.loops.size() || l.around == i + 1) return false;
        if (l.around != 0) search.loops[i].around = search.loops[l.around - 1].recorded_as;
    }
    return finished(d) && out.loop_searches.emplace(static_cast<std::uint32_t>(r.thread), std::move(search)).second;
}

bool decode_partners(Decoder d, RawRank& out) {
    PartnersRecord r;
    describe(d, r);
    if (d.failed() || r.thread > max_id || r.rows > d.remaining() / 7) return false;
    Partners partners{r.lost, {}};
    partners.rows.reserve(r.rows);
    std::uint64_t node = 0;
    for (std::uint64_t i = 0; i < r.rows; ++i) {
        PartnerRowRecord row;
        describe(d, row);
        if (d.failed() || row.node_difference > max_id - node || row.direction >= message_directions || row.partners > most_partners) return false;
        node += row.node_difference;
        PartnerRow& known = partners.rows.emplace_back();
        known.path = static_cast<std::uint32_t>(node);
        known.direction = static_cast<MessageDirection>(row.direction);
        known.others = {row.others, row.other_bytes};
        known.unknown = {row.unknown, row.unknown_bytes};
        for (std::uint64_t p = 0; p < row.partners; ++p) {
            PartnerRecord partner;
            describe(d, partner);
            if (d.failed() || partner.rank >= rank_limit) return false;
            known.partners.push_back(partner);
        }
    }
    return finished(d) && out.partners.emplace(static_cast<std::uint32_t>(r.thread), std::move(partners)).second;
}

bool decode_regions(Decoder d, RawRank& out) {
    RegionsRecord r;
    describe(d, r);
    if (d.failed() || r.names > d.remaining() / 3) return false;
    std::map<std::uint64_t, std::string> names;
    for (std::uint64_t i = 0; i < r.names; ++i) {
        RegionNameRecord name;
        describe(d, name);
        if (d.failed() || name.region_class >= static_cast<std::uint64_t>(RegionClass::Count)) return false;
        names[name.id] = owned(name.name);
    }
    if (d.remaining() != 0) d.number(r.without_module);
    if (d.remaining() != 0) d.number(r.inside);
    if (!finished(d) || out.regions) return false;
    out.regions = r;
    out.region_names = std::move(names);
    return true;
}

bool decode_openmp(Decoder d, RawRank& out) {
    OpenMpRecord r;
    describe(d, r);
    if (!finished(d) || out.openmp) return false;
    out.openmp = r;
    return true;
}

bool decode_short_threads(Decoder d, RawRank& out) {
    ShortThreadsRecord r;
    describe(d, r);
    if (!finished(d) || out.short_threads) return false;
    out.short_threads = r;
    return true;
}

bool decode_clock(Decoder d, RawRank& out) {
    constexpr std::uint64_t most = std::uint64_t{1} << 61; // ns, 73 years: sums of a few fit into 64 bits
    ClockRecord r;
    describe(d, r);
    const std::uint64_t distance = r.offset_ns < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(r.offset_ns) : static_cast<std::uint64_t>(r.offset_ns);
    if (!finished(d) || out.clock || std::max({r.origin_ns, r.main_ns, r.own_ns, r.monotonic_ns, distance, r.uncertainty_ns}) > most || r.is_measured > 1)
        return false;
    out.clock = r;
    return true;
}

bool decode_names(Decoder d, RawFile& file) {
    std::uint64_t count = 0;
    if (!read_count(d, count, 7)) return false;
    std::vector<StoredName> names;
    names.reserve(count);
    for (std::uint64_t i = 0; i < count; ++i) {
        NameRecord r;
        describe(d, r);
        if (d.failed() || r.inlined > d.remaining() / 3) return false;
        names.push_back({{owned(r.build_id), owned(r.path)}, r.offset, {owned(r.function), owned(r.file), r.line}, {}});
        for (std::uint64_t k = 0; k < r.inlined; ++k) {
            InlinedRecord inlined;
            describe(d, inlined);
            names.back().inlined.push_back({owned(inlined.function), owned(inlined.file), inlined.line});
        }
    }
    if (!finished(d)) return false;
    file.names.insert(file.names.end(), std::make_move_iterator(names.begin()), std::make_move_iterator(names.end()));
    return true;
}

bool decode_code_loops(Decoder d, RawFile& file) {
    std::uint64_t modules = 0;
    if (!read_count(d, modules, 4)) return false;
    std::vector<StoredLoops> all;
    for (std::uint64_t i = 0; i < modules; ++i) {
        ModuleRecord r;
        describe(d, r);
        StoredLoops& stored = all.emplace_back(StoredLoops{{owned(r.build_id), owned(r.path)}, {}});
        if (d.failed() || !decode(d, stored.loops)) return false;
    }
    if (!finished(d)) return false;
    file.code_loops.insert(file.code_loops.end(), std::make_move_iterator(all.begin()), std::make_move_iterator(all.end()));
    return true;
}

/// What the job has as well as a rank.
bool decode_table(const Block& block, Decoder d, RawTables& tables) {
    switch (block.type) {
    case BlockType::Modules: return decode_modules(d, tables);
    case BlockType::Functions: return decode_functions(d, tables);
    default: return decode_tree(d, tables);
    }
}

bool decode_payload(const Block& block, Bytes payload, std::uint32_t version, RawFile& file) {
    std::vector<unsigned char> as_now;
    if (version == 3 && block.type == BlockType::Rank) {
        as_now = rank_payload_of_v3(payload);
        payload = as_now;
    }
    const Decoder d(payload.data(), payload.size());
    switch (block.type) {
    case BlockType::Job: return decode_job(d, file);
    case BlockType::Metrics: return decode_metrics(d, file);
    case BlockType::Names: return decode_names(d, file);
    case BlockType::CodeLoops: return decode_code_loops(d, file);
    case BlockType::Directory:
    case BlockType::RankTable:
    case BlockType::Footer: return true; // for readers that do not read everything (directory.hpp)
    default: break;
    }
    const bool is_table = block.type == BlockType::Modules || block.type == BlockType::Functions || block.type == BlockType::Tree;
    if (is_table && block.rank == no_rank) return decode_table(block, d, file.tables);
    if (block.rank >= rank_limit) return false;
    if (is_table && !(version == 3 && block.type == BlockType::Tree)) return decode_table(block, d, file.ranks[block.rank].tables);
    switch (block.type) {
    case BlockType::Rank: return decode_rank(d, block.rank, file.ranks[block.rank]);
    case BlockType::Tree: return decode_tree_v3(d, file.ranks[block.rank]);
    case BlockType::Location: return decode_location(d, file.ranks[block.rank]);
    case BlockType::NodeMap: return decode_node_map(d, file.ranks[block.rank]);
    case BlockType::Phase: return version == 3 ? decode_phase_v3(d, file.ranks[block.rank]) : decode_phase(d, file.ranks[block.rank]);
    case BlockType::Cells: return decode_cells(d, file.ranks[block.rank]);
    case BlockType::Inside: return decode_inside(d, file.ranks[block.rank]);
    case BlockType::Begins: return decode_begins(d, file.ranks[block.rank]);
    case BlockType::Sequences: return decode_sequences(d, file.ranks[block.rank]);
    case BlockType::Trace: return decode_trace(d, file.ranks[block.rank]);
    case BlockType::Waits: return decode_waits(d, file.ranks[block.rank]);
    case BlockType::Events: return decode_events(d, file.ranks[block.rank]);
    case BlockType::Pages: return decode_pages(d, file.ranks[block.rank].pages);
    case BlockType::Machine: return decode_machine(d, file.ranks[block.rank].machine);
    case BlockType::Regions: return decode_regions(d, file.ranks[block.rank]);
    case BlockType::OpenMp: return decode_openmp(d, file.ranks[block.rank]);
    case BlockType::ShortThreads: return decode_short_threads(d, file.ranks[block.rank]);
    case BlockType::Clock: return decode_clock(d, file.ranks[block.rank]);
    case BlockType::Loops: return decode_loops(d, file.ranks[block.rank]);
    case BlockType::Partners: return decode_partners(d, file.ranks[block.rank]);
    case BlockType::Topology: return decode_topology(d, file.ranks[block.rank].affinity);
    case BlockType::Series: {
        std::optional<RawSeries> series = decode_series(d);
        if (series) file.ranks[block.rank].series.push_back(std::move(*series));
        return series.has_value();
    }
    case BlockType::Journal: {
        RawRank& rank = file.ranks[block.rank];
        const bool is_first = !rank.journal;
        if (is_first) rank.journal = block.stored; // never compressed, and needed longer than what the unpacker has
        return is_first;
    }
    default: return true; // a later writer of the same version may add kinds of blocks
    }
}

/// In the order of the catalogue, time first.
bool has_catalogue_metrics(const std::vector<MetricInfo>& metrics) {
    std::size_t at = 0;
    if (metrics[at++].name != "time") return false;
    for (const CatalogueRow& row : metric_catalogue)
        if (row.kind == CatalogueKind::Direct && (at == metrics.size() || metrics[at++].name != row.name)) return false;
    return metrics.size() - at <= most_counter_metrics;
}

} // namespace

void apply_journals(RawFile& file) {
    KeptSettings settings = kept_settings(file.job ? file.job->configuration : "");
    for (auto& [number, rank] : file.ranks) {
        if (!rank.journal) continue;
        // Its numbers of metrics are those of the catalogue.
        const bool is_ours =
            file.metrics && file.metrics->size() >= metric_count && has_catalogue_metrics(*file.metrics) && chosen_counters(*file.metrics) <= most_counters;
        settings.counter_metrics = is_ours ? static_cast<std::uint32_t>(file.metrics->size() - metric_count) : 0;
        settings.counters = is_ours ? static_cast<std::uint32_t>(chosen_counters(*file.metrics)) : 0;
        const std::optional<std::string> damage =
            is_ours ? apply_journal(*rank.journal, settings, rank) : std::optional<std::string>("a journal has other metrics");
        if (damage) file.damages.note([&, number = number] { return fmt::format("{} (rank {})", *damage, number); });
        rank.journal.reset();
    }
}

void decode_block(const Block& block, std::uint32_t version, Unpacker& unpacker, RawFile& file) {
    const std::optional<Bytes> payload = unpacker.unpack(block);
    if (payload && decode_payload(block, *payload, version, file)) return;
    const char* what = payload ? "is malformed" : "cannot be decompressed";
    const auto type = static_cast<std::uint32_t>(block.type);
    file.damages.note([&] {
        return block.rank == no_rank ? fmt::format("a block of type {} {}", type, what)
                                     : fmt::format("a block of type {} of rank {} {}", type, block.rank, what);
    });
}

RawFile decode_file(Bytes bytes, const std::string& name) {
    RawFile file;
    file.name = name;
    BlockList list = find_blocks(bytes);
    file.ranks_expected = list.header.ranks;
    file.damages = std::move(list.damages);
    Unpacker unpacker(bytes.size());
    for (const Block& block : list.blocks) decode_block(block, list.header.version, unpacker, file);
    join_cells(file);
    apply_journals(file); // they change the values, so these have to be in their phases
    return file;
}

} // namespace libprofile::tools
