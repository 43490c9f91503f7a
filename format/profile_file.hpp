// The profile file, described once for the writer in the job and for all readers. docs/format.md describes it in words.
// Contract: plain data and inline functions; no allocation; `describe` runs with an Encoder or a Decoder.
//
//   file  := FileHeader block*            all integers little-endian
//   block := BlockHeader payload padding  (padding: zero bytes up to a multiple of 8)
//
// A payload is a sequence of records; BlockType gives the order of records inside a block.
#pragma once

#include "format/codec.hpp"
#include "format/metrics.hpp"
#include "format/path_counts.hpp"
#include "format/skip_reasons.hpp"

#include <cstdint>

namespace libprofile {

inline constexpr char file_magic[8] = {'L', 'I', 'B', 'P', 'R', 'O', 'F', '\n'};
inline constexpr std::uint32_t format_version = 5;
inline constexpr std::uint32_t block_magic = 0x4b42504c; // "LPBK"
inline constexpr const char* file_suffix = ".lprof";

enum FileFlag : std::uint32_t {
    FileComplete = 1u << 0, // all ranks of the job are in this file and reached MPI_Finalize
};

struct FileHeader {
    char magic[8];
    std::uint32_t version;
    std::uint32_t flags;
    std::uint64_t ranks; // ranks in this file
    std::uint64_t reserved;
};
static_assert(sizeof(FileHeader) == 32);

enum class BlockType : std::uint32_t {
    Job = 1,     // JobRecord
    Metrics = 2, // count, then per direct metric (in the order used by cells): name, unit; then the number of counters, which are
                 //   the last of them, and per counter its description
    Rank = 3,    // RankRecord
    // The next three tables belong to a rank, or with no_rank to the job, for all ranks whose locations name a NodeMap.
    Modules = 4,   // count, then ModuleRecord*            id = position
    Functions = 5, // count, then FunctionRecord*          only those in use
    Tree = 6,      // TreeRecord, then NodeRecord*         id = position + 1; node 0 is the root and not stored
    Phase = 7,     // PhaseRecord; per cluster: ClusterRecord;
                   //   only for Iterations: number of runs, per run: its length, its cluster;
                   //   then per iteration its inclusive wall time in ns, as signed difference to the one before.
                   //   Iterations that are in no cluster have the cluster number `clusters`.
    Names = 8,     // written by `libprofile`: resolved names (tools/names)
    Trace = 9,     // TraceRecord (trace.hpp), then TraceSampleRecord*; only with LIBPROFILE_TRACE
    Averages = 20, // AveragesRecord (averages.hpp). Of an iterated phase.
    // 10: the series of earlier builds, in another coding. Readers skip it; the number is never reused.
    Series = 22,       // SeriesRecord (series_records.hpp); per column of counts: node, metric; per column of times: node, column of the node's
                       //   visits + 1 (0 if none); per metric: SeriesAccuracyRecord; SeriesChunkRecord*. Of an iterated phase.
    Location = 11,     // LocationRecord
    NodeMap = 12,      // NodeMapRecord; per node of a location, from 1: its node in the job's tree, as signed difference from that of
                       //   the node before (0 before the first)
    Cells = 13,        // CellsRecord; per list its number of cells; then for all lists the node of each cell, as difference from that of
                       //   the cell before (0 before the first of a list); then for all lists the values. The lists are those of the
                       //   phase's clusters, then the rest, which is in no cluster; for Outside and Aggregate phases, everything.
    Directory = 14,    // count, then DirectoryEntryRecord*: the offsets of one rank's blocks
    RankTable = 15,    // RankEntry*, one per rank of the file. Its crc is 0: each entry has its own
    Footer = 16,       // FooterRecord: the last block of a finished file
    Loops = 23,        // LoopsRecord (loops.hpp), then LoopRecord*
    Regions = 24,      // RegionsRecord (regions.hpp), then RegionNameRecord*
    Topology = 25,     // TopologyRecord (topology.hpp), then ProcessorRecord*, ThreadAffinityRecord*. Of a rank
    OpenMp = 26,       // OpenMpRecord (openmp.hpp). Of a rank
    ShortThreads = 27, // ShortThreadsRecord (short_threads.hpp). Of a rank
    Inside = 28,       // InsideRecord; per iteration that has something inside: iterations left out before it, number of phases inside, per
                       //   such phase: its number, its iterations there and the first of them from 0; of other phases: times entered,
                       //   exclusive wall time there. Of an iterated phase
    Partners = 31,     // PartnersRecord (partners.hpp); per row: PartnerRowRecord, PartnerRecord*. Of a thread
    Begins = 29,       // BeginsRecord (begins.hpp), then as a text the gaps before iterations, 2 bytes each. Of an iterated phase
    Clock = 30,        // ClockRecord (clock.hpp). Of a rank
    Totals = 34,       // TotalsRecord, or with no_rank TotalsIndexRecord (totals.hpp). In a file of its own, written by `libprofile`
    Waits = 32,        // WaitsRecord (trace.hpp), then WaitRecord*; of a thread that has a Trace
    CodeLoops = 33,    // written by `libprofile`, beside Names: loops of machine code (tools/reader/code_loops.hpp)
    Sequences = 35,    // SequencesRecord (sequences.hpp); per sequence: SequenceRecord, SequenceEventRecord*; then as a text the coded numbers of the
                       //   iterations' sequences. Of an iterated phase
    Events = 36,       // EventsRecord (events.hpp); per part: EventPartRecord, EventRecord*. Of a thread with LIBPROFILE_TRACE=events
    Pages = 37,        // PagesRecord (pages.hpp), then PageRangeRecord*. Of a rank whose tasks have dependences in the events
    Machine = 38,      // MachineRecord (machine.hpp), MachineObjectRecord*, distances. Of a rank for which `libprofile run` asked hwloc
    Journal = 21,      // journal.hpp; the last block of a live file. Its size is that of the room; crc is 0 and unused
};

inline constexpr std::uint32_t no_rank = 0xffffffffu;

struct BlockHeader {
    std::uint32_t magic;
    std::uint32_t type;
    std::uint64_t stored_size; // bytes of payload in the file, without padding
    std::uint64_t raw_size;    // of the contents described above. If greater than stored_size, the payload is zstd frames of them, one after the other
    std::uint32_t crc;         // CRC-32 of the stored payload
    std::uint32_t rank;        // no_rank: belongs to the job
};
static_assert(sizeof(BlockHeader) == 32);

/// Contents of a zstd frame of an Events block, so that readers need not decompress all of it for a part. Other blocks are one frame.
inline constexpr std::size_t events_frame_size = 1u << 16;

/// The largest contents of a compressed block, relative to its size; larger contents are stored uncompressed. So a malicious file cannot make
/// a reader take much memory.
inline constexpr std::uint64_t most_raw_per_stored = 64;
inline constexpr std::uint64_t most_raw_always = 1u << 16;
inline constexpr bool is_raw_size_allowed(std::uint64_t raw, std::uint64_t stored) { return raw <= most_raw_always || raw / most_raw_per_stored <= stored; }

/// Where the directory of a rank is, for readers that want parts of a file. It has a fixed size, so each rank writes its own. Entries in the
/// RankTable are in the order of the ranks.
struct RankEntry {
    std::uint64_t directory_at;   // of the block's header, from the beginning of the file
    std::uint64_t directory_size; // header and stored payload
    std::uint32_t rank;
    std::uint32_t crc; // of the 20 bytes before
};
static_assert(sizeof(RankEntry) == 24);

inline constexpr char end_magic[8] = {'L', 'P', 'R', 'O', 'F', 'E', 'N', 'D'};

/// The last 32 bytes of the file: not encoded, and never compressed.
struct FooterRecord {
    std::uint64_t file_size;
    std::uint64_t table_at; // offset of the RankTable's header
    std::uint64_t ranks;    // number of entries; the job's blocks are in the directory of the first
    char magic[8];          // end_magic
};
static_assert(sizeof(FooterRecord) == 32);

/// A block of the rank that owns the directory, or a block of the job that this rank has written.
struct DirectoryEntryRecord {
    std::uint64_t type = 0;   // BlockType
    std::uint64_t of_job = 0; // 1 if its rank is no_rank
    std::uint64_t thread = 0;
    std::uint64_t phase = 0;    // number of the phase + 1; 0 if the block belongs to none
    std::uint64_t metric = 0;   // position in Metrics + 1; 0 if the block belongs to none
    std::uint64_t distance = 0; // from the block's header to that of the directory, which comes after it
    std::uint64_t stored_size = 0;
};
template <class Codec> void describe(Codec& c, DirectoryEntryRecord& r) {
    c.number(r.type);
    c.number(r.of_job);
    c.number(r.thread);
    c.number(r.phase);
    c.number(r.metric);
    c.number(r.distance);
    c.number(r.stored_size);
}

struct JobRecord {
    std::uint64_t ranks = 0; // size of MPI_COMM_WORLD
    std::uint64_t start_unix_ns = 0;
    Text mpi;     // e.g. "Open MPI 4.1.4"; "none" without MPI
    Text command; // arguments separated by blanks
    Text executable;
    Text folder;        // working folder of the job
    Text version;       // of libprofile
    Text configuration; // lines NAME=value
};
template <class Codec> void describe(Codec& c, JobRecord& r) {
    c.number(r.ranks);
    c.number(r.start_unix_ns);
    c.text(r.mpi);
    c.text(r.command);
    c.text(r.executable);
    c.text(r.folder);
    c.text(r.version);
    c.text(r.configuration);
}

/// The clock that times the samples of a thread.
enum class SamplingClock : std::uint8_t { None = 0, Perf = 1, Timer = 2, Wall = 3 };
inline constexpr const char* sampling_clock_names[] = {"none", "perf", "timer", "wall"};
inline constexpr std::size_t sampling_clock_count = sizeof sampling_clock_names / sizeof *sampling_clock_names;

/// One process. Counts of losses are sums over its threads.
struct RankRecord {
    std::uint64_t rank = 0;
    std::uint64_t pid = 0;
    Text host;
    std::uint64_t threads = 0;
    std::uint64_t complete = 0;        // 1 if it reached MPI_Finalize
    std::uint64_t clock = 0;           // 0 monotonic, 1 TSC
    std::uint64_t rate = 0;            // samples per second that were asked for, their mean if automatic; rounded; 0 for none
    std::uint64_t samples_taken = 0;   // samples in the profile
    std::uint64_t samples_lost = 0;    // timer expirations without one: overruns, failed unwinds, quota
    std::uint64_t partial_paths = 0;   // call paths that do not reach a known root
    std::uint64_t quota_losses = 0;    // call paths or iterations folded together because memory ran out
    std::uint64_t nesting_repairs = 0; // mismatched phase markers
    std::uint64_t threads_lost = 0;    // threads without a location (quota)
    std::uint64_t requests_lost = 0;   // MPI requests whose messages are not counted (no memory to remember them)
    std::uint64_t memory_used = 0;     // bytes of the quota in use at the end
    std::uint64_t memory_quota = 0;
    std::uint64_t checkpoint = 0;                     // 1 if MPI_Pcontrol(2) wrote it while the rank was running
    std::uint64_t threads_running = 0;                // threads that a checkpoint could not read, because they were running
    std::uint64_t path_counts[path_count_count] = {}; // in the order of path_counts.def
    std::uint64_t sampling_clock = 0;                 // SamplingClock of the main thread
    std::uint64_t clocks_lost = 0;                    // threads whose perf counter the application closed; their CPU timer took over
    std::uint64_t skipped[skip_reason_count] = {};    // samples taken without a call path, by SkipReason
    // Since version 4:
    std::uint64_t memory_peak = 0;   // peak of bytes in use: of the quota, and of the live file mapped into memory
    std::uint64_t bytes_written = 0; // of this rank's blocks, without this one and the directory
    std::uint64_t writing_ns = 0;    // from the end of the measurement until they were made, without waiting for others
    // Earlier files of version 5 end here:
    std::uint64_t operations_lost = 0; // calls of MPI_Op_create with functions whose time is that of the calls they run in: too many others
};
template <class Codec> void describe(Codec& c, RankRecord& r) {
    c.number(r.rank);
    c.number(r.pid);
    c.text(r.host);
    c.number(r.threads);
    c.number(r.complete);
    c.number(r.clock);
    c.number(r.rate);
    c.number(r.samples_taken);
    c.number(r.samples_lost);
    c.number(r.partial_paths);
    c.number(r.quota_losses);
    c.number(r.nesting_repairs);
    c.number(r.threads_lost);
    c.number(r.requests_lost);
    c.number(r.memory_used);
    c.number(r.memory_quota);
    c.number(r.checkpoint);
    c.number(r.threads_running);
    for (std::uint64_t& count : r.path_counts) c.number(count);
    c.number(r.sampling_clock);
    c.number(r.clocks_lost);
    for (std::uint64_t& samples : r.skipped) c.number(samples);
    c.number(r.memory_peak);
    c.number(r.bytes_written);
    c.number(r.writing_ns);
    if constexpr (Codec::reading)
        if (c.remaining() == 0) return;
    c.number(r.operations_lost);
}
inline constexpr unsigned rank_fields_since_version_4 = 3;

struct ModuleRecord {
    Text build_id; // raw bytes; empty if the module has none
    Text path;
};
template <class Codec> void describe(Codec& c, ModuleRecord& r) {
    c.text(r.build_id);
    c.text(r.path);
}

/// An MPI function that occurs as an event node.
struct FunctionRecord {
    std::uint64_t id = 0;
    Text name;
    std::uint64_t category = 0; // TimeCategory
};
template <class Codec> void describe(Codec& c, FunctionRecord& r) {
    c.number(r.id);
    c.text(r.name);
    c.number(r.category);
}

enum class NodeKind : std::uint8_t {
    Root = 0,
    Frame = 1,           // a = module id, b = offset (ELF virtual address) of the call or of the sampled instruction
    Mpi = 2,             // a = function id
    Overhead = 3,        // "(libprofile)"
    OffCpu = 4,          // "(off CPU)"
    NotSampled = 5,      // "(not sampled)": computing time, less what samples stand for, modulo 2^64
    Partial = 6,         // "(partial)": the parent of call paths whose outer end is unknown
    Quota = 7,           // "(quota)": call paths dropped because memory ran out
    Unknown = 8,         // a frame outside every module: b = address
    NotRecorded = 9,     // "(not recorded)": time while recording was switched off
    Region = 10,         // a visit to a named region: a = RegionClass, b = id of the name (regions.hpp)
    OpenMp = 11,         // a = function id: a construct of OpenMP (openmp.def)
    FunctionRegion = 12, // a visit to a function that the compiler has instrumented: a = module id, b = offset of the function
    Python = 13,         // a call or a sampled instruction in a Python function: a = line (0 if unknown), b = id of the function (regions.hpp)
    Inlined = 255,       // never in a file: a function inlined into the frame above, added by tools/names/expand_inlined
};

/// Returns true for the kinds that a file may contain, except the root's.
constexpr bool is_stored_kind(std::uint64_t kind) {
    return kind >= static_cast<std::uint64_t>(NodeKind::Frame) && kind <= static_cast<std::uint64_t>(NodeKind::Python);
}
/// Returns true for machine code: a frame, or a function that the compiler inlined into it.
constexpr bool is_native_code(NodeKind kind) { return kind == NodeKind::Frame || kind == NodeKind::Inlined; }
/// Returns true for the program's own code, Python functions included.
constexpr bool is_code(NodeKind kind) { return is_native_code(kind) || kind == NodeKind::Python; }
/// Returns true for an event with exact visits and time, which is a row of the table of functions.
constexpr bool is_call(NodeKind kind) { return kind == NodeKind::Mpi || kind == NodeKind::OpenMp; }
/// What the exclusive time of a node that is no call is booked under.
constexpr TimeCategory category_of(NodeKind kind) {
    switch (kind) { // without default: a kind that is missing does not compile
    case NodeKind::Overhead: return TimeCategory::Overhead;
    case NodeKind::OffCpu: return TimeCategory::OffCpu;
    case NodeKind::NotRecorded: return TimeCategory::NotRecorded;
    case NodeKind::Mpi:
    case NodeKind::OpenMp: return TimeCategory::Count;
    case NodeKind::Root:
    case NodeKind::Frame:
    case NodeKind::NotSampled:
    case NodeKind::Partial:
    case NodeKind::Quota:
    case NodeKind::Unknown:
    case NodeKind::Region:
    case NodeKind::FunctionRegion:
    case NodeKind::Python:
    case NodeKind::Inlined: break;
    }
    return TimeCategory::Compute;
}
/// Returns true if `a` of such nodes is a module id and `b` an offset in it.
constexpr bool is_in_module(NodeKind kind) { return kind == NodeKind::Frame || kind == NodeKind::FunctionRegion; }
/// Returns true for nodes whose visits are actions of the program and define the structure of an iteration. Functions do not: which of them a
/// compiler has inlined or a filter left out means nothing, and the calls of recursive ones depend on the data.
constexpr bool counts_for_structure(NodeKind kind) { return is_call(kind) || kind == NodeKind::Region; }
constexpr bool is_region(NodeKind kind) { return kind == NodeKind::Region || kind == NodeKind::FunctionRegion; }

/// The location of a thread's call paths.
enum class PathsIn : std::uint8_t {
    OwnTree = 0, // the Tree block of its rank and thread
    NodeMap = 1  // the NodeMap block of map_rank and map_thread leads into the job's tree
};

/// A thread of a rank.
struct LocationRecord {
    std::uint64_t thread = 0; // 0 = main
    std::uint64_t wall_ns = 0;
    std::uint64_t complete = 0; // 1 if it reached the end of the measurement
    std::uint64_t paths_in = 0; // PathsIn
    std::uint64_t map_rank = 0; // of the NodeMap: locations with equal tables share one. 0 with OwnTree
    std::uint64_t map_thread = 0;
};
template <class Codec> void describe(Codec& c, LocationRecord& r) {
    c.number(r.thread);
    c.number(r.wall_ns);
    c.number(r.complete);
    c.number(r.paths_in);
    c.number(r.map_rank);
    c.number(r.map_thread);
}

struct NodeMapRecord {
    std::uint64_t thread = 0;
    std::uint64_t nodes = 0; // without the root, which is the job's root
};
template <class Codec> void describe(Codec& c, NodeMapRecord& r) {
    c.number(r.thread);
    c.number(r.nodes);
}

struct TreeRecord {
    std::uint64_t thread = 0; // 0 = main; 0 in the job's tree
    std::uint64_t nodes = 0;  // without the root
};
template <class Codec> void describe(Codec& c, TreeRecord& r) {
    c.number(r.thread);
    c.number(r.nodes);
}

struct NodeRecord {
    std::uint64_t parent_distance = 0; // own id - parent id, at least 1
    std::uint64_t kind = 0;
    std::uint64_t a = 0;
    std::uint64_t b = 0;
};
template <class Codec> void describe(Codec& c, NodeRecord& r) {
    c.number(r.parent_distance);
    c.number(r.kind);
    c.number(r.a);
    c.number(r.b);
}

enum class PhaseKind : std::uint8_t {
    Outside = 0,   // the phase "": outside all others
    Aggregate = 1, // one profile for all its instances
    Iterations = 2 // a profile per iteration, clustered
};

enum class Equivalence : std::uint8_t { None = 0, Weak = 1, Strong = 2 };

struct PhaseRecord {
    std::uint64_t thread = 0;
    std::uint64_t number = 0; // the phase's number in its thread
    Text name;
    std::uint64_t kind = 0;
    std::uint64_t instances = 0; // times entered; for Iterations the number of iterations
    std::uint64_t wall_ns = 0;   // exclusive: while it was the innermost open phase
    std::uint64_t wall_inclusive_ns = 0;
    std::uint64_t equivalence = 0; // Equivalence in force at the end
    std::uint64_t relaxed = 0;     // times the equivalence was relaxed
    std::uint64_t classes = 0;     // call-tree equivalence classes
    std::uint64_t clusters = 0;
    std::uint64_t unclustered = 0; // iterations folded into the rest
    std::uint64_t metrics = 0;     // Cells blocks
};
template <class Codec> void describe(Codec& c, PhaseRecord& r) {
    c.number(r.thread);
    c.number(r.number);
    c.text(r.name);
    c.number(r.kind);
    c.number(r.instances);
    c.number(r.wall_ns);
    c.number(r.wall_inclusive_ns);
    c.number(r.equivalence);
    c.number(r.relaxed);
    c.number(r.classes);
    c.number(r.clusters);
    c.number(r.unclustered);
    c.number(r.metrics);
}

struct ClusterRecord {
    std::uint64_t size = 0;              // iterations in it
    std::uint64_t equivalence_class = 0; // number of its class, from 0
};
template <class Codec> void describe(Codec& c, ClusterRecord& r) {
    c.number(r.size);
    c.number(r.equivalence_class);
}

/// Which phases lay inside the iterations of another one, with no third phase with iterations in between.
struct InsideRecord {
    std::uint64_t thread = 0;
    std::uint64_t phase = 0;      // its number in the thread
    std::uint64_t known = 0;      // number of iterations, from the first, that the block covers
    std::uint64_t iterations = 0; // number of iterations that have something inside
};
template <class Codec> void describe(Codec& c, InsideRecord& r) {
    c.number(r.thread);
    c.number(r.phase);
    c.number(r.known);
    c.number(r.iterations);
}

/// The non-zero exclusive values of one metric in one phase, by call path; for a cluster the sums over its iterations.
struct CellsRecord {
    std::uint64_t thread = 0;
    std::uint64_t phase = 0;  // its number
    std::uint64_t metric = 0; // position in Metrics
    std::uint64_t lists = 0;  // clusters of the phase + 1
};
template <class Codec> void describe(Codec& c, CellsRecord& r) {
    c.number(r.thread);
    c.number(r.phase);
    c.number(r.metric);
    c.number(r.lists);
}

} // namespace libprofile
