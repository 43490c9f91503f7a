#include "tools/timeline/row_builder.hpp"

#include "tools/reader/blocks.hpp"
#include "tools/reader/counters.hpp"

#include <map>
#include <set>
#include <utility>

namespace libprofile::tools {

namespace {

using ByteVector = std::vector<unsigned char>;

/// Adds nodes to a list, of which few are different.
class NodeSet {
  public:
    void add(std::uint32_t node) {
        if (node == last_) return;
        last_ = node;
        nodes_.insert(node);
    }
    std::vector<std::uint32_t> list() const { return {nodes_.begin(), nodes_.end()}; }

  private:
    std::uint32_t last_ = UINT32_MAX;
    std::set<std::uint32_t> nodes_;
};

/// Adds up the tasks of leaves.
class TasksSum {
  public:
    void add(const TaskSums& tasks) {
        for (const auto& [position, ns] : tasks) sums_[position] += ns;
    }
    void add(std::uint32_t position, std::uint64_t ns) { sums_[position] += ns; }
    TaskSums list() const { return {sums_.begin(), sums_.end()}; }

  private:
    std::map<std::uint32_t, std::uint64_t> sums_;
};

LeafTen ten_of(std::span<const EventLeaf> leaves) {
    LeafTen ten{leaves.front().cursor.time};
    TasksSum tasks;
    for (const EventLeaf& one : leaves) {
        for (std::size_t s = 0; s < ten.sums.size(); ++s) ten.sums[s] += one.sums[s];
        ten.longest = std::max(ten.longest, one.longest);
        tasks.add(one.tasks);
    }
    ten.tasks = tasks.list();
    return ten;
}

IndexBytes append(ByteVector& all, const ByteVector& bytes) {
    const std::uint64_t at = all.size();
    all.insert(all.end(), bytes.begin(), bytes.end());
    return {at, static_cast<std::uint32_t>(bytes.size()), checksum(bytes)};
}

/// Those of a leaf that began before a time, in the order of their ends, inner ones first.
void add_longs(RowIndex& row, const KeptEvents& events, std::uint64_t before, std::uint32_t leaf) {
    const std::size_t first = row.longs.size();
    for (const TracedInterval& interval : events.intervals)
        if (interval.begin_ns < before) row.longs.push_back({interval, false, leaf});
    const std::size_t of_calls = row.longs.size();
    for (const TracedTaskRun& run : events.runs)
        if (run.begin_ns < before) row.longs.push_back({{run.begin_ns, run.end_ns, run.path, run.processor}, true, leaf});
    if (of_calls == row.longs.size()) return;
    std::stable_sort(row.longs.begin() + static_cast<std::ptrdiff_t>(first), row.longs.end(), [](const LongInterval& a, const LongInterval& b) {
        return a.interval.end_ns != b.interval.end_ns ? a.interval.end_ns < b.interval.end_ns : a.interval.begin_ns > b.interval.begin_ns;
    });
}

/// The first pass: where leaves begin, and which intervals are long.
bool find_leaves(const EventFrames& frames, std::uint32_t thread, RowIndex& row, std::vector<std::uint64_t>& times) {
    LeafReader reader(frames);
    if (!reader.begin(thread, row.head)) return false;
    KeptEvents events;
    NodeSet run_paths, made_at;
    std::map<std::uint32_t, std::uint64_t> called;
    MessageKinds messages;
    std::map<std::uint8_t, std::pair<std::uint64_t, std::uint64_t>> readings; // the first of each counter: ns, value
    for (std::uint64_t leaf = 0;; ++leaf) {
        clear_lists(events);
        const std::uint64_t time = reader.cursor().time;
        if (!reader.next(events)) break;
        times.push_back(leaf == 0 && !events.parts.empty() ? events.parts.front().begin_ns : time);
        for (const EventPart& part : events.parts) {
            const std::pair own(part.phase, part.number);
            const bool is_other = part.kind == PartKind::Iteration && (part.reasons & PartHasItsTurn) == 0;
            if (is_other && (row.others.empty() || row.others.back() != own)) row.others.push_back(own);
        }
        for (const TracedTaskRun& run : events.runs) run_paths.add(run.path);
        for (const TracedTask& task : events.tasks) made_at.add(task.path);
        for (const TracedInterval& interval : events.intervals) called[interval.path] += 1 + interval.end_ns - std::min(interval.begin_ns, interval.end_ns);
        for (const TracedMessage& message : events.messages) messages.add(message);
        for (const TracedCount& count : events.counts) {
            const std::pair reading(times_of(events, count).first, count.begin);
            const auto [first, is_new] = readings.try_emplace(count.counter, reading);
            first->second = std::min(first->second, reading);
        }
        if (leaf != 0) add_longs(row, events, times[leaf - 1], static_cast<std::uint32_t>(leaf));
    }
    row.run_paths = run_paths.list();
    row.made_at = made_at.list();
    row.called.assign(called.begin(), called.end());
    row.messages = messages.list();
    row.has_all_messages = !messages.are_too_many() && (row.is_complete() || !messages.has_received_without_number());
    for (const auto& [counter, reading] : readings) row.read_first.push_back({counter, reading.first, reading.second});
    row.leaves = times.size();
    row.end = reader.cursor().time;
    times.push_back(row.end);
    row.set_least_begins();
    return !reader.is_damaged();
}

/// The second pass: what the thread did in each leaf.
class LeafSums {
  public:
    LeafSums(const RowIndex& row, const std::vector<std::uint64_t>& times, const std::vector<TimelineState>& states)
        : row_(row), times_(times), states_(states) {}

    /// @param next the leaf behind it, empty if there is none
    void sum_up(std::uint64_t number, const KeptEvents& events, const KeptEvents& next, EventLeaf& leaf) {
        const std::uint64_t from = times_[number], to = times_[number + 1];
        calls_.clear();
        for (const TracedInterval& interval : events.intervals) add_call(calls_, interval, states_);
        for (const TracedInterval& interval : next.intervals)
            if (interval.begin_ns < to) add_call(calls_, interval, states_);
        for (const TracedTaskRun& run : events.runs) add_run(calls_, run);
        for (const TracedTaskRun& run : next.runs)
            if (run.begin_ns < to) add_run(calls_, run);
        row_.for_each_long(number + 2, to, [&](const LongInterval& one) {
            add_long(calls_, one, states_);
            nodes_ |= node_bit(one.interval.path);
        });
        for (const KeptEvents* of : {&events, &next}) {
            for (const TracedInterval& interval : of->intervals) nodes_ |= interval.begin_ns <= to ? node_bit(interval.path) : 0;
            for (const TracedTaskRun& run : of->runs) nodes_ |= run.begin_ns < to ? node_bit(run.path) : 0;
        }
        sort_calls(calls_);
        spans_.clear();
        if (before_.end_ns != 0) add_span(spans_, before_, row_.is_complete());
        for (const EventPart& part : events.parts)
            if (before_.end_ns == 0 || part.begin_ns != before_.begin_ns || part.number != before_.number) add_span(spans_, part, row_.is_complete());
        if (!events.parts.empty()) before_ = events.parts.back();
        for_each_piece(calls_, spans_, from, to, [&](std::uint64_t begin, std::uint64_t end, const StateCall* call) {
            leaf.sums[static_cast<std::size_t>(call == nullptr ? TimelineState::Computing : call->state)] += end - begin;
            if (call != nullptr && !call->is_run()) leaf.longest = std::max(leaf.longest, call->end_ns - call->begin_ns);
        });
        if (row_.run_paths.empty()) return;
        keep_tasks_and_waits(calls_);
        TasksSum tasks;
        for_each_piece(calls_, spans_, from, to, [&](std::uint64_t begin, std::uint64_t end, const StateCall* call) {
            if (call != nullptr && call->is_run()) tasks.add(static_cast<std::uint32_t>(row_.run_path(call->path)), end - begin);
        });
        leaf.tasks = tasks.list();
    }
    /// Of the leaves since it was asked for the last time.
    std::uint64_t take_nodes() { return std::exchange(nodes_, 0); }

  private:
    const RowIndex& row_;
    const std::vector<std::uint64_t>& times_;
    const std::vector<TimelineState>& states_;
    std::uint64_t nodes_ = 0; // LeafGroup
    EventPart before_;        // the last one of the leaf before
    std::vector<StateCall> calls_;
    std::vector<KnownSpan> spans_;
};

} // namespace

std::optional<BuiltRow> build_row(const EventFrames& frames, std::uint32_t thread, const std::vector<TimelineState>& states) {
    BuiltRow built;
    RowIndex& row = built.index;
    row.frames = frames.places();
    std::vector<std::uint64_t> times;
    if (!find_leaves(frames, thread, row, times)) return std::nullopt;
    LeafReader reader(frames);
    LeafSums sums(row, times, states);
    KeptEvents now, next, head;
    reader.begin(thread, head);
    LeafCursor cursor = reader.cursor(), next_cursor = cursor;
    reader.next(now);
    std::vector<EventLeaf> leaves;
    std::vector<LeafTen> tens;
    std::vector<ByteVector> tens_bytes;
    for (std::uint64_t l = 0; l < row.leaves; ++l) {
        clear_lists(next);
        next_cursor = reader.cursor();
        if (l + 1 < row.leaves && !reader.next(next)) return std::nullopt;
        EventLeaf& leaf = leaves.emplace_back();
        leaf.cursor = cursor;
        leaf.cursor.time = times[l];
        sums.sum_up(l, now, next, leaf);
        if (leaves.size() == LeafGroup::arity || l + 1 == row.leaves) {
            LeafGroup& group = row.groups.emplace_back();
            group.time = leaves.front().cursor.time;
            group.before = row.all;
            TasksSum tasks;
            for (std::size_t first = 0; first < leaves.size(); first += LeafTen::arity) {
                const LeafTen ten = ten_of(std::span(leaves).subspan(first, std::min(LeafTen::arity, leaves.size() - first)));
                for (std::size_t s = 0; s < row.all.size(); ++s) row.all[s] += ten.sums[s];
                group.longest = std::max(group.longest, ten.longest);
                tasks.add(ten.tasks);
                tens.push_back(ten);
            }
            group.tasks = tasks.list();
            group.nodes = sums.take_nodes();
            group.leaves = append(built.bytes, encoded_leaves(leaves));
            leaves.clear();
            if (row.groups.size() % RowIndex::groups_of_tens == 0 || l + 1 == row.leaves) {
                tens_bytes.push_back(encoded_tens(tens));
                tens.clear();
            }
        }
        std::swap(now, next);
        cursor = next_cursor;
    }
    for (const ByteVector& bytes : tens_bytes) row.tens.push_back(append(built.bytes, bytes)); // behind all leaves
    return built;
}

} // namespace libprofile::tools
