// Metric identifiers and their catalogue, shared by the runtime and the tools.
// Contract: constant data only; usable anywhere, async-signal-safe, never allocates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace libprofile {

/// Metrics that are measured directly and stored per call path: the index of a value in a profile cell.
/// `Time` (ns, exclusive) comes first; the others follow in the order of metrics.def.
enum class Metric : std::uint8_t {
    Time,
#define TIME(id, ...)
#define SUM(id, ...)
#define DIRECT(id, ...) id,
#include "format/metrics.def"
#undef TIME
#undef SUM
#undef DIRECT
    Count
};
inline constexpr std::size_t metric_count = static_cast<std::size_t>(Metric::Count);

/// Counters that the user chose (LIBPROFILE_METRICS) come after these: in rows and cells from position metric_count on, in condensed
/// vectors from catalogue_size on, in the order of the choice. What they are is said in the profile's Metrics block.
inline constexpr std::size_t most_counters = 8;
/// After them come as many for what they have come to in named regions, from entry to exit. As the time of regions that is no part of a
/// partition: a region has what those inside of it have, too.
inline constexpr std::size_t most_counter_metrics = 2 * most_counters;
inline constexpr std::size_t cell_metrics = metric_count + most_counter_metrics; // positions that a cell may have
inline constexpr const char region_counter_prefix[] = "region_";                 // of their names: "region_page_faults"

/// What the time of a call path is booked under. Assigned to MPI functions by wrappers/mpi/functions.table
/// and to the runtime's own nodes by their kind.
enum class TimeCategory : std::uint8_t {
    Compute,      // application code
    Overhead,     // inside libprofile
    OffCpu,       // not running, outside MPI
    MpiOther,     // MPI, none of the classes below
    MpiInitExit,  //
    MpiSyncOther, // synchronisation that is not collective (one-sided epochs, ...)
    MpiSyncColl,  // barriers
    MpiP2p,       //
    MpiColl,      //
    MpiOneSided,  //
    MpiFile,      // individual file I/O
    MpiFileColl,  // collective file I/O
    NotRecorded,  // recording was switched off
    OmpOther,     // OpenMP: beginning and ending of parallel regions, and what is none of the classes below
    OmpBarrier,   //
    OmpIdle,      // a worker thread between two parallel regions
    OmpLock,      // waiting for critical sections, locks, the turn in an ordered loop
    OmpTask,      // waiting for tasks
    Count
};

/// Every row of the catalogue, derived metrics included, in display order.
enum class CatalogueId : std::uint8_t {
#define TIME(id, ...) id,
#define SUM(id, ...) id,
#define DIRECT(id, ...) id,
#include "format/metrics.def"
#undef TIME
#undef SUM
#undef DIRECT
    None
};
inline constexpr std::size_t catalogue_size = static_cast<std::size_t>(CatalogueId::None);
inline constexpr std::size_t condensed_size = catalogue_size + most_counter_metrics;

enum class CatalogueKind : std::uint8_t { Time, Sum, Direct };

struct CatalogueRow {
    CatalogueId id;
    CatalogueId parent; // None at the top
    CatalogueKind kind;
    Metric direct;     // Metric::Count unless kind == Direct
    const char* name;  // stable key
    const char* unit;  // "ns", "count" or "bytes"
    const char* label; // as in Table 1
    const char* description;
};

inline constexpr CatalogueRow metric_catalogue[] = {
#define TIME(id, name, parent, label, text) {CatalogueId::id, CatalogueId::parent, CatalogueKind::Time, Metric::Count, name, "ns", label, text},
#define SUM(id, name, unit, parent, label, text) {CatalogueId::id, CatalogueId::parent, CatalogueKind::Sum, Metric::Count, name, unit, label, text},
#define DIRECT(id, name, unit, parent, label, text) {CatalogueId::id, CatalogueId::parent, CatalogueKind::Direct, Metric::id, name, unit, label, text},
#include "format/metrics.def"
#undef TIME
#undef SUM
#undef DIRECT
};

/// The catalogue row that time of a category is booked under (exclusively; parents are sums).
constexpr CatalogueId catalogue_of(TimeCategory category) {
    switch (category) { // without default: a category that is missing does not compile
    case TimeCategory::Overhead: return CatalogueId::Overhead;
    case TimeCategory::NotRecorded: return CatalogueId::NotRecorded;
    case TimeCategory::OffCpu: return CatalogueId::OffCpu;
    case TimeCategory::MpiOther: return CatalogueId::Mpi;
    case TimeCategory::MpiInitExit: return CatalogueId::MpiInitExit;
    case TimeCategory::MpiSyncOther: return CatalogueId::MpiSync;
    case TimeCategory::MpiSyncColl: return CatalogueId::MpiSyncCollective;
    case TimeCategory::MpiP2p: return CatalogueId::MpiPointToPoint;
    case TimeCategory::MpiColl: return CatalogueId::MpiCollective;
    case TimeCategory::MpiOneSided: return CatalogueId::MpiOneSided;
    case TimeCategory::MpiFile: return CatalogueId::MpiFileIo;
    case TimeCategory::MpiFileColl: return CatalogueId::MpiFileCollective;
    case TimeCategory::OmpOther: return CatalogueId::OpenMp;
    case TimeCategory::OmpBarrier: return CatalogueId::OmpBarrier;
    case TimeCategory::OmpIdle: return CatalogueId::OmpIdle;
    case TimeCategory::OmpLock: return CatalogueId::OmpLock;
    case TimeCategory::OmpTask: return CatalogueId::OmpTask;
    case TimeCategory::Compute:
    case TimeCategory::Count: break;
    }
    return CatalogueId::Execution;
}

/// Calls visit(n) for n from 0 to `count` - 1, each a constant: what the catalogue says is decided by the compiler. At the end of an iteration,
/// loops that ask the catalogue took more time than what they compute.
template <std::size_t count, class Visit> constexpr void for_each_constant(Visit visit) {
    [&]<std::size_t... n>(std::index_sequence<n...>) { (visit(std::integral_constant<std::size_t, n>{}), ...); }
    (std::make_index_sequence<count>{});
}

/// Derives all catalogue values from direct metric values and times per category.
/// `direct` has metric_count entries, `by_category` TimeCategory::Count entries, `out` catalogue_size entries.
template <class Number> constexpr void derive_catalogue(const Number* direct, const Number* by_category, Number* out) {
    for_each_constant<catalogue_size>([&](auto i) {
        constexpr CatalogueRow row = metric_catalogue[i];
        if constexpr (row.kind == CatalogueKind::Direct)
            out[i] = direct[static_cast<std::size_t>(row.direct)];
        else
            out[i] = Number{};
    });
    for_each_constant<static_cast<std::size_t>(TimeCategory::Count)>(
        [&](auto c) { out[static_cast<std::size_t>(catalogue_of(static_cast<TimeCategory>(c.value)))] += by_category[c]; });
    for_each_constant<catalogue_size>([&](auto n) {
        constexpr std::size_t i = catalogue_size - 1 - n; // rows come after their parents
        constexpr CatalogueId parent = metric_catalogue[i].parent;
        if constexpr (parent != CatalogueId::None) out[static_cast<std::size_t>(parent)] += out[i];
    });
}

} // namespace libprofile
