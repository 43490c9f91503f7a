#include "tools/reader/decode_topology.hpp"

#include "format/topology.hpp"
#include "tools/reader/raw_records.hpp"
#include "tools/text/number_list.hpp"

#include <utility>

namespace libprofile::tools {

namespace {

constexpr std::uint64_t most_processors = 1u << 16; // of a machine

/// A number + 1, or 0 for none. Returns false if no machine has that number.
bool take(std::uint64_t from, std::optional<std::uint32_t>& to) {
    if (from != 0) to = static_cast<std::uint32_t>(from - 1);
    return from <= most_processors;
}

} // namespace

bool decode_topology(Decoder d, std::optional<RankAffinity>& out) {
    TopologyRecord r;
    describe(d, r);
    if (d.failed() || r.processors > d.remaining() / 4 || r.threads > d.remaining() / 6) return false;
    RankAffinity affinity;
    affinity.machine = {owned(r.machine), owned(r.model), r.memory, r.machine_processors, r.machine_cores, r.machine_packages, r.machine_numa_nodes};
    affinity.counters = owned(r.counters);
    for (std::uint64_t i = 0; i < r.processors; ++i) {
        ProcessorRecord p;
        describe(d, p);
        Processor processor;
        processor.number = static_cast<std::uint32_t>(p.number);
        if (d.failed() || p.number >= most_processors || !take(p.core, processor.core) || !take(p.package, processor.package) ||
            !take(p.numa_node, processor.numa_node) || (!affinity.processors.empty() && affinity.processors.back().number >= processor.number))
            return false;
        affinity.processors.push_back(processor);
    }
    std::uint64_t listed = 0; // processors in all lists: a few bytes can name many
    for (std::uint64_t i = 0; i < r.threads; ++i) {
        ThreadAffinityRecord t;
        describe(d, t);
        ThreadAffinity thread;
        if (d.failed() || t.thread > max_id || !take(t.last, thread.last)) return false;
        thread.thread = static_cast<std::uint32_t>(t.thread);
        thread.looks = t.looks;
        thread.moves = t.moves;
        thread.counters = t.counters;
        if (t.allowed.size != 0) {
            std::optional<std::vector<std::uint32_t>> allowed = parse_number_list({t.allowed.data, t.allowed.size});
            listed += allowed ? allowed->size() : 0;
            if (!allowed || allowed->empty() || allowed->back() >= most_processors || listed > 1u << 22) return false;
            thread.allowed = std::move(*allowed);
        }
        affinity.threads.push_back(std::move(thread));
    }
    if (d.failed() || d.remaining() != 0 || out) return false;
    out = std::move(affinity);
    return true;
}

} // namespace libprofile::tools
