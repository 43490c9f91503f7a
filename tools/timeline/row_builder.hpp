// Makes the index of the events of one thread, in two passes over them.
// Contract: thread-safe (no state); memory in proportion to the index; throws as EventFrames.
#pragma once

#include "tools/timeline/row_index.hpp"
#include "tools/timeline/state_pieces.hpp"

#include <optional>
#include <vector>

namespace libprofile::tools {

struct BuiltRow {
    RowIndex index;                   // places count from the begin of `bytes`
    std::vector<unsigned char> bytes; // of all groups of leaves, then of all tens
};

/// @param frames of the block
/// @param states by node; a node behind the last one is an unknown call
/// @return empty if the events are damaged
std::optional<BuiltRow> build_row(const EventFrames& frames, std::uint32_t thread, const std::vector<TimelineState>& states);

inline TimelineState state_of_node(const std::vector<TimelineState>& states, std::uint32_t node) {
    return node < states.size() ? states[node] : TimelineState::OtherMpi;
}

/// Appends the stretch of a task.
inline void add_run(std::vector<StateCall>& calls, const TracedTaskRun& run) {
    calls.push_back({run.begin_ns, run.end_ns, run.path, run.processor, TimelineState::Task});
}

/// Appends the call of an interval; regions are none.
inline void add_call(std::vector<StateCall>& calls, const TracedInterval& interval, const std::vector<TimelineState>& states) {
    const TimelineState state = state_of_node(states, interval.path);
    if (state != TimelineState::Region) calls.push_back({interval.begin_ns, interval.end_ns, interval.path, interval.processor, state});
}

inline void add_long(std::vector<StateCall>& calls, const LongInterval& one, const std::vector<TimelineState>& states) {
    if (one.is_run)
        calls.push_back({one.interval.begin_ns, one.interval.end_ns, one.interval.path, one.interval.processor, TimelineState::Task});
    else
        add_call(calls, one.interval, states);
}

} // namespace libprofile::tools
