#include "libprofile/output/serializer.hpp"

#include "libprofile/base/function_records.hpp"
#include "libprofile/base/process.hpp"
#include "libprofile/callpath/load_map.hpp"
#include "libprofile/output/averages_writer.hpp"
#include "libprofile/output/begins_writer.hpp"
#include "libprofile/output/events_writer.hpp"
#include "libprofile/output/inside_writer.hpp"
#include "libprofile/output/job_clock.hpp"
#include "libprofile/output/loops_writer.hpp"
#include "libprofile/output/machine_writer.hpp"
#include "libprofile/output/openmp_writer.hpp"
#include "libprofile/output/pages_writer.hpp"
#include "libprofile/output/partners_writer.hpp"
#include "libprofile/output/phase_blocks.hpp"
#include "libprofile/output/regions_writer.hpp"
#include "libprofile/output/sequences_writer.hpp"
#include "libprofile/output/series_writer.hpp"
#include "libprofile/output/short_threads_writer.hpp"
#include "libprofile/output/table_blocks.hpp"
#include "libprofile/output/topology_writer.hpp"

namespace libprofile {

namespace {

std::uint32_t own_rank() { return static_cast<std::uint32_t>(process.job().rank); }

/// The MPI functions in use. A node's `a` is the id that is stored with the name.
struct UsedFunctions {
    static constexpr std::size_t most = 2048;
    bool used[most] = {};
    std::uint16_t ids[most];
    std::uint64_t count = 0;

    explicit UsedFunctions(RunningThread running) {
        for_each_location(running, [&](Thread& thread, std::uint64_t) {
            for (NodeId id = 0; id < thread.tree.size(); ++id) {
                const Node& node = thread.tree[id];
                if (is_call(node.kind) && node.a < most) used[node.a] = true;
            }
        });
        for (unsigned id = 0; id < most; ++id)
            if (used[id]) ids[count++] = static_cast<std::uint16_t>(id);
    }
};

ModuleRecord module_record(std::uint64_t i) {
    const Module& module = load_map[static_cast<std::uint32_t>(i)];
    return {Text(reinterpret_cast<const char*>(module.build_id), module.build_id_size), module.path};
}

bool write_own_tree(BlockBuffer& buffer, const Thread& thread) {
    return write_tree(buffer, own_rank(), thread.index, thread.tree.size() - 1, [&](std::uint64_t i) {
        const auto id = static_cast<NodeId>(i);
        const Node& node = thread.tree[id];
        return NodeRecord{id - node.parent, static_cast<std::uint64_t>(node.kind), node.a, node.b};
    });
}

} // namespace

bool write_own_tables(BlockBuffer& buffer, RunningThread running) noexcept {
    const std::uint32_t modules = load_map.size(); // it may grow meanwhile if other threads run
    const UsedFunctions functions(running);
    bool ok = write_modules(buffer, own_rank(), modules, module_record);
    ok = ok && write_functions(buffer, own_rank(), functions.count, [&](std::uint64_t i) {
             const unsigned id = functions.ids[i];
             return FunctionRecord{id, mpi_functions[id].name, static_cast<std::uint64_t>(mpi_functions[id].category)};
         });
    for_each_location(running, [&](Thread& thread, std::uint64_t) { ok = ok && write_own_tree(buffer, thread); });
    return ok;
}

bool write_locations(BlockBuffer& buffer, bool complete, std::uint32_t map_rank, RunningThread running) noexcept {
    bool ok = true;
    for_each_location(running, [&](Thread& thread, std::uint64_t end) {
        LocationRecord record{thread.index, end - thread.started_at, complete ? std::uint64_t{1} : 0};
        if (map_rank != no_rank) {
            record.paths_in = static_cast<std::uint64_t>(PathsIn::NodeMap);
            record.map_rank = map_rank;
            record.map_thread = thread.index;
        }
        ok = ok && write_location(buffer, own_rank(), record);
    });
    return ok;
}

bool write_measurements(BlockBuffer& buffer, RunningThread running) noexcept {
    bool ok = write_regions(buffer, own_rank(), running);
    ok = write_openmp(buffer, own_rank(), running) && ok;
    ok = write_short_threads(buffer, own_rank()) && ok;
    ok = write_topology(buffer, running) && ok;
    ok = write_machine(buffer, own_rank()) && ok;
    ok = write_pages(buffer, own_rank()) && ok;
    for_each_location(running, [&](Thread& thread, std::uint64_t) {
        const std::uint64_t now = &thread == running.thread ? running.now : 0;
        if (thread.trace.is_on())
            ok = ok &&
                 write_block(buffer, {BlockType::Trace, own_rank(), thread.index}, [&](Encoder& encoder) { write_trace(encoder, thread.index, thread.trace); });
        if (!thread.partners.is_empty())
            ok = ok && write_block(buffer, {BlockType::Partners, own_rank(), thread.index},
                                   [&](Encoder& encoder) { write_partners(encoder, thread.index, thread.partners); });
        if (thread.trace.waits() + thread.trace.dropped_waits() != 0)
            ok = ok &&
                 write_block(buffer, {BlockType::Waits, own_rank(), thread.index}, [&](Encoder& encoder) { write_waits(encoder, thread.index, thread.trace); });
        if (thread.events != nullptr)
            ok = ok && write_block(buffer, {BlockType::Events, own_rank(), thread.index},
                                   [&](Encoder& encoder) { write_events(encoder, thread.index, *thread.events); });
        if (thread.loops != nullptr && thread.loops->has_searched())
            ok = ok && write_block(buffer, {BlockType::Loops, own_rank(), thread.index}, [&](Encoder& encoder) { write_loops(encoder, thread, now); });
        for (std::uint32_t i = 0; i < thread.phases.all().size(); ++i) {
            Phase& phase = thread.phases.all()[i];
            ok = ok && write_phase(buffer, own_rank(), thread, i, phase, now);
            if (phase.series != nullptr && phase.series->iterations() != 0)
                ok = ok && write_block(buffer, {BlockType::Series, own_rank(), thread.index, std::uint64_t{i} + 1},
                                       [&](Encoder& encoder) { write_series(encoder, thread.index, phase); });
            if (!phase.inside.is_empty())
                ok = ok && write_block(buffer, {BlockType::Inside, own_rank(), thread.index, std::uint64_t{i} + 1},
                                       [&](Encoder& encoder) { write_inside(encoder, thread.index, phase); });
            if (phase.begins.size() != 0)
                ok = ok && write_block(buffer, {BlockType::Begins, own_rank(), thread.index, std::uint64_t{i} + 1},
                                       [&](Encoder& encoder) { write_begins(encoder, thread.index, phase); });
            if (phase.order != nullptr)
                ok = ok && write_block(buffer, {BlockType::Sequences, own_rank(), thread.index, std::uint64_t{i} + 1},
                                       [&](Encoder& encoder) { write_sequences(encoder, thread.index, phase); });
            if (phase.clusterer != nullptr)
                ok = ok && write_block(buffer, {BlockType::Averages, own_rank(), thread.index, std::uint64_t{i} + 1, 0, true},
                                       [&](Encoder& encoder) { write_averages(encoder, thread.index, phase); });
        }
    });
    return ok;
}

bool write_rank_record(BlockBuffer& buffer, RankRecord& record, WritingCost cost) noexcept {
    record.bytes_written = buffer.size() - cost.bytes_before;
    record.writing_ns = session_clock.now() - cost.began_at;
    return write_block(buffer, {BlockType::Rank, own_rank()}, [&](Encoder& encoder) { describe(encoder, record); });
}

bool write_rank(BlockBuffer& buffer, bool complete, std::uint64_t began_at, RankSummary& summary, RunningThread running) noexcept {
    const WritingCost cost{buffer.size(), began_at};
    RankRecord record = describe_rank(complete, summary, running);
    const bool ok = write_own_tables(buffer, running) && write_locations(buffer, complete, no_rank, running) && write_measurements(buffer, running) &&
                    JobClock().write(buffer, running) && write_rank_record(buffer, record, cost);
    summary.add_end(record.writing_ns);
    return ok;
}

} // namespace libprofile
