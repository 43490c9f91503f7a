#include "libprofile/output/serializer.hpp"

#include "format/sampling_rate.hpp"
#include "libprofile/callpath/load_map.hpp"
#include "libprofile/output/averages_writer.hpp"
#include "libprofile/output/series_writer.hpp"
#include "libprofile/session/mpi_events.hpp"
#include "libprofile/session/process_state.hpp"
#include "libprofile/session/session.hpp"
#include "libprofile/session/thread_registry.hpp"
#include "libprofile/session/version.hpp"

#include <cstdio>
#include <cstring>
#include <ctime>
#include <unistd.h>

namespace libprofile {

namespace {

/// Writes one block: `payload` is run twice, to measure and to write.
template <class Payload> bool block(ByteBuffer& buffer, BlockType type, std::uint32_t rank, Payload payload) noexcept {
    Encoder measure(nullptr, 0);
    payload(measure);
    const std::size_t padded = (measure.size() + 7) & ~std::size_t{7};
    unsigned char* place = buffer.append(sizeof(BlockHeader) + padded);
    if (place == nullptr) return false;
    Encoder encoder(place + sizeof(BlockHeader), measure.size());
    payload(encoder);
    BlockHeader header{};
    header.magic = block_magic;
    header.type = static_cast<std::uint32_t>(type);
    header.stored_size = header.raw_size = measure.size();
    header.crc = crc32(place + sizeof(BlockHeader), measure.size());
    header.rank = rank;
    std::memcpy(place, &header, sizeof header);
    return true;
}

/// "Open MPI v4.1.4, package: ..." -> "Open MPI 4.1.4"; "MPICH Version:\t4.0.2\n..." -> "MPICH 4.0.2".
void tidy_version(char* text) {
    char* out = text;
    for (const char* in = text; *in != 0 && *in != ',' && *in != '\n';) {
        if (std::strncmp(in, "Version:", 8) == 0) {
            in += 8;
        } else if (*in == ' ' || *in == '\t') {
            if (out != text && out[-1] != ' ') *out++ = ' ';
            ++in;
        } else if (*in == 'v' && out != text && out[-1] == ' ' && in[1] >= '0' && in[1] <= '9') {
            ++in;
        } else {
            *out++ = *in++;
        }
    }
    *out = 0;
}

void write_modules(Encoder& encoder, std::uint32_t count) {
    encoder.number(count);
    for (std::uint32_t i = 0; i < count; ++i) {
        const Module& module = load_map[i];
        ModuleRecord record;
        record.build_id = Text(reinterpret_cast<const char*>(module.build_id), module.build_id_size);
        record.path = module.path;
        describe(encoder, record);
    }
}

/// Calls visit(thread, its end) for every location that may be read; for a checkpoint always for the same ones.
template <class F> void for_each_location(RunningThread running, F visit) {
    if (running.thread != nullptr) visit(*running.thread, running.now);
    thread_registry.for_each_closed([&](Thread& thread) {
        if (running.thread == nullptr || thread.in_checkpoint) visit(thread, thread.ended_at);
    });
}

/// Only the functions that occur: a node's `a` is the id that is stored with the name.
void write_functions(Encoder& encoder, RunningThread running) {
    constexpr std::size_t most = 2048;
    bool used[most] = {};
    std::uint64_t count = 0;
    for_each_location(running, [&](Thread& thread, std::uint64_t) {
        for (NodeId id = 0; id < thread.tree.size(); ++id) {
            const Node& node = thread.tree[id];
            if (node.kind != NodeKind::Mpi || node.a >= most || used[node.a]) continue;
            used[node.a] = true;
            ++count;
        }
    });
    encoder.number(count);
    for (unsigned id = 0; id < most; ++id) {
        if (!used[id]) continue;
        FunctionRecord record{id, mpi_functions[id].name, static_cast<std::uint64_t>(mpi_functions[id].category)};
        describe(encoder, record);
    }
}

void write_tree(Encoder& encoder, Thread& thread, std::uint64_t end, bool complete) {
    TreeRecord record;
    record.thread = thread.index;
    record.nodes = thread.tree.size() - 1;
    record.wall_ns = end - thread.started_at;
    record.complete = complete ? 1 : 0;
    describe(encoder, record);
    for (NodeId id = 1; id < thread.tree.size(); ++id) {
        const Node& node = thread.tree[id];
        NodeRecord out{id - node.parent, static_cast<std::uint64_t>(node.kind), node.a, node.b};
        describe(encoder, out);
    }
}

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

std::uint64_t iterations_of(const Phase& phase) {
    if (phase.clusterer == nullptr) return 0;
    const std::uint64_t clustered = phase.clusterer->iterations();
    return clustered < phase.iteration_wall_ns.size() ? clustered : phase.iteration_wall_ns.size();
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
void write_phase(Encoder& encoder, const Thread& thread, Phase& phase, std::uint64_t now) {
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

RankRecord describe_rank(bool complete, RankSummary& summary, RunningThread running) {
    RankRecord record;
    record.rank = static_cast<std::uint64_t>(session.job().rank);
    record.pid = static_cast<std::uint64_t>(getpid());
    record.host = session.job().host;
    record.complete = complete ? 1 : 0;
    record.clock = static_cast<std::uint64_t>(session_clock.source());
    record.rate = samples_per_second(session.config().number(Option::Sample));
    record.threads_lost = thread_registry.lost();
    record.memory_used = memory_quota.used();
    record.memory_quota = memory_quota.limit();
    record.checkpoint = running.thread == nullptr ? 0 : 1;
    if (running.thread != nullptr) record.threads_running = thread_registry.choose_for_checkpoint() - 1;
    for_each_location(running, [&](Thread& thread, std::uint64_t end) {
        ++record.threads;
        record.samples_taken += thread.samples_taken;
        record.samples_lost += thread.samples_lost;
        for (std::size_t i = 0; i < skip_reason_count; ++i) record.skipped[i] += thread.skipped[i];
        record.clocks_lost += thread.clock.was_lost ? 1 : 0;
        record.partial_paths += thread.tree.partial_paths();
        record.quota_losses += thread.tree.quota_hits() + thread.phases.quota_losses();
        record.nesting_repairs += thread.phases.repairs();
        record.requests_lost += thread.requests_lost;
        for (std::size_t i = 0; i < path_count_count; ++i)
            record.path_counts[i] += thread.paths.count_of(static_cast<PathCount>(i));
        record.path_counts[static_cast<std::size_t>(PathCount::Repeated)] += thread.paths_repeated;
        if (thread.index != 0) return;
        record.sampling_clock = static_cast<std::uint64_t>(thread.clock.kind);
        summary.wall_ns = end - thread.started_at;
        std::uint64_t longest = 0;
        for (std::size_t i = 0; i < thread.phases.phase_count(); ++i) {
            Phase& phase = thread.phases.phase(i);
            if (iterations_of(phase) == 0 || phase.wall_inclusive_ns <= longest) continue;
            longest = phase.wall_inclusive_ns;
            summary.phase = phase.name;
            summary.iterations = iterations_of(phase);
            summary.clusters = phase.clusterer->cluster_count();
        }
    });
    summary.samples_taken = record.samples_taken;
    summary.samples_lost = record.samples_lost;
    summary.repairs = record.nesting_repairs;
    summary.quota_losses = record.quota_losses;
    summary.paths_wrong = record.path_counts[static_cast<std::size_t>(PathCount::Wrong)];
    return record;
}

/// Time inside libprofile of one phase, from its clusters and its rest.
std::uint64_t overhead_of(Phase& phase, NodeId overhead) {
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

} // namespace

bool write_file_start(ByteBuffer& buffer, std::uint64_t ranks_in_file, std::uint32_t flags) noexcept {
    FileHeader header{};
    std::memcpy(header.magic, file_magic, sizeof header.magic);
    header.version = format_version;
    header.flags = flags;
    header.ranks = ranks_in_file;
    unsigned char* place = buffer.append(sizeof header);
    if (place == nullptr) return false;
    std::memcpy(place, &header, sizeof header);

    Job& job = session.job();
    static char configuration[8192];
    static char mpi[256];
    const std::size_t length = session.config().describe(configuration, sizeof configuration);
    if (session.mpi() == nullptr || session.mpi()->library_version(mpi, sizeof mpi) != 0)
        std::snprintf(mpi, sizeof mpi, "%s", session.mpi() == nullptr ? "none" : session.mpi()->name);
    tidy_version(mpi);
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    const std::uint64_t unix_now =
        static_cast<std::uint64_t>(now.tv_sec) * 1000000000u + static_cast<std::uint64_t>(now.tv_nsec);
    JobRecord record;
    record.ranks = static_cast<std::uint64_t>(job.ranks);
    record.start_unix_ns = unix_now - session_clock.now();
    record.mpi = mpi;
    record.command = job.command;
    record.executable = job.executable;
    record.folder = job.folder;
    record.version = version;
    record.configuration = Text(configuration, length);
    const bool ok = block(buffer, BlockType::Job, no_rank, [&](Encoder& encoder) { describe(encoder, record); });
    return ok && block(buffer, BlockType::Metrics, no_rank, [](Encoder& encoder) {
               encoder.number(metric_count);
               encoder.text("time");
               encoder.text("ns");
               for (const CatalogueRow& row : metric_catalogue) {
                   if (row.kind != CatalogueKind::Direct) continue;
                   encoder.text(row.name);
                   encoder.text(row.unit);
               }
           });
}

bool write_rank(ByteBuffer& buffer, bool complete, RankSummary& summary, RunningThread running) noexcept {
    const auto rank = static_cast<std::uint32_t>(session.job().rank);
    RankRecord record = describe_rank(complete, summary, running);
    bool ok = block(buffer, BlockType::Rank, rank, [&](Encoder& encoder) { describe(encoder, record); });
    const std::uint32_t modules = load_map.size(); // may grow meanwhile, if other threads run
    ok = ok && block(buffer, BlockType::Modules, rank, [&](Encoder& encoder) { write_modules(encoder, modules); });
    ok = ok && block(buffer, BlockType::Functions, rank, [&](Encoder& encoder) { write_functions(encoder, running); });
    for_each_location(running, [&](Thread& thread, std::uint64_t end) {
        const std::uint64_t now = &thread == running.thread ? running.now : 0;
        ok = ok && block(buffer, BlockType::Tree, rank,
                         [&](Encoder& encoder) { write_tree(encoder, thread, end, complete); });
        if (thread.trace.is_on())
            ok = ok && block(buffer, BlockType::Trace, rank,
                             [&](Encoder& encoder) { write_trace(encoder, thread.index, thread.trace); });
        for (std::size_t i = 0; i < thread.phases.phase_count(); ++i) {
            Phase& phase = thread.phases.phase(i);
            if (thread.index == 0) summary.overhead_ns += overhead_of(phase, thread.tree.overhead());
            ok = ok && block(buffer, BlockType::Phase, rank,
                             [&](Encoder& encoder) { write_phase(encoder, thread, phase, now); });
            if (phase.series != nullptr && phase.series->iterations() != 0)
                ok = ok && block(buffer, BlockType::Series, rank,
                                 [&](Encoder& encoder) { write_series(encoder, thread.index, phase); });
            if (phase.clusterer != nullptr)
                ok = ok && block(buffer, BlockType::Averages, rank,
                                 [&](Encoder& encoder) { write_averages(encoder, thread.index, phase); });
        }
    });
    return ok;
}

} // namespace libprofile
