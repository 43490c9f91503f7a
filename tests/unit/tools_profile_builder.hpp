// Builds profile files in memory with the same descriptions as the runtime's writer.
// Contract: for tests; one thread; allocates freely.
#pragma once

#include "format/begins.hpp"
#include "format/clock.hpp"
#include "format/metrics.hpp"
#include "format/partners.hpp"
#include "format/profile_file.hpp"
#include "format/sequences.hpp"
#include "format/series_code.hpp"
#include "format/series_records.hpp"
#include "format/topology.hpp"
#include "format/trace.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
#include <zstd.h>

namespace libprofile::test {

using ByteVector = std::vector<unsigned char>;

struct BuiltCell {
    std::uint64_t node = 0;
    Metric metric = Metric::Time;
    std::uint64_t value = 0;
};

struct BuiltCluster {
    std::uint64_t size = 0;
    std::uint64_t equivalence_class = 0;
    std::vector<BuiltCell> cells; // sorted by node, then metric
};

struct BuiltPhase {
    std::uint64_t thread = 0;
    std::string name;
    PhaseKind kind = PhaseKind::Outside;
    std::uint64_t instances = 1;
    std::uint64_t wall_ns = 0;
    std::uint64_t wall_inclusive_ns = 0;
    std::vector<BuiltCluster> clusters;
    std::vector<BuiltCell> rest;
    std::vector<std::uint64_t> cluster_of_iteration;
    std::vector<std::uint64_t> iteration_ns;
};

struct BuiltNode {
    std::uint64_t parent = 0; // id; the first node of the list has id 1
    NodeKind kind = NodeKind::Frame;
    std::uint64_t a = 0;
    std::uint64_t b = 0;
};

struct BuiltModule {
    std::string build_id;
    std::string path;
};

struct BuiltFunction {
    std::uint64_t id = 0;
    std::string name;
    TimeCategory category = TimeCategory::MpiOther;
};

struct BuiltSample {
    std::uint64_t time_ns = 0;
    std::uint64_t node = 0;
    std::uint64_t depth = 0;
    LcaKind kind = LcaKind::Unknown;
};

/// The values of one iteration: of the whole, and by column.
struct BuiltIteration {
    std::uint64_t condensed[condensed_size] = {};
    std::uint64_t wall = 0;
    std::vector<std::int64_t> counts;
    std::vector<std::int64_t> times; // their sum is the time in MPI and OpenMP
};

/// The time series of a phase.
struct BuiltSeries {
    std::vector<std::pair<std::uint64_t, Metric>> counts; // columns: node and metric
    std::vector<std::uint64_t> times;                     // columns: node
    std::vector<std::uint32_t> visits_of;                 // by time: position of its visits in `counts`
    std::size_t iterations = 0;
    std::function<void(std::size_t i, BuiltIteration& to)> values; // all are 0 before
};

/// Names of as many counters as there may be, and of the same in regions: these begin with `prefix`, which should be "region_".
inline std::vector<std::string> counters_with(const std::string& prefix) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < most_counter_metrics; ++i) names.push_back((i < most_counters ? "" : prefix) + "counter_" + std::to_string(i % most_counters));
    return names;
}

class ProfileBuilder {
  public:
    explicit ProfileBuilder(std::uint64_t ranks_in_file, std::uint32_t version = format_version) {
        FileHeader header{};
        std::memcpy(header.magic, file_magic, sizeof file_magic);
        header.version = version;
        header.flags = FileComplete;
        header.ranks = ranks_in_file;
        append(&header, sizeof header);
    }

    void job(std::uint64_t ranks, const std::string& command = "./app input") {
        JobRecord r;
        r.ranks = ranks;
        r.start_unix_ns = 1700000000000000000u;
        r.mpi = "Open MPI 4.1.4";
        r.command = view(command);
        r.executable = "/home/user/app";
        r.folder = "/home/user";
        r.version = "0.1.0";
        r.configuration = "CLUSTERS=64\nSAMPLE=100Hz\n";
        block(BlockType::Job, no_rank, [&](Encoder& e) { describe(e, r); });
    }

    /// @param counters names of those that the user chose
    void metrics(const std::vector<std::string>& counters = {}) {
        counters_ = static_cast<std::uint32_t>(counters.size());
        block(BlockType::Metrics, no_rank, [&](Encoder& e) {
            e.number(metric_count + counters.size());
            e.text("time");
            e.text("ns");
            for (const CatalogueRow& row : metric_catalogue) {
                if (row.kind != CatalogueKind::Direct) continue;
                e.text(row.name);
                e.text(row.unit);
            }
            for (const std::string& name : counters) {
                e.text(view(name));
                e.text("count");
            }
            e.number(counters.size());
            for (const std::string& name : counters) e.text(view("what " + name + " is"));
        });
    }

    /// One main thread per rank, on a machine of two cores with two processors each: 0 and 2, 1 and 3.
    void place(std::uint32_t rank, const std::string& allowed, std::uint64_t last, const std::string& counters = "", std::uint64_t mask = 0) {
        block(BlockType::Topology, rank, [&](Encoder& e) {
            TopologyRecord r;
            r.machine = "one";
            r.model = "Processor of 1 GHz";
            r.memory = std::uint64_t{1} << 30;
            r.machine_processors = 4;
            r.machine_cores = 2;
            r.machine_packages = r.machine_numa_nodes = 1;
            r.counters = view(counters);
            r.processors = 4;
            r.threads = 1;
            describe(e, r);
            for (std::uint64_t p = 0; p < 4; ++p) {
                ProcessorRecord processor{p, p % 2 + 1, 1, 1};
                describe(e, processor);
            }
            ThreadAffinityRecord thread{0, view(allowed), last + 1, 10, rank, mask};
            describe(e, thread);
        });
    }

    void rank(RankRecord r) {
        block(BlockType::Rank, static_cast<std::uint32_t>(r.rank), [&](Encoder& e) { describe(e, r); });
    }

    void modules(std::uint32_t rank, const std::vector<BuiltModule>& list) {
        block(BlockType::Modules, rank, [&](Encoder& e) {
            e.number(list.size());
            for (const BuiltModule& m : list) {
                ModuleRecord r{view(m.build_id), view(m.path)};
                describe(e, r);
            }
        });
    }

    void functions(std::uint32_t rank, const std::vector<BuiltFunction>& list) {
        block(BlockType::Functions, rank, [&](Encoder& e) {
            e.number(list.size());
            for (const BuiltFunction& f : list) {
                FunctionRecord r{f.id, view(f.name), static_cast<std::uint64_t>(f.category)};
                describe(e, r);
            }
        });
    }

    /// A location with its own call-path tree.
    void tree(std::uint32_t rank, std::uint64_t thread, std::uint64_t wall_ns, const std::vector<BuiltNode>& nodes) {
        location(rank, LocationRecord{thread, wall_ns, 1});
        tree(rank, thread, nodes);
    }

    void location(std::uint32_t rank, LocationRecord r) {
        block(BlockType::Location, rank, [&](Encoder& e) { describe(e, r); });
    }

    /// From the nodes of a location, from 1 on, to those of the job's tree.
    void node_map(std::uint32_t rank, std::uint64_t thread, const std::vector<std::uint64_t>& nodes) {
        block(BlockType::NodeMap, rank, [&](Encoder& e) {
            NodeMapRecord r{thread, nodes.size()};
            describe(e, r);
            std::uint64_t before = 0;
            for (const std::uint64_t node : nodes) {
                e.signed_number(static_cast<std::int64_t>(node - before));
                before = node;
            }
        });
    }

    void tree(std::uint32_t rank, std::uint64_t thread, const std::vector<BuiltNode>& nodes) {
        block(BlockType::Tree, rank, [&](Encoder& e) {
            TreeRecord t{thread, nodes.size()};
            describe(e, t);
            for (std::size_t i = 0; i < nodes.size(); ++i) {
                NodeRecord r{i + 1 - nodes[i].parent, static_cast<std::uint64_t>(nodes[i].kind), nodes[i].a, nodes[i].b};
                describe(e, r);
            }
        });
    }

    void phase(std::uint32_t rank, const BuiltPhase& p) {
        const std::uint64_t number = phases_[{rank, p.thread}]++;
        std::set<std::uint64_t> metrics;
        std::vector<std::vector<BuiltCell>> lists;
        for (const BuiltCluster& c : p.clusters) lists.push_back(c.cells);
        lists.push_back(p.rest);
        for (const auto& list : lists)
            for (const BuiltCell& cell : list) metrics.insert(static_cast<std::uint64_t>(cell.metric));
        block({BlockType::Phase, rank, p.thread, number + 1}, [&](Encoder& e) {
            PhaseRecord r;
            r.thread = p.thread;
            r.number = number;
            r.name = view(p.name);
            r.kind = static_cast<std::uint64_t>(p.kind);
            r.instances = p.instances;
            r.wall_ns = p.wall_ns;
            r.wall_inclusive_ns = p.wall_inclusive_ns;
            r.equivalence = static_cast<std::uint64_t>(Equivalence::Strong);
            r.clusters = p.clusters.size();
            r.metrics = metrics.size();
            for (const BuiltCluster& c : p.clusters) r.classes = std::max(r.classes, c.equivalence_class + 1);
            for (const std::uint64_t c : p.cluster_of_iteration) r.unclustered += c == p.clusters.size() ? 1 : 0;
            describe(e, r);
            for (const BuiltCluster& c : p.clusters) {
                ClusterRecord record{c.size, c.equivalence_class};
                describe(e, record);
            }
            if (p.kind != PhaseKind::Iterations) return;
            std::vector<std::pair<std::uint64_t, std::uint64_t>> runs;
            for (const std::uint64_t c : p.cluster_of_iteration) {
                if (runs.empty() || runs.back().second != c) runs.emplace_back(0, c);
                ++runs.back().first;
            }
            e.number(runs.size());
            for (const auto& [length, cluster] : runs) {
                e.number(length);
                e.number(cluster);
            }
            std::uint64_t before = 0;
            for (const std::uint64_t ns : p.iteration_ns) {
                e.signed_number(static_cast<std::int64_t>(ns - before));
                before = ns;
            }
        });
        for (const std::uint64_t metric : metrics)
            block({BlockType::Cells, rank, p.thread, number + 1, metric + 1}, [&](Encoder& e) {
                CellsRecord r{p.thread, number, metric, lists.size()};
                describe(e, r);
                cells(e, lists, metric);
            });
    }

    /// Iterations of one column each of visits and of time, of `node`, a collective MPI function; the whole-iteration values are the same. In
    /// iteration i counter c comes to 100 * (c + 1) + i.
    void series(std::uint32_t rank, const std::string& phase_name, std::uint64_t node, const std::vector<std::uint64_t>& visits,
                const std::vector<std::uint64_t>& times) {
        BuiltSeries built{{{node, Metric::Visits}}, {node}, {0}, times.size(), {}};
        built.values = [&](std::size_t i, BuiltIteration& to) {
            to.condensed[static_cast<std::size_t>(CatalogueId::Visits)] = visits[i];
            for (auto row = CatalogueId::MpiCollective; row != CatalogueId::None; row = metric_catalogue[static_cast<std::size_t>(row)].parent)
                to.condensed[static_cast<std::size_t>(row)] = times[i];
            for (std::uint64_t c = 0; c < counters_; ++c) to.condensed[catalogue_size + c] = 100 * (c + 1) + i;
            to.wall = times[i];
            to.counts[0] = static_cast<std::int64_t>(visits[i]);
            to.times[0] = static_cast<std::int64_t>(times[i]);
        };
        series(rank, phase_name, built);
    }

    void series(std::uint32_t rank, const std::string& phase_name, const BuiltSeries& built) {
        struct Sink {
            ByteVector bytes;
            void put(unsigned char byte) { bytes.push_back(byte); }
        };
        struct Chunk {
            std::size_t iterations = 0;
            Sink totals, cells;
        };
        SeriesCode code;
        code.whole_values = static_cast<std::uint32_t>(series_totals) + counters_;
        std::vector<std::uint64_t> memory[3];
        SeriesTrack* tracks[] = {&code.totals, &code.counts, &code.times};
        const std::uint32_t sizes[] = {code.whole_values, static_cast<std::uint32_t>(built.counts.size()), static_cast<std::uint32_t>(built.times.size())};
        for (unsigned i = 0; i < 3; ++i) {
            memory[i].resize(SeriesTrack::bytes(sizes[i], 1) / 8 + 1);
            tracks[i]->move_to(memory[i].data(), sizes[i], 1);
            tracks[i]->grow(sizes[i]);
        }
        std::vector<std::uint32_t> keys, nodes(built.times.size()), visits_of = built.visits_of;
        for (const auto& [node, metric] : built.counts) keys.push_back(static_cast<std::uint32_t>(metric));
        const SeriesColumns columns{sizes[1], sizes[2], keys.data(), nodes.data(), visits_of.data()};
        const std::uint8_t shift[metric_count] = {};
        std::vector<Chunk> chunks;
        BuiltIteration iteration;
        const auto add_iteration = [&](std::size_t i, RangeEncoder<Sink>& totals_coder, RangeEncoder<Sink>& cells_coder) {
            unsigned slot = 0, source = 0;
            std::memset(iteration.condensed, 0, sizeof iteration.condensed);
            iteration.counts.assign(sizes[1], 0);
            iteration.times.assign(sizes[2], 0);
            built.values(i, iteration);
            std::int64_t values[most_series_totals];
            series_totals_of(iteration.condensed, iteration.wall, values);
            RangeEncoder<Sink>::Run totals_run(totals_coder), cells_run(cells_coder);
            code.code_unknown(totals_run, false);
            code.code_slot(totals_run, slot, source);
            code.code_totals(totals_run, slot, source, values, code.totals_after(values));
            code.code_cells(cells_run, slot, source, columns, shift, series_call_time(values), iteration.counts.data(), iteration.times.data());
        };
        for (std::size_t i = 0; chunks.empty() || i < built.iterations;) {
            const bool is_first = chunks.empty();
            Chunk& chunk = chunks.emplace_back();
            RangeEncoder<Sink> totals_coder(chunk.totals), cells_coder(chunk.cells);
            code.restart_totals();
            code.restart_cells(is_first ? 0 : sizes[1], is_first ? 0 : sizes[2]);
            for (; i < built.iterations && chunk.iterations < SeriesCode::chunk_iterations; ++i, ++chunk.iterations)
                add_iteration(i, totals_coder, cells_coder);
            totals_coder.finish();
            cells_coder.finish();
        }
        block({BlockType::Series, rank, 0, 2}, [&](Encoder& e) {
            SeriesRecord r{0, view(phase_name), code.whole_values, sizes[1], sizes[2], metric_count, chunks.size()};
            describe(e, r);
            for (const auto& [node, metric] : built.counts) {
                e.number(node);
                e.number(static_cast<std::uint64_t>(metric));
            }
            for (std::size_t t = 0; t < built.times.size(); ++t) {
                e.number(built.times[t]);
                e.number(built.visits_of[t] + std::uint64_t{1});
            }
            for (std::size_t m = 0; m < metric_count; ++m) {
                SeriesAccuracyRecord a{m == 0 ? 5u : 0u, 10, built.iterations, 1000};
                describe(e, a);
            }
            for (std::size_t c = 0; c < chunks.size(); ++c) {
                SeriesChunkRecord chunk{chunks[c].iterations, c == 0 ? 0u : sizes[1], c == 0 ? 0u : sizes[2], SeriesChunkTotals | SeriesChunkCells};
                describe(e, chunk);
                for (const Sink* sink : {&chunks[c].totals, &chunks[c].cells})
                    e.text(Text(reinterpret_cast<const char*>(sink->bytes.data()), sink->bytes.size()));
            }
        });
    }

    /// What lies inside the iterations of phase number `phase`: by iteration lists of (number of a phase, count, first iteration or time).
    void inside(std::uint32_t rank, std::uint64_t phase, const std::map<std::uint64_t, std::vector<std::array<std::uint64_t, 3>>>& entries,
                std::uint64_t known) {
        block({BlockType::Inside, rank, 0, phase + 1}, [&](Encoder& e) {
            InsideRecord r{0, phase, known, entries.size()};
            describe(e, r);
            std::uint64_t next = 0;
            for (const auto& [iteration, list] : entries) {
                e.number(iteration - next);
                next = iteration + 1;
                e.number(list.size());
                for (const auto& entry : list)
                    for (const std::uint64_t number : entry) e.number(number);
            }
        });
    }

    struct BuiltPartners {
        std::uint64_t node = 0;
        MessageDirection direction = MessageDirection::Sent;
        std::vector<PartnerRecord> partners;
        std::uint64_t others = 0, unknown = 0; // messages of 2 bytes each
    };
    void partners(std::uint32_t rank, const std::vector<BuiltPartners>& rows, std::uint64_t lost = 0) {
        block({BlockType::Partners, rank, 0}, [&](Encoder& e) {
            PartnersRecord r{0, lost, rows.size()};
            describe(e, r);
            std::uint64_t before = 0;
            for (const BuiltPartners& row : rows) {
                PartnerRowRecord record{row.node - before,  static_cast<std::uint64_t>(row.direction), row.others, 2 * row.others, row.unknown, 2 * row.unknown,
                                        row.partners.size()};
                describe(e, record);
                before = row.node;
                for (PartnerRecord partner : row.partners) describe(e, partner);
            }
        });
    }

    /// When the iterations of phase number `phase` began: codes of the gaps before them.
    void begins(std::uint32_t rank, std::uint64_t phase, std::uint64_t first, std::string_view gaps) {
        block({BlockType::Begins, rank, 0, phase + 1}, [&](Encoder& e) {
            BeginsRecord r{0, phase, first};
            describe(e, r);
            e.text(Text(gaps.data(), gaps.size()));
        });
    }

    struct BuiltSequence {
        SequenceRecord record;
        std::vector<SequenceEventRecord> events;
    };
    /// In which order events came in the iterations of phase number `phase`, and the numbers of their sequences.
    void sequences(std::uint32_t rank, SequencesRecord r, const std::vector<BuiltSequence>& list, const std::vector<std::uint32_t>& numbers) {
        struct Sink {
            std::string bytes;
            void put(unsigned char byte) { bytes.push_back(static_cast<char>(byte)); }
        } sink;
        RangeEncoder<Sink> coder(sink);
        SequenceCode code;
        for (const std::uint32_t number : numbers) {
            RangeEncoder<Sink>::Run run(coder);
            code.code(run, number);
        }
        coder.finish();
        block({BlockType::Sequences, rank, 0, r.phase + 1}, [&](Encoder& e) {
            r.sequences = list.size();
            describe(e, r);
            for (const BuiltSequence& sequence : list) {
                SequenceRecord record = sequence.record;
                record.events = sequence.events.size();
                describe(e, record);
                for (SequenceEventRecord event : sequence.events) describe(e, event);
            }
            e.text(Text(sink.bytes.data(), sink.bytes.size()));
        });
    }

    void clock(std::uint32_t rank, ClockRecord r) {
        block(BlockType::Clock, rank, [&](Encoder& e) { describe(e, r); });
    }

    void trace(std::uint32_t rank, TraceRecord r, const std::vector<BuiltSample>& samples) {
        block(BlockType::Trace, rank, [&](Encoder& e) {
            r.samples = samples.size();
            describe(e, r);
            BuiltSample before;
            for (const BuiltSample& s : samples) {
                TraceSampleRecord record{static_cast<std::int64_t>(s.time_ns - before.time_ns), static_cast<std::int64_t>(s.node - before.node),
                                         s.depth << 2 | static_cast<std::uint64_t>(s.kind)};
                describe(e, record);
                before = s;
            }
        });
    }

    struct BuiltWait {
        std::uint64_t begin_ns, end_ns, node, lca, lca_after;
    };
    void waits(std::uint32_t rank, WaitsRecord r, const std::vector<BuiltWait>& waits) {
        block(BlockType::Waits, rank, [&](Encoder& e) {
            r.waits = waits.size();
            describe(e, r);
            std::uint64_t time = 0, node = 0;
            for (const BuiltWait& w : waits) {
                WaitRecord record{static_cast<std::int64_t>(w.begin_ns - time), w.end_ns - w.begin_ns, static_cast<std::int64_t>(w.node - node), w.lca,
                                  w.lca_after};
                describe(e, record);
                time = w.end_ns;
                node = w.node;
            }
        });
    }

    /// A block with any payload.
    void block(BlockType type, std::uint32_t rank, const std::function<void(Encoder&)>& write) { block({type, rank}, write); }

    struct Key {
        BlockType type;
        std::uint32_t rank = no_rank;
        std::uint64_t thread = 0;
        std::uint64_t phase = 0;
        std::uint64_t metric = 0;
    };
    void block(const Key& key, const std::function<void(Encoder&)>& write) {
        Encoder measure(nullptr, 0);
        write(measure);
        ByteVector payload(measure.size());
        Encoder encoder(payload.data(), payload.size());
        write(encoder);
        stored_block(key, payload, payload.size());
    }
    /// A payload as it is to stand in the file.
    void stored_block(const Key& key, const ByteVector& stored, std::uint64_t raw_size) {
        entries_.push_back({static_cast<std::uint64_t>(key.type), key.rank == no_rank ? std::uint64_t{1} : 0, key.thread, key.phase, key.metric, bytes_.size(),
                            stored.size()});
        const std::uint32_t crc = key.type == BlockType::RankTable ? 0 : crc32(stored.data(), stored.size());
        BlockHeader header{block_magic, static_cast<std::uint32_t>(key.type), stored.size(), raw_size, crc, key.rank};
        append(&header, sizeof header);
        append(stored.data(), stored.size());
        bytes_.resize((bytes_.size() + 7) / 8 * 8);
    }

    /// Stores the last block compressed, if that is smaller.
    void compress_last() {
        const DirectoryEntryRecord entry = entries_.back();
        BlockHeader header{};
        std::memcpy(&header, bytes_.data() + entry.distance, sizeof header);
        const unsigned char* payload = bytes_.data() + entry.distance + sizeof header;
        ByteVector frame(ZSTD_compressBound(header.raw_size));
        frame.resize(ZSTD_compress(frame.data(), frame.size(), payload, header.raw_size, 1));
        if (frame.size() >= header.raw_size) return;
        bytes_.resize(entry.distance);
        entries_.pop_back();
        stored_block({static_cast<BlockType>(entry.type), header.rank, entry.thread, entry.phase, entry.metric}, frame, header.raw_size);
    }

    /// The directory of the blocks since the one before: the end of a rank's section.
    void directory(std::uint32_t rank) {
        const std::uint64_t at = bytes_.size();
        const std::vector<DirectoryEntryRecord> entries = std::exchange(entries_, {});
        block(BlockType::Directory, rank, [&](Encoder& e) {
            e.number(entries.size());
            for (DirectoryEntryRecord r : entries) {
                r.distance = at - r.distance;
                describe(e, r);
            }
        });
        place(at, sizeof(BlockHeader) + entries_.front().stored_size, rank);
        entries_.clear();
    }
    /// An entry of the table.
    void place(std::uint64_t at, std::uint64_t size, std::uint32_t rank) {
        RankEntry p{at, size, rank, 0};
        p.crc = crc32(&p, offsetof(RankEntry, crc));
        places_.push_back(p);
    }
    /// Table and footer.
    void end() {
        FooterRecord footer{0, bytes_.size(), places_.size(), {}};
        std::memcpy(footer.magic, end_magic, sizeof end_magic);
        stored_block({BlockType::RankTable}, as_bytes(places_.data(), places_.size() * sizeof(RankEntry)), places_.size() * sizeof(RankEntry));
        footer.file_size = bytes_.size() + sizeof(BlockHeader) + sizeof footer;
        stored_block({BlockType::Footer}, as_bytes(&footer, sizeof footer), sizeof footer);
    }

    const ByteVector& bytes() const { return bytes_; }

  private:
    static ByteVector as_bytes(const void* data, std::size_t size) {
        const auto* first = static_cast<const unsigned char*>(data);
        return ByteVector(first, first + size);
    }
    static Text view(const std::string& s) { return {s.data(), s.size()}; }

    static void cells(Encoder& e, const std::vector<std::vector<BuiltCell>>& lists, std::uint64_t metric) {
        const auto for_each = [&](const std::vector<BuiltCell>& list, const auto& visit) {
            for (const BuiltCell& c : list)
                if (static_cast<std::uint64_t>(c.metric) == metric) visit(c);
        };
        for (const auto& list : lists) {
            std::uint64_t count = 0;
            for_each(list, [&](const BuiltCell&) { ++count; });
            e.number(count);
        }
        for (const auto& list : lists) {
            std::uint64_t before = 0;
            for_each(list, [&](const BuiltCell& c) {
                e.number(c.node - before);
                before = c.node;
            });
        }
        for (const auto& list : lists) for_each(list, [&](const BuiltCell& c) { e.number(c.value); });
    }

    void append(const void* data, std::size_t size) {
        if (size == 0) return;
        bytes_.resize(bytes_.size() + size);
        std::memcpy(bytes_.data() + bytes_.size() - size, data, size);
    }

    ByteVector bytes_;
    std::vector<DirectoryEntryRecord> entries_; // since the last directory, with the place in the file as distance
    std::vector<RankEntry> places_;
    std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint64_t> phases_;
    std::uint32_t counters_ = 0; // how many, by rank and thread
};

/// A job of `ranks` ranks: main -> {solve -> {MPI_Allreduce, (libprofile)}, MPI_Barrier}, a phase "timestep" of six
/// iterations in two clusters, and what lies outside. Rank r has its modules in another order when r is odd; its
/// times are those of rank 0 plus r per cell.
/// `live`: as it was written while the rank went on.
inline RankRecord sample_rank_record(std::uint32_t rank, bool live = false) {
    RankRecord record;
    record.rank = rank;
    record.pid = 1000 + rank;
    record.host = "node1";
    record.threads = 1;
    record.complete = live ? 0 : 1;
    record.checkpoint = live ? 1 : 0;
    record.rate = 100;
    record.sampling_clock = static_cast<std::uint64_t>(SamplingClock::Perf);
    record.samples_taken = 50;
    record.samples_lost = rank;
    record.partial_paths = 1;
    record.skipped[static_cast<std::size_t>(SkipReason::InLoader)] = 2;
    return record;
}

inline void add_sample_rank(ProfileBuilder& b, std::uint32_t rank, const RankRecord& record) {
    b.rank(record);
    const bool odd = rank % 2 != 0;
    const BuiltModule app{"BUILD-APP", "/home/user/app"};
    const BuiltModule lib{"", "/usr/lib/libsolve.so"};
    if (odd)
        b.modules(rank, {lib, app});
    else
        b.modules(rank, {app, lib});
    const std::uint64_t app_id = odd ? 1 : 0, lib_id = odd ? 0 : 1;
    const std::uint64_t reduce_id = odd ? 7 : 3, barrier_id = odd ? 9 : 4;
    b.functions(rank, {{reduce_id, "MPI_Allreduce", TimeCategory::MpiColl}, {barrier_id, "MPI_Barrier", TimeCategory::MpiSyncColl}});
    // 1 main, 2 solve, 3 Allreduce, 4 overhead, 5 Barrier
    b.tree(rank, 0, 3000 + 9 * rank,
           {{0, NodeKind::Frame, app_id, 0x1000},
            {1, NodeKind::Frame, lib_id, 0x2000},
            {2, NodeKind::Mpi, reduce_id, 0},
            {2, NodeKind::Overhead, 0, 0},
            {1, NodeKind::Mpi, barrier_id, 0}});
    BuiltPhase outside;
    outside.wall_ns = 1000 + 2 * rank;
    outside.wall_inclusive_ns = 3000 + 9 * rank;
    outside.rest = {{1, Metric::Time, 700 + rank}, {1, Metric::Samples, 3}, {5, Metric::Time, 300 + rank}, {5, Metric::Visits, 2}, {5, Metric::CollSyncs, 2}};
    b.phase(rank, outside);
    BuiltPhase steps;
    steps.name = "timestep";
    steps.kind = PhaseKind::Iterations;
    steps.instances = 6;
    steps.wall_ns = 2000 + 7 * rank;
    steps.wall_inclusive_ns = 2000 + 7 * rank;
    steps.clusters = {
        {4,
         0,
         {{2, Metric::Time, 600 + rank},
          {2, Metric::Samples, 6},
          {3, Metric::Time, 200 + rank},
          {3, Metric::Visits, 4},
          {3, Metric::CollExchanges, 4},
          {3, Metric::CollBytesIn, 32},
          {4, Metric::Time, 40 + rank}}},
        {1,
         1,
         {{2, Metric::Time, 700 + rank}, {3, Metric::Time, 100 + rank}, {3, Metric::Visits, 2}, {3, Metric::CollExchanges, 2}, {4, Metric::Time, 60 + rank}}}};
    steps.rest = {{2, Metric::Time, 300 + rank}};
    steps.cluster_of_iteration = {0, 0, 1, 0, 0, 2};
    steps.iteration_ns = {210, 210, 860, 210, 210, 300 + 7 * rank};
    b.phase(rank, steps);
}

inline void add_sample_rank(ProfileBuilder& b, std::uint32_t rank, bool live = false) { add_sample_rank(b, rank, sample_rank_record(rank, live)); }

/// A trace of the sample job: main, solve, solve, a wait, main.
inline void add_sample_trace(ProfileBuilder& b, std::uint32_t rank) {
    b.waits(rank, {0, 0, 4, 70}, {{520, 700, 3, 1 << 2 | 2, 1 << 2 | 1}, {710, 860, 3, 0, 0}});
    b.trace(rank, {0, 0, 2, 3}, {{100, 1, 0, LcaKind::Unknown}, {300, 2, 1, LcaKind::Exact}, {500, 2, 2, LcaKind::Bound}, {900, 1, 1, LcaKind::Exact}});
}

inline ByteVector sample_file(std::uint32_t ranks, bool traces = false) {
    ProfileBuilder b(ranks);
    b.job(ranks);
    b.metrics();
    for (std::uint32_t r = 0; r < ranks; ++r) {
        add_sample_rank(b, r);
        if (traces) {
            add_sample_trace(b, r);
            b.series(r, "timestep", 3, {1, 1, 2, 1, 1, 1}, {10, 10, 100 + r, 10, 10, 20});
        }
        b.directory(r);
    }
    b.end();
    return b.bytes();
}

/// A call path of `depth` frames, iterations without time, and control characters in every name.
inline ByteVector deep_hostile_profile(std::uint64_t depth) {
    ProfileBuilder b(1);
    b.job(2, "./a \x1b[2J\xff");
    b.metrics();
    b.rank(RankRecord{});
    b.modules(0, {{"", "/a,\"\n"}, {"", "/b|"}});
    b.functions(0, {});
    std::vector<BuiltNode> nodes;
    for (std::uint64_t i = 0; i < depth; ++i) nodes.push_back({i, NodeKind::Frame, i % 2, i});
    b.tree(0, 0, 7, nodes);
    BuiltPhase phase;
    phase.name = "\x1b[2J";
    phase.kind = PhaseKind::Iterations;
    phase.instances = 3;
    phase.wall_ns = 7;
    phase.clusters = {{3, 0, {{depth, Metric::Time, 7}}}};
    phase.cluster_of_iteration = {0, 0, 0};
    phase.iteration_ns = {0, 0, 0};
    b.phase(0, phase);
    return b.bytes();
}

} // namespace libprofile::test
