#include "tools/timeline/row_window.hpp"

#include "tools/timeline/pixel_sums.hpp"
#include "tools/timeline/row_builder.hpp"
#include "tools/timeline/selected_times.hpp"

#include <algorithm>
#include <cmath>

namespace libprofile::tools {

namespace {

/// A leaf, by its number.
struct LeafPlace {
    std::uint64_t number = 0;
    EventLeaf leaf;
};

/// The leaf that has a time; the first or last one if none has. The row has some.
LeafPlace leaf_at(const IndexedRow& row, std::uint64_t ns) {
    const RowIndex& index = row.index();
    std::size_t group = index.group_at(ns);
    std::vector<EventLeaf> leaves = row.leaves(group);
    const auto after = std::upper_bound(leaves.begin(), leaves.end(), ns, [](std::uint64_t at, const EventLeaf& leaf) { return at < leaf.cursor.time; });
    const std::size_t at = after == leaves.begin() ? 0 : static_cast<std::size_t>(after - leaves.begin()) - 1;
    return {index.first_leaf(group) + at, leaves[at]};
}

/// The first leaf of those that begin at the same time, or before it: those of no length before one have events that end then.
LeafPlace first_leaf_at(const IndexedRow& row, std::uint64_t ns) { return leaf_at(row, ns == 0 ? 0 : ns - 1); }

void read_leaf(LeafReader& reader, KeptEvents& events) {
    if (!reader.next(events)) throw ReadError("the events have changed since the index of the timeline was made; start libprofile view again");
}

/// The head of the block, and events of leaves as they are in the file, up to the leaf behind the one that has a time.
struct LeafEvents {
    KeptEvents events;
    std::uint64_t next = 0; // number of the leaf behind them
};
LeafEvents read_leaves(const IndexedRow& row, const LeafPlace& first, std::uint64_t to) {
    LeafReader reader(row.frames());
    reader.begin_at(first.leaf.cursor);
    LeafEvents read{row.index().head, first.number};
    for (bool is_behind = false; !reader.cursor().is_end();) {
        is_behind = read.next > first.number && reader.cursor().time >= to;
        read_leaf(reader, read.events);
        ++read.next;
        if (is_behind) break;
    }
    return read;
}

std::vector<StateCall> calls_of(const IndexedRow& row, const LeafEvents& read, std::uint64_t from, std::uint64_t to, bool with_regions) {
    std::vector<StateCall> calls;
    const auto add = [&](const TracedInterval& interval) {
        if (with_regions && state_of_node(row.states(), interval.path) == TimelineState::Region)
            calls.push_back({interval.begin_ns, interval.end_ns, interval.path, interval.processor, TimelineState::Region});
        else
            add_call(calls, interval, row.states());
    };
    for (const TracedInterval& interval : read.events.intervals) // those that take no time, too
        if (interval.begin_ns < to && (interval.end_ns > from || interval.begin_ns >= from)) add(interval);
    for (const TracedTaskRun& run : read.events.runs)
        if (run.begin_ns < to && run.end_ns > from) add_run(calls, run);
    row.index().for_each_long(read.next, to, [&](const LongInterval& one) {
        if (one.is_run)
            add_long(calls, one, row.states());
        else
            add(one.interval);
    });
    sort_calls(calls);
    return calls;
}

/// Calls visit(begin, end, call) for what is known of the time.
template <class Visit> void visit_pieces(const IndexedRow& row, std::uint64_t from, std::uint64_t to, Visit visit) {
    const RowPieces pieces = pieces_between(row, from, to);
    for_each_piece(pieces.calls, pieces.spans, from, to, visit);
}

std::size_t state_of(const StateCall* call) { return static_cast<std::size_t>(call == nullptr ? TimelineState::Computing : call->state); }

/// Pixels while their sums grow: of states and, if they are asked for, of classes of tasks.
class StatePixels {
  public:
    StatePixels(double from, double to, std::size_t n, const TaskClasses* classes)
        : states_(from, to, n, timeline_state_count), classes_(classes),
          tasks_(from, to, n, classes == nullptr || classes->empty() ? 1 : *std::max_element(classes->begin(), classes->end()) + std::size_t{1}) {}

    void add_sums(std::uint64_t begin, std::uint64_t end, std::uint64_t longest, const TimelineSums& sums, const TaskSums& tasks) {
        states_.spread(static_cast<double>(begin), static_cast<double>(end), longest, [&](std::size_t x, double share) {
            for (std::size_t s = 0; s < sums.size(); ++s) states_.add(x, s, static_cast<double>(sums[s]) * share);
            if (classes_ == nullptr) return;
            for (const auto& [position, ns] : tasks)
                if (position < classes_->size()) tasks_.add(x, (*classes_)[position], static_cast<double>(ns) * share);
        });
    }
    void add_pieces(const RowIndex& index, RowPieces pieces, std::uint64_t from, std::uint64_t to) {
        for_each_piece(pieces.calls, pieces.spans, from, to, [&](std::uint64_t begin, std::uint64_t end, const StateCall* call) {
            states_.add_piece(begin, end, state_of(call), call == nullptr || call->is_run() ? 0 : call->end_ns - call->begin_ns);
        });
        if (classes_ == nullptr || classes_->empty()) return;
        keep_tasks_and_waits(pieces.calls);
        for_each_piece(pieces.calls, pieces.spans, from, to, [&](std::uint64_t begin, std::uint64_t end, const StateCall* call) {
            const std::size_t position = call != nullptr && call->is_run() ? index.run_path(call->path) : classes_->size();
            if (position < classes_->size()) tasks_.add_piece(begin, end, (*classes_)[position], 0);
        });
    }
    std::vector<TimelinePixel> pixels() const {
        std::vector<TimelinePixel> list(states_.count());
        for (std::size_t x = 0; x < list.size(); ++x) {
            const double known = states_.all(x);
            if (!states_.is_some(known)) continue;
            list[x] = {static_cast<std::uint8_t>(states_.most(x)), known * 2 >= states_.per_pixel(), states_.longest(x), class_of(x, known)};
        }
        return list;
    }

  private:
    /// What is in no task is left of all that is known.
    std::uint8_t class_of(std::size_t x, double known) const {
        const double in_tasks = tasks_.all(x, 1);
        if (!tasks_.is_some(in_tasks)) return 0;
        const std::size_t most = tasks_.most(x, 1);
        return tasks_.sum(x, most) > known - in_tasks ? static_cast<std::uint8_t>(most) : std::uint8_t{0};
    }
    PixelSums states_;
    const TaskClasses* classes_;
    PixelSums tasks_;
};

} // namespace

std::uint64_t groups_between(const IndexedRow& row, std::uint64_t from, std::uint64_t to) {
    const RowIndex& index = row.index();
    return index.groups.empty() || to <= index.begin() || from >= index.end ? 0 : index.group_at(to) - index.group_at(from) + 1;
}

std::uint64_t leaves_between(const IndexedRow& row, std::uint64_t from, std::uint64_t to) {
    const std::uint64_t groups = groups_between(row, from, to);
    if (groups == 0 || groups > 3) return groups * LeafGroup::arity;
    return leaf_at(row, to).number - leaf_at(row, from).number + 1;
}

RowPieces pieces_between(const IndexedRow& row, std::uint64_t from, std::uint64_t to, bool with_regions) {
    RowPieces pieces;
    if (row.index().leaves == 0 || from >= to) return pieces;
    const LeafPlace first = first_leaf_at(row, from);
    const LeafEvents read = read_leaves(row, first, to);
    // A part that ended before the leaf: what follows it may be known, too.
    if (first.leaf.cursor.events_left == 0 && first.number > 0) {
        EventPart before = first.leaf.cursor.part;
        before.begin_ns = before.end_ns;
        add_span(pieces.spans, before, row.index().is_complete());
    }
    for (const EventPart& part : read.events.parts) add_span(pieces.spans, part, row.index().is_complete());
    pieces.calls = calls_of(row, read, from, to, with_regions);
    return pieces;
}

KeptEvents events_between(const IndexedRow& row, std::uint64_t from, std::uint64_t to, bool with_long_runs) {
    const RowIndex& index = row.index();
    if (index.leaves == 0 || to <= index.begin() || from >= index.end) return index.head;
    LeafEvents read = read_leaves(row, first_leaf_at(row, from), to);
    KeptEvents& events = read.events;
    index.for_each_long(read.next, to, [&](const LongInterval& one) {
        const TracedInterval& interval = one.interval;
        if (!one.is_run)
            events.intervals.push_back(interval);
        else if (with_long_runs)
            events.runs.push_back({interval.begin_ns, interval.end_ns, 0, interval.path, false, false, interval.processor});
    });
    if (!events.parts.empty()) {
        EventPart& last = events.parts.back();
        last.intervals = static_cast<std::uint32_t>(events.intervals.size()) - last.intervals_at;
        last.runs = static_cast<std::uint32_t>(events.runs.size()) - last.runs_at;
    }
    const EventsElsewhere& block = row.block();
    const auto path = [&](std::uint32_t& node) { node = node < block.paths->size() ? (*block.paths)[node] : 0; };
    const auto phase = [&](std::uint32_t number) {
        const auto known = block.phases.find(number);
        return known == block.phases.end() ? EventPart::no_phase : known->second;
    };
    for (TracedInterval& interval : events.intervals) path(interval.path);
    for (TracedTask& task : events.tasks) path(task.path);
    for (TracedTaskRun& run : events.runs) path(run.path);
    for (EventPart& part : events.parts) part.phase = part.kind == PartKind::Iteration ? phase(part.phase) : EventPart::no_phase;
    for (TracedInner& inner : events.inners) inner.phase = phase(inner.phase);
    return std::move(events);
}

std::optional<EventPart> part_of_iteration(const IndexedRow& row, std::uint32_t phase, std::uint64_t number, std::uint64_t from, std::uint64_t to) {
    const RowIndex& index = row.index();
    if (index.leaves == 0 || from >= to) return std::nullopt;
    const auto is_it = [&](const EventPart& part) {
        const auto known = row.block().phases.find(part.phase);
        return part.kind == PartKind::Iteration && part.number == number && known != row.block().phases.end() && known->second == phase;
    };
    const LeafCursor middle = leaf_at(row, from + (to - from) / 2).leaf.cursor; // of a long one, its leaves know it
    if (middle.events_left != 0 && is_it(middle.part)) return middle.part;
    const std::uint64_t around = to - from; // the series has rounded times
    const LeafEvents read = read_leaves(row, first_leaf_at(row, from > around ? from - around : 0), to + around);
    const auto found = std::find_if(read.events.parts.begin(), read.events.parts.end(), is_it);
    return found == read.events.parts.end() ? std::nullopt : std::optional<EventPart>(*found);
}

void for_each_leaf(const IndexedRow& row, std::size_t group, std::uint64_t from, std::uint64_t to, const std::function<void(const KeptEvents&)>& visit) {
    const std::vector<EventLeaf> leaves = row.leaves(group);
    std::size_t at = 0;
    while (at + 1 < leaves.size() && leaves[at + 1].cursor.time < from) ++at;
    LeafReader reader(row.frames());
    reader.begin_at(leaves[at].cursor);
    KeptEvents events;
    for (; at < leaves.size() && leaves[at].cursor.time <= to; ++at) {
        clear_lists(events);
        read_leaf(reader, events);
        visit(events);
    }
}

std::vector<std::uint32_t> groups_of_records(const RowIndex& index, std::uint64_t from, std::uint64_t to) {
    std::vector<std::uint32_t> list;
    if (index.groups.empty()) return list;
    const auto groups = static_cast<std::uint32_t>(index.groups.size());
    std::uint32_t next = static_cast<std::uint32_t>(index.group_at(from == 0 ? 0 : from - 1));      // leaves of no length before it have what ends then
    const std::uint32_t end = std::min(groups, static_cast<std::uint32_t>(index.group_at(to)) + 2); // what ends in the leaf behind may begin before it
    for (; next < end; ++next) list.push_back(next);
    index.for_each_long(index.first_leaf(end), to, [&](const LongInterval& one) {
        const auto group = static_cast<std::uint32_t>(one.leaf / LeafGroup::arity);
        if (group < next || group >= groups) return;
        list.push_back(group);
        next = group + 1;
    });
    return list;
}

TimelineSums sums_before(const IndexedRow& row, std::uint64_t ns) {
    const RowIndex& index = row.index();
    if (index.leaves == 0 || ns <= index.begin()) return {};
    if (ns >= index.end) return index.all;
    const std::size_t group = index.group_at(ns);
    TimelineSums sums = index.groups[group].before;
    std::uint64_t from = index.groups[group].time;
    const std::vector<EventLeaf> leaves = row.leaves(group);
    for (std::size_t l = 0; l < leaves.size(); ++l) {
        const std::uint64_t end = l + 1 < leaves.size() ? leaves[l + 1].cursor.time : index.end_of(group);
        if (end > ns) break;
        for (std::size_t s = 0; s < sums.size(); ++s) sums[s] += leaves[l].sums[s];
        from = end;
    }
    visit_pieces(row, from, ns, [&](std::uint64_t begin, std::uint64_t end, const StateCall* call) { sums[state_of(call)] += end - begin; });
    return sums;
}

TimelineSums sums_between(const IndexedRow& row, std::uint64_t from, std::uint64_t to) {
    if (from >= to) return {};
    TimelineSums sums = sums_before(row, to);
    const TimelineSums before = sums_before(row, from);
    for (std::size_t s = 0; s < sums.size(); ++s) sums[s] -= before[s];
    return sums;
}

TimelinePixels pixels_between(const IndexedRow& row, double from, double to, std::size_t n, const PixelEffort& effort, const TaskClasses* classes) {
    const RowIndex& index = row.index();
    StatePixels sums(from, to, n, classes);
    const std::uint64_t begin = whole_ns(from), end = whole_ns(std::ceil(to));
    const std::uint64_t groups = groups_between(row, begin, end);
    if (groups == 0) return {sums.pixels()};
    if (groups <= effort.sums && leaves_between(row, begin, end) <= effort.leaves) {
        sums.add_pieces(index, pieces_between(row, begin, end), begin, end);
        return {sums.pixels()};
    }
    const std::size_t first = index.group_at(begin), last = index.group_at(end);
    if (groups * LeafGroup::arity <= effort.sums) {
        for (std::size_t g = first; g <= last; ++g) {
            const std::vector<EventLeaf> leaves = row.leaves(g);
            for (std::size_t l = 0; l < leaves.size(); ++l) {
                const std::uint64_t leaf_end = l + 1 < leaves.size() ? leaves[l + 1].cursor.time : index.end_of(g);
                sums.add_sums(leaves[l].cursor.time, leaf_end, leaves[l].longest, leaves[l].sums, leaves[l].tasks);
            }
        }
    } else if (groups * LeafGroup::arity / LeafTen::arity <= effort.sums) {
        for (std::size_t place = first / RowIndex::groups_of_tens; place <= last / RowIndex::groups_of_tens; ++place) {
            const std::vector<LeafTen> tens = row.tens(place);
            for (std::size_t t = 0; t < tens.size(); ++t)
                sums.add_sums(tens[t].time, t + 1 < tens.size() ? tens[t + 1].time : index.end_of_tens(place), tens[t].longest, tens[t].sums, tens[t].tasks);
        }
    } else {
        for (std::size_t g = first; g <= last; ++g) {
            TimelineSums inside = g + 1 < index.groups.size() ? index.groups[g + 1].before : index.all;
            for (std::size_t s = 0; s < inside.size(); ++s) inside[s] -= index.groups[g].before[s];
            sums.add_sums(index.groups[g].time, index.end_of(g), index.groups[g].longest, inside, index.groups[g].tasks);
        }
    }
    return {sums.pixels(), false};
}

} // namespace libprofile::tools
