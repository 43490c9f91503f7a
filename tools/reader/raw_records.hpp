// The records of one file with the numbers of that file (module, function and node ids, metric positions).
// Contract: plain data.
#pragma once

#include "tools/reader/blocks.hpp"
#include "tools/reader/model.hpp"
#include "tools/reader/series.hpp"

#include <map>
#include <optional>
#include <set>

namespace libprofile::tools {

struct RawTree {
    TreeRecord record;
    std::vector<NodeRecord> nodes; // id = position + 1
};

struct RawPhase {
    std::uint32_t thread = 0;
    std::string name;
    PhaseKind kind = PhaseKind::Outside;
    PhaseData data;                     // cells with the node ids and metric positions of the file; data.phase is not set
    std::uint32_t number = 0;           // in its thread
    std::uint64_t metrics_expected = 0; // Cells blocks that the writer made
    std::set<std::uint32_t> metrics_found;
};

/// A Cells block.
struct RawCells {
    std::uint32_t thread = 0;
    std::uint32_t phase = 0;
    std::uint32_t metric = 0;
    std::vector<std::uint64_t> sizes; // of the lists
    std::vector<Cell> cells;          // of all lists
};

/// An Inside block; phases are numbers of the thread's phases.
struct RawInside {
    std::uint32_t thread = 0;
    std::uint32_t phase = 0;
    InsideData data;
};

/// A Begins block.
struct RawBegins {
    std::uint32_t thread = 0;
    std::uint32_t phase = 0;
    std::uint64_t first = 0;
    std::vector<std::uint64_t> gaps;       // ns before each iteration
    std::vector<std::uint64_t> later = {}; // when the iterations began that came with a journal, all of them
};

/// A Sequences block; paths are node ids of the file, phases numbers of the thread's phases.
struct RawSequences {
    std::uint32_t thread = 0;
    std::uint32_t phase = 0;
    std::uint64_t iterations = 0; // whose numbers are coded
    SequencesData data;           // without the numbers
    std::vector<unsigned char> numbers;
};

/// What the numbers in trees mean: of a rank, or of the job.
struct RawTables {
    std::optional<std::vector<Module>> modules;
    std::optional<std::map<std::uint64_t, Function>> functions; // by id
    std::map<std::uint32_t, RawTree> trees;                     // by thread; of the job: 0
};

struct RawSeries {
    std::uint32_t thread = 0;
    std::string phase;
    SeriesData data; // paths are node ids of the file
};

struct RawRank {
    std::optional<RankInfo> info;
    RawTables tables;
    std::map<std::uint32_t, LocationRecord> locations;             // by thread
    std::map<std::uint32_t, std::vector<std::uint32_t>> node_maps; // by thread; nodes of the job's tree, from node 1
    std::vector<RawPhase> phases;
    std::vector<RawCells> cells;                // until join_cells()
    std::vector<std::vector<Cell>> spare_cells; // memory for the next ones
    std::map<std::uint32_t, Trace> traces;      // by thread, with the node ids of the file; without waits
    std::map<std::uint32_t, Trace> waits;       // the same, without samples
    std::map<std::uint32_t, KeptEvents> events; // by thread, with the node ids of the file and the numbers of the main thread's phases
    std::vector<RawSeries> series;
    std::vector<RawInside> insides;
    std::vector<RawBegins> begins;
    std::vector<RawSequences> sequences;
    std::map<std::uint32_t, EventsElsewhere> left_events; // by thread; without paths and phases
    std::map<std::uint32_t, LoopSearch> loop_searches;    // by thread
    std::map<std::uint32_t, Partners> partners;           // by thread, with the node ids of the file
    std::optional<RegionsRecord> regions;
    std::map<std::uint64_t, std::string> region_names; // by id
    std::optional<OpenMpRecord> openmp;
    std::optional<ShortThreadsRecord> short_threads;
    std::optional<RankAffinity> affinity;
    std::optional<PageNodes> pages;
    std::optional<MachineTree> machine;
    std::optional<ClockRecord> clock;
    std::optional<Bytes> journal; // of a live file, until it is applied
    bool is_witness = false;      // not chosen: of its times and visits only the call paths are wanted (Witnesses)
};

/// A resolved name as it is stored in a Names block.
struct StoredName {
    Module module;
    std::uint64_t offset = 0;
    SiteName name;
    std::vector<SiteName> inlined;
};

/// What a CodeLoops block has of one module.
struct StoredLoops {
    Module module;
    ModuleLoops loops;
};

struct RawFile {
    std::string name;                 // for messages
    std::uint64_t ranks_expected = 0; // by the header
    bool partial = false;             // was still being written
    bool selected = false;            // parts were left out because they were not requested
    bool samples_unwanted = false;    // they are there only because times are shared out by them
    std::optional<Job> job;
    std::optional<std::vector<MetricInfo>> metrics;
    RawTables tables; // of the job
    std::map<std::uint32_t, RawRank> ranks;
    std::vector<StoredName> names;
    std::vector<StoredLoops> code_loops;
    Damages damages;
};

/// Largest number of ranks that is believed; a job record that claims more is damaged.
inline constexpr std::uint64_t rank_limit = std::uint64_t{1} << 22;

inline constexpr std::uint64_t max_id = 0xfffffffeu;

/// A text of the file, which may be gone later.
inline std::string owned(const Text& text) { return text.size == 0 ? std::string() : std::string(text.data, text.size); }

/// One record of a Names block: count, then NameRecord and its InlinedRecord*.
struct NameRecord {
    Text build_id; // raw bytes; empty when the module has none
    Text path;
    std::uint64_t offset = 0;
    Text function;
    Text file;
    std::uint64_t line = 0;    // 0 if unknown
    std::uint64_t inlined = 0; // functions inlined there, outermost first: InlinedRecord*
};
template <class Codec> void describe(Codec& c, NameRecord& r) {
    c.text(r.build_id);
    c.text(r.path);
    c.number(r.offset);
    c.text(r.function);
    c.text(r.file);
    c.number(r.line);
    c.number(r.inlined);
}

struct InlinedRecord {
    Text function;
    Text file;
    std::uint64_t line = 0;
};
template <class Codec> void describe(Codec& c, InlinedRecord& r) {
    c.text(r.function);
    c.text(r.file);
    c.number(r.line);
}

} // namespace libprofile::tools
