#include "tools/frames/arithmetic.hpp"

#include "tools/frames/unify.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <tuple>

namespace libprofile::tools {

namespace {

using Index = std::optional<std::size_t>;

/// A place that one of two frames has, or both.
struct Pair {
    FramePlace place;
    Index a, b;
};

bool is_before(const FramePlace& x, const FramePlace& y) { return std::tie(x.rank, x.thread) < std::tie(y.rank, y.thread); }

std::vector<Pair> pairs_of(const std::vector<FramePlace>& a, const std::vector<FramePlace>& b) {
    std::vector<Pair> pairs;
    for (std::size_t i = 0, j = 0; i < a.size() || j < b.size();) {
        const bool has_a = i < a.size() && (j == b.size() || !is_before(b[j], a[i]));
        const bool has_b = j < b.size() && (i == a.size() || !is_before(a[i], b[j]));
        pairs.push_back({has_a ? a[i] : b[j], has_a ? Index(i) : std::nullopt, has_b ? Index(j) : std::nullopt});
        i += has_a ? 1 : 0;
        j += has_b ? 1 : 0;
    }
    return pairs;
}

void add_rows(const FrameRow& a, const FrameRow& b, double factor, FrameColumn& to) {
    for (std::size_t i = 0, j = 0; i < a.node.size() || j < b.node.size();) {
        const bool has_a = i < a.node.size() && (j == b.node.size() || a.node[i] <= b.node[j]);
        const bool has_b = j < b.node.size() && (i == a.node.size() || b.node[j] <= a.node[i]);
        to.node.push_back(has_a ? a.node[i] : b.node[j]);
        to.value.push_back((has_a ? a.value[i] : 0) + (has_b ? factor * b.value[j] : 0));
        i += has_a ? 1 : 0;
        j += has_b ? 1 : 0;
    }
    to.begin.push_back(to.node.size());
}

} // namespace

Frame added(const Frame& a, const Frame& b, double factor) {
    std::vector<Frame> frames = {a, b};
    unify(frames);
    Frame& first = frames[0];
    const Frame& second = frames[1];
    const std::vector<Pair> pairs = pairs_of(first.places, second.places);
    std::vector<FrameColumn> columns;
    for (const FrameColumn& column : first.columns) {
        const FrameColumn* other = second.find_column(column.metric);
        if (other == nullptr) continue;
        if (other->unit != column.unit)
            throw FrameError(fmt::format("\"{}\" is in {} in one frame and in {} in the other", column.metric, column.unit, other->unit));
        FrameColumn& result = columns.emplace_back();
        result.metric = column.metric;
        result.unit = column.unit;
        RowBuffer buffers[2];
        for (const Pair& pair : pairs)
            add_rows(pair.a ? column.row(*pair.a, buffers[0]) : FrameRow{}, pair.b ? other->row(*pair.b, buffers[1]) : FrameRow{}, factor, result);
    }
    if (columns.empty()) throw FrameError("the frames have no metric in common");
    first.columns = std::move(columns);
    first.places.clear();
    for (const Pair& pair : pairs) first.places.push_back(pair.place);
    first.estimated = first.estimated || second.estimated;
    for (const std::string& note : second.notes)
        if (std::find(first.notes.begin(), first.notes.end(), note) == first.notes.end()) first.notes.push_back(note);
    return std::move(first);
}

Frame scaled(const Frame& frame, double factor) {
    Frame result = frame;
    for (FrameColumn& column : result.columns) {
        column.fetch();
        for (double& value : column.value) value *= factor;
    }
    return result;
}

} // namespace libprofile::tools
