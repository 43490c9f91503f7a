// An index of the events of one thread, by time: where leaves begin, what the thread did in ten of them, and its sums of the states before groups of 100.
// Contract: plain data; encoding and decoding allocate in proportion to it; throws std::bad_alloc only. Paths and phases are numbers of the file.
#pragma once

#include "tools/timeline/event_leaf.hpp"
#include "tools/timeline/message_kinds.hpp"
#include "tools/timeline/timeline_states.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace libprofile::tools {

/// ns of tasks by the function that runs, without those inside others and waits for tasks (StateCall::is_wait_for_tasks); by position in
/// RowIndex::run_paths, ascending, none is 0.
using TaskSums = std::vector<std::pair<std::uint32_t, std::uint64_t>>;

/// Between the begin of a leaf (LeafCursor::time) and that of the next one.
struct EventLeaf {
    LeafCursor cursor;
    TimelineSums sums = {};    // of what is known
    std::uint64_t longest = 0; // call that the thread is in at some time, no task; ns
    TaskSums tasks = {};
};

/// Ten leaves of a group that follow each other, at its end fewer.
struct LeafTen {
    static constexpr std::size_t arity = 10;
    std::uint64_t time = 0; // begin of its first leaf
    TimelineSums sums = {};
    std::uint64_t longest = 0; // as of EventLeaf
    TaskSums tasks = {};
};

/// Bytes of the index file.
struct IndexBytes {
    std::uint64_t at = 0;
    std::uint32_t size = 0, crc = 0;
};

/// Which of 64 a node is, so that a set of few of them shows which ones are not in it.
inline std::uint64_t node_bit(std::uint32_t node) { return std::uint64_t{1} << (node * std::uint64_t{0x9e3779b97f4a7c15} >> 58); }

struct LeafGroup {
    static constexpr std::size_t arity = 100;
    std::uint64_t time = 0;    // begin of its first leaf
    TimelineSums before = {};  // sums of all groups before it
    std::uint64_t longest = 0; // of its leaves
    TaskSums tasks = {};       // the same
    std::uint64_t nodes = 0;   // node_bit() of all calls, regions and tasks that the thread is in at some time, or that begin where it ends
    IndexBytes leaves = {};
};

/// A call, region or stretch of a task that began before the leaf in front of the one that it ends in: other leaves than these two have to be told of it.
struct LongInterval {
    static constexpr std::size_t arity = 64;
    TracedInterval interval;
    bool is_run = false;
    std::uint32_t leaf = 0; // that it ends in
};

struct RowIndex {
    KeptEvents head; // without lists
    std::vector<EventFrames::Place> frames;
    std::vector<LeafGroup> groups;
    static constexpr std::size_t groups_of_tens = 10;     // whose tens lie together in the file: one reading has them
    std::vector<IndexBytes> tens;                         // of so many groups each, the last of fewer
    std::vector<LongInterval> longs;                      // in the order of their ends
    std::vector<std::vector<std::uint64_t>> least_begins; // of blocks of 64 long ones, then of 64 of these, and so on
    /// Iterations that were kept though it was not their turn: phase, number.
    std::vector<std::pair<std::uint32_t, std::uint64_t>> others;
    std::vector<std::uint32_t> run_paths; // nodes of functions that run as tasks, ascending
    std::vector<std::uint32_t> made_at;   // nodes at which tasks were created, ascending
    /// Nodes of calls and regions, ascending, and the ns of all of them and one for each.
    std::vector<std::pair<std::uint32_t, std::uint64_t>> called;
    /// Counters that were read, ascending, and what the first reading was.
    struct FirstReading {
        std::uint8_t counter = 0;
        std::uint64_t ns = 0, value = 0;
    };
    std::vector<FirstReading> read_first;
    std::vector<MessageKind> messages;
    bool has_all_messages = true; // else there are too many kinds, or some cannot be told apart
    std::uint64_t leaves = 0;
    std::uint64_t end = 0; // of the last part
    TimelineSums all = {}; // of the whole run

    bool is_complete() const { return head.dropped_parts == 0; }
    std::uint64_t begin() const { return groups.empty() ? 0 : groups.front().time; }
    /// The first leaf of a group, and how many there are.
    std::uint64_t first_leaf(std::size_t group) const { return group * LeafGroup::arity; }
    std::size_t leaves_of(std::size_t group) const { return static_cast<std::size_t>(std::min<std::uint64_t>(LeafGroup::arity, leaves - first_leaf(group))); }
    /// How many there are at a place of `tens`.
    std::size_t tens_of(std::size_t place) const {
        constexpr std::uint64_t most = groups_of_tens * LeafGroup::arity;
        return static_cast<std::size_t>((std::min(most, leaves - place * most) + LeafTen::arity - 1) / LeafTen::arity);
    }
    std::uint64_t end_of(std::size_t group) const { return group + 1 < groups.size() ? groups[group + 1].time : end; }
    std::uint64_t end_of_tens(std::size_t place) const { return end_of(std::min((place + 1) * groups_of_tens, groups.size()) - 1); }
    /// The group that has a time; the first or last one if none has.
    std::size_t group_at(std::uint64_t ns) const;
    /// Position in run_paths; run_paths.size() if it is not there.
    std::size_t run_path(std::uint32_t node) const {
        const auto at = std::lower_bound(run_paths.begin(), run_paths.end(), node);
        return at != run_paths.end() && *at == node ? static_cast<std::size_t>(at - run_paths.begin()) : run_paths.size();
    }
    /// Calls visit(one) for the long ones that end in this leaf or later and began before a time, in the order of their ends. They need not lie in each other:
    /// a wait may begin in a stretch of a task that is suspended in it.
    template <class Visit> void for_each_long(std::uint64_t leaf, std::uint64_t before, Visit visit) const {
        const auto first = std::lower_bound(longs.begin(), longs.end(), leaf, [](const LongInterval& one, std::uint64_t at) { return one.leaf < at; });
        for (auto at = static_cast<std::size_t>(first - longs.begin()); at < longs.size();) {
            std::size_t next = at + 1;
            std::size_t block = LongInterval::arity;
            for (const std::vector<std::uint64_t>& level : least_begins) { // the largest block that begins here and has none
                if (at % block != 0 || level[at / block] < before) break;
                next = at + block;
                block *= LongInterval::arity;
            }
            if (next == at + 1 && longs[at].interval.begin_ns < before) visit(longs[at]);
            at = next;
        }
    }
    /// When all long ones are there.
    void set_least_begins();

    std::vector<unsigned char> encoded() const;
    /// Empty for bytes that make no sense. @param block what the index is of
    static std::optional<RowIndex> decoded(std::span<const unsigned char> bytes, const EventsElsewhere& block);
};

std::vector<unsigned char> encoded_leaves(std::span<const EventLeaf> leaves);
std::optional<std::vector<EventLeaf>> decoded_leaves(std::span<const unsigned char> bytes, std::size_t count);
std::vector<unsigned char> encoded_tens(std::span<const LeafTen> tens);
std::optional<std::vector<LeafTen>> decoded_tens(std::span<const unsigned char> bytes, std::size_t count);

} // namespace libprofile::tools
