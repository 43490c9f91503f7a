// The profile of one job in memory: what the reader makes of a folder and every analysis works on.
// Contract: plain data; const access is thread-safe; copying allocates; nothing here throws but std::bad_alloc.
//
// The call paths of all ranks and threads are unified into one tree. Two nodes are the same call path when their
// parents are and they have the same kind and target: (build-id or path of the module, offset), or function name.
#pragma once

#include "format/clock.hpp"
#include "format/loops.hpp"
#include "format/metrics.hpp"
#include "format/openmp.hpp"
#include "format/partners.hpp"
#include "format/profile_file.hpp"
#include "format/regions.hpp"
#include "format/short_threads.hpp"
#include "format/trace.hpp"
#include "tools/reader/events.hpp"
#include "tools/reader/function_loops.hpp"
#include "tools/reader/machine_tree.hpp"
#include "tools/reader/page_nodes.hpp"
#include "tools/reader/sequences.hpp"
#include "tools/reader/series.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace libprofile::tools {

/// What is known about the job as a whole.
struct Job {
    std::uint64_t ranks = 0;         // size of MPI_COMM_WORLD
    std::uint64_t start_unix_ns = 0; // 0 if unknown
    std::string mpi;
    std::string command;
    std::string executable;
    std::string folder;
    std::string version;       // of libprofile in the job
    std::string configuration; // lines NAME=value
};

/// The machine that a rank ran on; 0 and empty: unknown.
struct MachineInfo {
    std::string id; // equal on ranks of the same machine, unless empty
    std::string model;
    std::uint64_t memory = 0; // bytes
    std::uint64_t processors = 0;
    std::uint64_t cores = 0;
    std::uint64_t packages = 0;
    std::uint64_t numa_nodes = 0;
};

/// A hardware thread.
struct Processor {
    std::uint32_t number = 0;
    std::optional<std::uint32_t> core; // lowest number of its processors
    std::optional<std::uint32_t> package;
    std::optional<std::uint32_t> numa_node;
};

/// Where a thread was seen, and where it was allowed to run.
struct ThreadAffinity {
    std::uint32_t thread = 0;
    std::vector<std::uint32_t> allowed; // processors; empty: unknown
    std::optional<std::uint32_t> last;  // processor
    std::uint64_t looks = 0;
    std::uint64_t moves = 0;
    std::uint64_t counters = 0; // bit i: counter i of the rank was read
};

struct RankAffinity {
    MachineInfo machine;
    std::string counters;              // their names, separated by commas
    std::vector<Processor> processors; // that its threads used or might have, by number
    std::vector<ThreadAffinity> threads;

    const Processor* processor(std::uint32_t number) const {
        const auto at =
            std::lower_bound(processors.begin(), processors.end(), number, [](const Processor& p, std::uint32_t wanted) { return p.number < wanted; });
        return at == processors.end() || at->number != number ? nullptr : &*at;
    }
    const ThreadAffinity* thread(std::uint32_t number) const {
        for (const ThreadAffinity& affinity : threads)
            if (affinity.thread == number) return &affinity;
        return nullptr;
    }
};

/// What is known about one process; the counters are sums over its threads (see RankRecord).
struct RankInfo {
    std::uint64_t pid = 0;
    std::string host;
    std::uint64_t threads = 0;
    bool complete = false;
    bool tsc = false;
    std::uint64_t rate = 0;
    std::uint64_t samples_taken = 0;
    std::uint64_t samples_lost = 0;
    std::uint64_t partial_paths = 0;
    std::uint64_t quota_losses = 0;
    std::uint64_t nesting_repairs = 0;
    std::uint64_t threads_lost = 0;
    std::uint64_t requests_lost = 0;
    std::uint64_t operations_lost = 0;
    std::uint64_t memory_used = 0;
    std::uint64_t memory_quota = 0;
    std::uint64_t memory_peak = 0;   // 0 if unknown (files of version 3)
    std::uint64_t bytes_written = 0; // of its blocks
    std::uint64_t writing_ns = 0;
    bool checkpoint = false; // written while the rank went on running
    std::uint64_t threads_running = 0;
    std::uint64_t threads_short = 0;                              // that ended without a sample, an MPI call, a marker or a region: no locations
    std::uint64_t threads_short_ns = 0;                           // their processor time, in no other number
    std::uint64_t kept_iterations = 0;                            // that came from the journal of a live file
    std::uint64_t beyond_reader = 0;                              // of these, in no cluster because of the bounds of time and memory that apply_journal() has
    std::array<std::uint64_t, path_count_count> path_counts = {}; // in the order of path_counts.def
    SamplingClock sampling_clock = SamplingClock::None;
    std::uint64_t clocks_lost = 0;
    std::uint64_t skipped[skip_reason_count] = {}; // samples without a call path, by SkipReason
    std::optional<RegionsRecord> regions;          // it had some
    std::optional<OpenMpRecord> openmp;            // it had parallel regions
    std::optional<RankAffinity> affinity;
    std::optional<MachineTree> machine; // as hwloc saw it, where this rank's `libprofile run` asked
    std::optional<PageNodes> pages;     // its tasks have dependences in the events
    std::optional<ClockRecord> clock;   // brings its times to the axis of the job (analysis/clock_axis.hpp)
};

/// A program or shared library. Identified by its build-id, or by its path when it has none.
struct Module {
    std::string build_id; // raw bytes
    std::string path;
};

/// An MPI function.
struct Function {
    std::string name;
    TimeCategory category = TimeCategory::MpiOther;
};

/// The name of an address in a program.
struct SiteName {
    std::string function; // demangled; empty: unknown
    std::string file;     // empty if unknown
    std::uint64_t line = 0;
};

/// An address in a program: offset is an ELF virtual address.
struct Site {
    std::uint32_t module = 0;
    std::uint64_t offset = 0;
    SiteName name;                 // of the function that the code belongs to
    std::vector<SiteName> inlined; // of functions inlined there, outermost first
};

/// A node of the unified call-path tree. Node 0 is the root; a parent's id is smaller than its children's.
struct CallPath {
    std::uint32_t parent = 0;
    NodeKind kind = NodeKind::Root;
    std::uint32_t target = 0;  // Frame, Inlined, FunctionRegion: index of the site; Mpi: of the function; Region: its RegionClass; Python: line; else 0
    std::uint64_t address = 0; // Unknown: the address; Inlined: position in Site::inlined; Region, Python: id of the name; else 0
};

/// A metric that cells hold. The first metric_count entries of Profile::metrics are those of the catalogue, the others counters that the
/// user chose.
struct MetricInfo {
    std::string name;
    std::string unit;
    std::string description; // of counters
};

/// One non-zero exclusive value.
struct Cell {
    std::uint32_t path = 0;
    std::uint32_t metric = 0;
    std::uint64_t value = 0;
};

struct Cluster {
    std::uint64_t size = 0; // iterations
    std::uint64_t equivalence_class = 0;
    std::vector<Cell> cells; // sums over its iterations
};

struct Phase {
    std::string name; // "" lies outside all others
    PhaseKind kind = PhaseKind::Outside;
    /// For a loop that was found: its name in the runtime; several names if ranks begin their passes at different call sites.
    std::vector<std::string> recorded_as = {};
    /// For such a loop: a loop inside it, which is a phase, too, has most of its time. Then that one's iterations are meant.
    bool is_frame = false;

    bool is_called(std::string_view wanted) const { return name == wanted || std::find(recorded_as.begin(), recorded_as.end(), wanted) != recorded_as.end(); }
};

/// Clusters of a phase whose computing time the same samples shared out (sample_pools.hpp).
struct SamplePool {
    double samples = 0;    // of equal times that would be as exact as those there are, which stand for unequal times
    bool is_mixed = false; // its clusters have different call structures
};

/// What lay inside the iterations of a phase, no third phase with iterations between them.
struct InsideData {
    struct Entry {
        std::uint64_t iteration = 0; // from 0
        std::uint32_t phase = 0;     // what was inside: index into Profile::phases
        std::uint64_t count = 0;     // its iterations there; of other phases: times entered
        std::uint64_t first = 0;     // the first of its iterations
        std::uint64_t wall_ns = 0;   // of other phases: exclusive time there
    };
    std::uint64_t known = 0;    // of so many iterations, from the first, it is told
    std::vector<Entry> entries; // by iteration
};

/// One phase as one location saw it.
struct PhaseData {
    std::uint32_t phase = 0; // index into Profile::phases
    std::uint64_t instances = 0;
    std::uint64_t wall_ns = 0; // exclusive
    std::uint64_t wall_inclusive_ns = 0;
    Equivalence equivalence = Equivalence::None;
    std::uint64_t relaxed = 0;
    std::uint64_t classes = 0;
    std::uint64_t unclustered = 0;
    std::vector<Cluster> clusters;
    std::vector<Cell> rest;
    std::vector<SamplePool> pools;
    std::vector<std::uint32_t> pool_of_cluster;      // the rest last; pools.size(): no samples
    std::vector<std::uint32_t> cluster_of_iteration; // clusters.size(): in the rest
    std::vector<std::uint64_t> iteration_ns;         // inclusive, exact
    std::vector<std::uint64_t> iteration_begin_ns;   // since the rank's clock began, where it is known: of the first ones (format/begins.hpp)
    std::optional<InsideData> inside;                // empty if no phase lay inside, or it was not noted which
    std::optional<SequencesData> sequences;          // in which order events came; with LIBPROFILE_ORDER
    std::optional<SeriesData> series;                // every iteration's own values, unless LIBPROFILE_METHOD=reference
};

/// One sample.
struct TraceSample {
    std::uint64_t time_ns = 0; // since the clock of its rank began
    std::uint32_t path = 0;
    /// Frames, from the outermost, in activations that the sample before was in, too. Counts the frames of the machine: those
    /// of inlined functions are none. Never more than the path has.
    std::uint32_t lca_depth = 0;
    LcaKind lca_kind = LcaKind::Unknown;
};

/// A long call of MPI or wait of OpenMP.
struct TraceWait {
    std::uint64_t begin_ns = 0; // since the clock of its rank began
    std::uint64_t end_ns = 0;
    std::uint32_t path = 0;
    /// As those of a sample, with the sample or wait before it. Waits of which they are not known are passed over by the others.
    std::uint32_t lca_depth = 0;
    LcaKind lca_kind = LcaKind::Unknown;
    /// With the sample or wait after it.
    std::uint32_t after_depth = 0;
    LcaKind after_kind = LcaKind::Unknown;
};

/// The samples of a location in the order of time, and its long waits in the order of their ends (LIBPROFILE_TRACE).
struct Trace {
    std::uint64_t stride = 0; // every stride-th sample is there; 0 if nothing was recorded
    std::uint64_t dropped = 0;
    std::vector<TraceSample> samples;
    std::vector<TraceWait> waits = {};
    std::uint64_t waits_dropped = 0;
    std::uint64_t longest_dropped_ns = 0; // all waits longer than this are there
};

/// The point-to-point messages of a call path in one direction, by the rank at the other end.
struct PartnerRow {
    struct Sum {
        std::uint64_t messages = 0;
        std::uint64_t bytes = 0;
    };
    std::uint32_t path = 0;
    MessageDirection direction = MessageDirection::Sent;
    std::vector<PartnerRecord> partners; // the first ones
    Sum others;                          // all further ones
    Sum unknown;
};

/// Over the whole run.
struct Partners {
    std::uint64_t lost = 0; // messages without a row
    std::vector<PartnerRow> rows;
};

/// A loop that was found in a program that marks no iterations; its passes are the iterations of a phase.
struct FoundLoop {
    std::string phase; // the name of the phase, as Phase::name
    Module module;     // of the call site where a pass begins; LoopIsPython: its path is the file, and offsets are lines
    std::uint64_t offset = 0;
    std::string call;        // the MPI function called there or below; empty if a pass is an entry of the iteration point
    std::uint64_t flags = 0; // LoopFlag
    bool is(LoopFlag flag) const { return (flags & flag) != 0; }
    std::uint64_t missed = 0;
    std::uint64_t moves = 0;
    std::uint64_t passes = 0;
    std::uint64_t other_offset = 0; // another call site that may be the right one, and how often it was passed; 0 if there is none
    std::uint64_t other_passes = 0;
    std::string recorded_as = {}; // what the runtime called it
    std::uint64_t function = 0;   // where its function begins, in the module; LoopIsPython: id of its name; 0 if unknown
    std::uint64_t caller = 0;     // hash of the call path to that function
    std::uint64_t first_ns = 0;   // when it ran, since the search began
    std::uint64_t last_ns = 0;
    std::string around = {}; // what the runtime called the loop in whose passes it is called; empty: there is none
};

/// What a location's search for loops came to (format/loops.hpp).
struct LoopSearch {
    std::uint64_t searched_ns = 0;
    std::uint64_t calls = 0;
    std::vector<FoundLoop> loops;
};

/// A thread of a rank.
struct Location {
    std::uint32_t rank = 0;
    std::uint32_t thread = 0; // 0 is the main thread
    std::uint64_t wall_ns = 0;
    bool complete = false;
    std::vector<PhaseData> phases;
    Trace trace;
    std::optional<LoopSearch> loop_search;
    Partners partners = {};
    KeptEvents events = {};
    std::optional<EventsElsewhere> left_events = {}; // then `events` has none
};

/// Times and visits of call paths by which all parts of one profile decide alike what a function is, whatever ranks and phases were chosen.
struct Witnesses {
    std::set<std::uint32_t> ranks; // the first and the last one of the job that have data; empty: all locations tell
    std::vector<Cell> cells;       // of those that are no locations of the profile
};

struct Profile {
    Job job;
    std::map<std::uint32_t, RankInfo> ranks; // those with data
    std::vector<Location> locations;         // sorted by rank, then thread
    Witnesses witnesses;
    std::vector<Module> modules;
    std::vector<Function> functions;
    std::vector<Site> sites;
    std::vector<ModuleLoops> loops;                    // that were kept with names: by module, or empty if there are none
    std::map<std::uint64_t, std::string> region_names; // by id
    std::vector<CallPath> paths;
    std::vector<MetricInfo> metrics;
    std::vector<Phase> phases;      // the phase "" first if there is one
    bool complete = false;          // every rank is here, reached its end, and nothing was damaged
    std::vector<std::string> notes; // what is lost or does not fit together, one sentence each
};

/// Gives the phases of a location the numbers that `number(old)` says.
template <class Number> void renumber_phases(Location& location, Number&& number) {
    for (PhaseData& data : location.phases) {
        data.phase = number(data.phase);
        if (data.inside)
            for (InsideData::Entry& entry : data.inside->entries) entry.phase = number(entry.phase);
        if (data.sequences)
            for (EventSequence& sequence : data.sequences->sequences)
                for (SequenceEvent& event : sequence.events)
                    if (event.phase != SequenceEvent::none) event.phase = number(event.phase);
    }
    for (EventPart& part : location.events.parts)
        if (part.phase != EventPart::no_phase) part.phase = number(part.phase);
    for (TracedInner& inner : location.events.inners)
        if (inner.phase != EventPart::no_phase) inner.phase = number(inner.phase);
    if (location.left_events)
        for (auto& [own, phase] : location.left_events->phases) phase = number(phase);
}

/// Calls `visit(const Cell&)` for every cell of the phase: clusters first, then the rest.
template <class Visitor> void for_each_cell(const PhaseData& data, Visitor&& visit) {
    for (const Cluster& cluster : data.clusters)
        for (const Cell& cell : cluster.cells) visit(cell);
    for (const Cell& cell : data.rest) visit(cell);
}

/// What the exclusive time of a call path is booked under.
inline TimeCategory category_of(const Profile& profile, const CallPath& path) {
    return is_call(path.kind) ? profile.functions[path.target].category : category_of(path.kind);
}

} // namespace libprofile::tools
