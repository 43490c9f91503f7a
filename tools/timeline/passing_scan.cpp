#include "tools/timeline/passing_scan.hpp"

#include "tools/analysis/in_parallel.hpp"

#include <algorithm>

namespace libprofile::tools {

namespace {

constexpr std::size_t units_at_once = 8;

} // namespace

PassingScan::PassingScan(const IndexedRows& rows, const PassingCalls& passing, SelectedTimes times, const std::vector<TaskClasses>* classes)
    : rows_(rows), passing_(passing), times_(std::move(times)), classes_(classes) {
    for (std::uint32_t l = 0; l < times_.spans.size(); ++l) {
        const SelectedTimes::Span& span = times_.spans[l];
        if (rows_[l] == nullptr || !span.is_there() || !passing_.has_thread(l)) continue;
        const RowIndex& index = rows_[l]->index();
        for (std::uint32_t g = 0; g < index.groups.size() && index.groups[g].time < span.end_ns; ++g)
            if (index.end_of(g) > span.begin_ns && !passing_.has_none(l, index.groups[g])) units_.push_back({l, g});
    }
}

void PassingScan::go_on(std::chrono::milliseconds time, const Receiver& receive) {
    const auto end = std::chrono::steady_clock::now() + time;
    while (!is_done()) {
        const std::size_t units = std::min(units_at_once, units_.size() - next_unit_);
        std::vector<std::vector<PassingPiece>> found(units);
        in_parallel(units, [&](std::size_t i) { found[i] = pieces_of(units_[next_unit_ + i]); });
        for (std::size_t i = 0; i < units; ++i)
            for (const PassingPiece& piece : found[i]) receive(units_[next_unit_ + i].location, piece);
        next_unit_ += units;
        if (std::chrono::steady_clock::now() >= end) break;
    }
}

/// Of leaves that may have something, as many at once as follow each other.
std::vector<PassingPiece> PassingScan::pieces_of(const Unit& unit) const {
    const IndexedRow& row = *rows_[unit.location];
    const SelectedTimes::Span& span = times_.spans[unit.location];
    const std::uint64_t end = row.index().end_of(unit.group);
    const std::vector<EventLeaf> leaves = row.leaves(unit.group);
    std::vector<PassingPiece> found;
    for (std::size_t first = 0, last = 0; first < leaves.size(); first = last) {
        const bool has_none = passing_.has_none(unit.location, leaves[first].longest);
        for (last = first + 1; last < leaves.size() && passing_.has_none(unit.location, leaves[last].longest) == has_none;) ++last;
        const std::uint64_t to = last < leaves.size() ? leaves[last].cursor.time : end;
        if (!has_none) add_pieces(unit.location, std::max(span.begin_ns, leaves[first].cursor.time), std::min(span.end_ns, to), found);
    }
    return found;
}

void PassingScan::add_pieces(std::uint32_t location, std::uint64_t from, std::uint64_t to, std::vector<PassingPiece>& out) const {
    const IndexedRow& row = *rows_[location];
    RowPieces pieces = pieces_between(row, from, to);
    const bool outside = passing_.outside(location);
    bool is_any = outside;
    for (StateCall& call : pieces.calls) is_any = (call.passes = passing_.has(location, call)) || is_any;
    if (!is_any) return;
    if (classes_ != nullptr) keep_tasks_and_waits(pieces.calls);
    for_each_piece(pieces.calls, pieces.spans, from, to, [&](std::uint64_t begin, std::uint64_t end, const StateCall* call) {
        if (!(call == nullptr ? outside : call->passes)) return;
        const bool is_run = call != nullptr && call->is_run();
        std::uint32_t kind = call == nullptr ? 0 : static_cast<std::uint32_t>(call->state);
        if (classes_ != nullptr) {
            const TaskClasses& classes = (*classes_)[location];
            const std::size_t position = is_run ? row.index().run_path(call->path) : classes.size();
            kind = position < classes.size() ? classes[position] : 0;
        }
        out.push_back({begin, end, call == nullptr || is_run ? 0 : call->end_ns - call->begin_ns, kind});
    });
}

} // namespace libprofile::tools
