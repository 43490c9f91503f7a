// The part of a LoopWatch that only notes calls, and examines many of them together.
#include "libprofile/loops/loop_watch.hpp"

#include "libprofile/thread/thread.hpp"

#include <algorithm>
#include <new>

namespace libprofile {

void LoopWatch::begin_quick() noexcept {
    if (sizeof(Quick) > memory_quota.limit() / 64) return;
    void* pages = memory_quota.map(in_pages(sizeof(Quick)));
    if (pages != nullptr) quick_ = new (pages) Quick();
}

void LoopWatch::end_quick() noexcept {
    if (quick_ != nullptr) memory_quota.unmap(quick_, in_pages(sizeof(Quick)));
    quick_ = nullptr;
    notes_left_ = 0;
}

std::uint64_t LoopWatch::learn(Thread& thread, NodeId node, std::uint64_t before) noexcept {
    if (quick_ == nullptr || logged_ != node || path_.size == 0 || !is_logging_ || loop_count_ != 0 || thread.counters.is_on()) return 0;
    const bool is_known = is_learned(before) && quick_->call[before % Quick::most].number == before;
    const std::uint64_t number = is_known ? before : learned | ++numbers_;
    QuickCall& call = quick_->call[number % Quick::most];
    if (!is_known) call.path = {};
    thread.paths.learn_followed(call.path, node); // not if the last call came from the same function: then nothing was walked
    const Node& caller = thread.tree[thread.tree[node].parent];
    call.outer = caller.kind == NodeKind::Frame ? caller.parent : no_node;
    call.depth = path_.size;
    call.generation = log_generation_;
    call.number = number;
    return number;
}

/// What comes before the first record must be in the log.
void LoopWatch::begin_raw() noexcept {
    if (!quick_->raw.is_empty()) return;
    values_.write();
    raw_from_ = last_counters_;
}

/// Whether a call may be noted: no loop is known, so it begins nothing, and nothing must be decided now.
inline bool LoopWatch::may_note(Thread& thread) const noexcept {
    if (quick_ == nullptr || loop_count_ != 0 || calls_until_decision_ <= 1 || is_decision_late(last_event_at_)) return false;
    if (!is_log_whole(thread) || thread.phases.time().polls().site != nullptr) return false;
    return quick_->raw.has_room() && !log_.is_nearly_full(quick_->raw.bytes());
}

/// How many calls may be noted without asking may_note() again, if it has just said yes: as long as nothing else comes into `raw`, and the same segment
/// runs.
inline std::uint32_t LoopWatch::notes_allowed() const noexcept {
    if (log_.is_nearly_full(RawLog::most_bytes())) return 1; // also if it has become full since
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(calls_until_decision_ - 1, quick_->raw.room()));
}

/// At last_event_at_; `depth` functions are on its path.
inline void LoopWatch::note(NodeId node, std::uint32_t common, std::uint32_t depth, const SegmentCounters& booked, Row& row) noexcept {
    quick_->raw.add_event(node, std::min(common, depth), last_event_at_, booked, row);
    last_counters_ = booked;
    standing_ = depth;
    budget_.spend(quick_->search_ns);
    --calls_until_decision_;
}

bool LoopWatch::note_call(Thread& thread, NodeId node, std::uintptr_t frame, std::uint64_t now, bool is_walked) noexcept {
    if (!may_note(thread) || thread.counters.is_on() || is_decision_late(now) || !path_.find(thread.tree, node)) return false;
    begin_raw();
    const SegmentCounters booked = thread.phases.time().booked();
    if (PathTracker::has_returned()) note_returns(thread, booked, now);
    std::uint32_t common = path_.size;
    const bool is_same = !is_walked && thread.paths.is_same_activation(node, frame);
    if (is_walked)
        thread.paths.follow_walked(frame, common);
    else if (!is_same)
        thread.paths.at_followed_call(frame, common);
    last_event_at_ = std::max(now, last_event_at_);
    note(node, common, path_.size, booked, thread.phases.row(node));
    notes_left_ = 0;
    logged_ = node;
    if (!is_same) watch_returns(thread, now);
    return true;
}

[[gnu::hot]] bool LoopWatch::begin_quickly(Thread& thread, const KnownPath& path, std::uintptr_t frame) noexcept {
    if (notes_left_ == 0 || thread.phases.row_generation() != log_generation_ || is_decision_late(last_event_at_) ||
        thread.phases.time().polls().site != nullptr) {
        notes_left_ = 0;
        if (!may_note(thread)) return false;
    }
    QuickCall& call = quick_->call[path.row_generation % Quick::most];
    if (call.number != path.row_generation || call.generation != log_generation_) return false;
    begin_raw();
    if (notes_left_ == 0) notes_left_ = notes_allowed();
    const SegmentCounters booked = thread.phases.time().booked();
    if (PathTracker::has_returned()) {
        const std::uint64_t now = session_clock.now();
        if (is_decision_late(now)) return false;
        note_returns(thread, booked, now);
        notes_left_ = 1;
    }
    std::uint32_t common = call.depth;
    const bool is_same = thread.paths.nothing_has_returned_to(call.outer, frame);
    if (!is_same && !thread.paths.follow_known(call.path, frame, common)) return false;
    note(path.node, common, call.depth, booked, *path.row);
    --notes_left_;
    quick_call_ = is_same ? nullptr : &call;
    return true;
}

/// As log_returns().
void LoopWatch::note_returns(Thread& thread, const SegmentCounters& booked, std::uint64_t now) noexcept {
    const std::uint32_t standing = thread.paths.see_returns();
    if (standing >= standing_ || now - last_event_at_ < (booked - last_counters_).wall_ns() + least_outside_ns) return;
    std::uint64_t times[RawLog::most_returns];
    const std::uint32_t count = std::min(standing_ - standing, RawLog::most_returns);
    for (std::uint32_t i = 0; i < count; ++i) times[i] = thread.paths.returned_at(standing + 1 + i, now);
    quick_->raw.add_returns(booked, standing + 1, times, count);
    last_counters_ = booked;
    standing_ = standing;
}

[[gnu::hot]] void LoopWatch::set_begin(Thread& thread, std::uint64_t now, std::uint64_t ticks) noexcept {
    last_event_at_ = std::max(now, last_event_at_);
    quick_->raw.set_time(last_event_at_);
    if (quick_call_ != nullptr) thread.paths.watch_followed(ticks_, quick_call_->path, now, ticks);
}

void LoopWatch::sampled(Thread& thread, NodeId node, std::uint64_t weight) noexcept {
    if (!is_logging_) return;
    notes_left_ = 0;
    if (quick_ != nullptr && !quick_->raw.has_room_for_one()) think(thread);
    if (quick_ != nullptr && !quick_->raw.is_empty())
        quick_->raw.add_sample(node, weight);
    else
        log_.add_sample(node, weight);
}

void LoopWatch::add_event(Thread& thread, NodeId node, std::uint64_t visits, std::uint64_t chance_visits, std::uint64_t ns) noexcept {
    if (!is_logging_) return;
    notes_left_ = 0;
    if (quick_ != nullptr && !quick_->raw.has_room_for_one()) think(thread);
    if (quick_ != nullptr && !quick_->raw.is_empty())
        quick_->raw.add_other(node, visits, chance_visits, ns);
    else
        values_.add(node, visits, chance_visits, ns);
}

void LoopWatch::think(Thread& thread) noexcept {
    if (quick_ == nullptr || quick_->raw.is_empty()) return;
    const std::uint64_t begin = session_clock.now();
    read_notes(thread);
    budget_.spend(time_since(thread, begin));
}

/// Examines what was noted, as if it had been logged at once. If a segment has ended meanwhile, the rows hold other values, and the log begins
/// anew: only the search learns of the calls.
void LoopWatch::read_notes(Thread& thread) noexcept {
    notes_left_ = 0;
    if (quick_ == nullptr || quick_->raw.is_empty()) return;
    const std::uint64_t noted = quick_->cost.typical(), usual = thread.cheap_event.typical(); // 0 if all calls were noted until now
    if (noted > usual) quick_->search_ns = noted - usual;
    RawLog& raw = quick_->raw;
    const bool is_whole = is_log_whole(thread);
    raw.link_events();
    SegmentCounters booked = raw_from_;
    struct {
        Row* row = nullptr;
        RowValues before;
        std::uint32_t after = 0;
    } call; // whose values are not written yet
    std::uint64_t room[metric_count];
    const auto write_values = [&] {
        if (call.row != nullptr) values_.write(call.row->node, call.before, call.after != 0 ? raw.values_at(call.after) : values_of(*call.row, room));
        call.row = nullptr;
        values_.write(); // of others
    };
    RawLog::Record record;
    for (std::uint32_t position = 0; raw.read(position, record);) {
        if (record.kind == RawKind::Event) {
            ++calls_;
            path_.find(thread.tree, record.node); // as when it was learned
            search_.event(thread.tree, path_, record.common, record.at);
        }
        if (!is_whole) continue;
        switch (record.kind) {
        case RawKind::Event:
            write_values();
            log_.add_event({record.node, record.common, record.at, record.booked - booked});
            booked = record.booked;
            call = {record.row, record.before, record.after};
            break;
        case RawKind::Sample: log_.add_sample(record.node, record.weight); break;
        case RawKind::Other: values_.add(record.node, record.visits, record.chance_visits, record.ns); break;
        case RawKind::Returns:
            write_values();
            returns_.since = record.booked - booked;
            returns_.first = record.first;
            returns_.count = record.count;
            std::copy(record.times, record.times + record.count, returns_.at);
            log_.add_returns(returns_);
            booked = record.booked;
            break;
        }
    }
    if (call.row != nullptr) values_.go_on(*call.row, call.before);
    raw.clear();
}

} // namespace libprofile
