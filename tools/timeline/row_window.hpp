// What a thread did between two times, out of its index and the events of the leaves there.
// Contract: thread-safe (no state); allocates in proportion to the answer and the leaves that are read; throws ReadError where something is damaged, and
// std::bad_alloc. Times are those of the rank's clock.
#pragma once

#include "tools/timeline/state_pieces.hpp"
#include "tools/timeline/timeline_index.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace libprofile::tools {

/// How many leaves begin between two times, about: exact within a group of leaves at each end.
std::uint64_t leaves_between(const IndexedRow& row, std::uint64_t from, std::uint64_t to);
std::uint64_t groups_between(const IndexedRow& row, std::uint64_t from, std::uint64_t to);

/// The events of all leaves that have some of the time, and the calls that lie over it, as numbers of the profile. Parts at the ends may not be whole;
/// calls that end behind it are in the last part. Stretches of tasks that lie over it are there only if they are wanted, and of these nothing is known but
/// what StateCall has.
KeptEvents events_between(const IndexedRow& row, std::uint64_t from, std::uint64_t to, bool with_long_runs = false);

/// The part of an iteration that is about there, without its lists; none if it was not kept. `phase`: position in Profile::phases.
std::optional<EventPart> part_of_iteration(const IndexedRow& row, std::uint32_t phase, std::uint64_t number, std::uint64_t from, std::uint64_t to);

/// Calls visit(events) with the events of each leaf of a group in which something may end between two times, as they are in the file.
void for_each_leaf(const IndexedRow& row, std::size_t group, std::uint64_t from, std::uint64_t to, const std::function<void(const KeptEvents&)>& visit);

/// Groups, ascending, in which records may lie of calls that begin or end between two times: a record comes when its call is over.
std::vector<std::uint32_t> groups_of_records(const RowIndex& index, std::uint64_t from, std::uint64_t to);

/// What for_each_piece() (state_pieces.hpp) cuts a time into. Paths are nodes of the file.
struct RowPieces {
    std::vector<StateCall> calls; // sorted
    std::vector<KnownSpan> spans;
};
/// @param with_regions these are among the calls, and pieces are not what the thread is in
RowPieces pieces_between(const IndexedRow& row, std::uint64_t from, std::uint64_t to, bool with_regions = false);

/// ns of each state before a time, and between two times: exact.
TimelineSums sums_before(const IndexedRow& row, std::uint64_t ns);
TimelineSums sums_between(const IndexedRow& row, std::uint64_t from, std::uint64_t to);

/// A pixel of a row.
struct TimelinePixel {
    static constexpr std::uint8_t unknown = 255;
    std::uint8_t state = unknown; // that has most of what is known
    bool is_half_known = false;   // at least half of the pixel is
    std::uint64_t longest = 0;    // the longest call; ns
    std::uint8_t task_class = 0;  // of the most of what is known, if classes were asked for
};
/// Tasks are told apart by classes from 1 on; 0 is in no task. By position in RowIndex::run_paths.
using TaskClasses = std::vector<std::uint8_t>;
/// What may be read for the pixels of a row: so many leaves with their events, or so many sums, of leaves or of ten. If neither is enough, they are made of
/// the sums of groups, for which nothing is read.
struct PixelEffort {
    std::uint64_t leaves = 0, sums = 0;
};
struct TimelinePixels {
    std::vector<TimelinePixel> pixels;
    bool is_exact = true; // else the ends of pixels are known to a leaf, to ten, or to a group
};
/// Pixel i of n lies between from + i * (to - from) / n and the next one. @param classes null: they are not asked for
TimelinePixels pixels_between(const IndexedRow& row, double from, double to, std::size_t n, const PixelEffort& effort, const TaskClasses* classes = nullptr);

} // namespace libprofile::tools
