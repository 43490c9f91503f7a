// What a thread is in, piece by piece: of calls inside calls the innermost, computing where there is no call, and nothing where nothing is known.
// Contract: thread-safe (no state); allocates in proportion to the calls that are open at a time; throws std::bad_alloc only.
#pragma once

#include "tools/reader/events.hpp"
#include "tools/timeline/timeline_states.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace libprofile::tools {

/// A stretch of time of which all events are known.
struct KnownSpan {
    std::uint64_t begin_ns = 0, end_ns = 0;
};

/// ns: a thread without events for no longer makes no part of it (libprofile/trace/event_trace.cpp).
inline constexpr std::uint64_t shortest_window_ns = 10'000;

/// @param is_complete no part was dropped: then nothing happened in a short time between two
inline void add_span(std::vector<KnownSpan>& spans, const EventPart& part, bool is_complete) {
    const bool is_next =
        !spans.empty() && part.begin_ns >= spans.back().end_ns && part.begin_ns - spans.back().end_ns <= (is_complete ? shortest_window_ns : 0);
    if (is_next)
        spans.back().end_ns = part.end_ns;
    else
        spans.push_back({part.begin_ns, part.end_ns});
}

/// A call of a state, which is no region, or a stretch of a task.
struct StateCall {
    std::uint64_t begin_ns = 0, end_ns = 0;
    std::uint32_t path = 0; // node of the file
    std::uint16_t processor = no_processor;
    TimelineState state = TimelineState::OtherMpi;
    bool passes = true; // what is asked for

    bool is_run() const { return state == TimelineState::Task; }
    /// No part of the time of the task that it lies in (task_pieces.hpp).
    bool is_wait_for_tasks() const { return state == TimelineState::OmpBarrier || state == TimelineState::OmpIdle || state == TimelineState::OmpTaskWait; }
};

/// Outer calls first. Calls that came in the order of their ends, and stretches behind them, are nearly sorted.
inline void sort_calls(std::vector<StateCall>& calls) {
    std::reverse(calls.begin(), calls.end()); // of those of equal times the one that ended last is outside
    const auto is_before = [](const StateCall& a, const StateCall& b) { return a.begin_ns != b.begin_ns ? a.begin_ns < b.begin_ns : a.end_ns > b.end_ns; };
    std::stable_sort(calls.begin(), calls.end(), is_before);
}

/// Then pieces of stretches are the own time of tasks, and the others are in no task.
inline void keep_tasks_and_waits(std::vector<StateCall>& calls) {
    std::erase_if(calls, [](const StateCall& call) { return !call.is_run() && !call.is_wait_for_tasks(); });
}

/// Calls visit(begin, end, call) for the pieces between two times; call is null while the thread computes.
/// @param calls sorted; @param spans in the order of time
template <class Visit>
void for_each_piece(std::span<const StateCall> calls, std::span<const KnownSpan> spans, std::uint64_t from, std::uint64_t to, Visit visit) {
    std::uint64_t time = from;
    auto span = spans.begin();
    const auto up_to = [&](std::uint64_t end, const StateCall* call) {
        end = std::min(end, to);
        while (time < end) {
            while (span != spans.end() && span->end_ns <= time) ++span;
            if (span == spans.end() || span->begin_ns >= end) {
                time = end;
                return;
            }
            const std::uint64_t begin = std::max(time, span->begin_ns);
            time = std::min(end, span->end_ns);
            if (begin < time) visit(begin, time, call);
        }
    };
    std::vector<const StateCall*> open;
    const auto close = [&](std::uint64_t ns) {
        for (; !open.empty() && open.back()->end_ns <= ns; open.pop_back()) up_to(open.back()->end_ns, open.back());
    };
    for (const StateCall& call : calls) {
        if (call.begin_ns >= to) break;
        if (call.end_ns <= from) continue;
        close(call.begin_ns);
        up_to(call.begin_ns, open.empty() ? nullptr : open.back());
        open.push_back(&call);
    }
    close(~std::uint64_t{0});
    up_to(to, nullptr);
}

} // namespace libprofile::tools
