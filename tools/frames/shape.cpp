#include "tools/frames/shape.hpp"

#include "tools/frames/place_values.hpp"
#include "tools/frames/unify.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <limits>
#include <map>

namespace libprofile::tools {

namespace {

constexpr std::uint32_t left_out = std::numeric_limits<std::uint32_t>::max();

/// The chosen nodes with their values.
Frame picked(const Frame& frame, const std::vector<bool>& keep) {
    Frame result;
    result.places = frame.places;
    result.source = frame.source;
    result.scope = frame.scope;
    result.estimated = frame.estimated;
    result.notes = frame.notes;
    std::vector<std::uint32_t> number(frame.nodes.size(), left_out), above(frame.nodes.size());
    for (std::uint32_t n = 0; n < frame.nodes.size(); ++n) {
        const FrameNodes& nodes = frame.nodes;
        const std::uint32_t parent = nodes.parent[n];
        above[n] = number[parent] != left_out ? number[parent] : above[parent];
        if (!keep[n]) continue;
        number[n] =
            result.add_node(above[n], frame.texts[nodes.kind[n]], frame.name_of(n), frame.texts[nodes.file[n]], nodes.line[n], frame.texts[nodes.module[n]]);
    }
    for (const FrameColumn& column : frame.columns) {
        FrameColumn& kept = result.columns.emplace_back();
        kept.metric = column.metric;
        kept.unit = column.unit;
        RowBuffer buffer;
        for (std::size_t p = 0; p < column.places(); ++p) {
            const FrameRow row = column.row(p, buffer);
            for (std::size_t i = 0; i < row.node.size(); ++i)
                if (number[row.node[i]] != left_out) {
                    kept.node.push_back(number[row.node[i]]);
                    kept.value.push_back(row.value[i]);
                }
            kept.begin.push_back(kept.node.size());
        }
    }
    return result;
}

} // namespace

Frame filtered(const Frame& frame, const std::vector<bool>& keep) {
    if (keep.size() != frame.nodes.size()) throw FrameError(fmt::format("the choice is of {} nodes, but the frame has {}", keep.size(), frame.nodes.size()));
    std::vector<bool> kept = keep;
    if (!kept.empty()) kept[0] = true;
    return picked(frame, kept);
}

Frame subtree(const Frame& frame, std::uint32_t node) {
    if (node >= frame.nodes.size()) throw FrameError(fmt::format("there is no node {}; the frame has {} nodes", node, frame.nodes.size()));
    std::vector<bool> keep(frame.nodes.size());
    keep[node] = true;
    for (std::size_t n = node + 1; n < keep.size(); ++n) keep[n] = keep[frame.nodes.parent[n]];
    return picked(frame, keep);
}

Frame at_ranks(const Frame& frame, std::span<const std::uint32_t> ranks) {
    for (const std::uint32_t rank : ranks)
        if (std::none_of(frame.places.begin(), frame.places.end(), [&](const FramePlace& place) { return place.rank == rank; }))
            throw FrameError(fmt::format("the profile has no rank {}; its ranks are {} to {}", rank, frame.places.front().rank, frame.places.back().rank));
    Frame result = frame;
    result.places.clear();
    for (FrameColumn& column : result.columns) column = {column.metric, column.unit, {0}, {}, {}};
    for (std::size_t p = 0; p < frame.places.size(); ++p) {
        if (!std::binary_search(ranks.begin(), ranks.end(), frame.places[p].rank)) continue;
        result.places.push_back(frame.places[p]);
        for (std::size_t c = 0; c < frame.columns.size(); ++c) {
            const FrameColumn& from = frame.columns[c];
            FrameColumn& to = result.columns[c];
            const auto first = static_cast<std::ptrdiff_t>(from.begin[p]), last = static_cast<std::ptrdiff_t>(from.begin[p + 1]);
            to.node.insert(to.node.end(), from.node.begin() + first, from.node.begin() + last);
            to.value.insert(to.value.end(), from.value.begin() + first, from.value.begin() + last);
            to.begin.push_back(to.node.size());
        }
    }
    return result;
}

Frame by_function(const Frame& frame) {
    const FrameNodes& nodes = frame.nodes;
    const std::uint32_t loop = frame.texts.find("loop"), statement = frame.texts.find("statement");
    std::vector<double> weight(nodes.size());
    if (!frame.columns.empty()) weight = PlaceValues(frame, frame.columns[0], true, Over::Thread).sums();
    Frame result = frame;
    result.nodes = {};
    std::vector<double> most; // by new node: the weight of the line that it has
    std::vector<std::uint32_t> number(nodes.size());
    std::map<std::array<std::uint32_t, 5>, std::uint32_t> known;
    for (std::uint32_t n = 0; n < nodes.size(); ++n) {
        const std::uint32_t parent = number[nodes.parent[n]];
        if (n != 0 && (nodes.kind[n] == loop || nodes.kind[n] == statement)) {
            number[n] = parent;
            continue;
        }
        const auto [at, is_new] =
            known.try_emplace({parent, nodes.kind[n], nodes.name[n], nodes.file[n], nodes.module[n]}, static_cast<std::uint32_t>(result.nodes.size()));
        number[n] = n == 0 || is_new ? static_cast<std::uint32_t>(result.nodes.size()) : at->second;
        if (number[n] == result.nodes.size()) {
            result.add_node(parent, frame.texts[nodes.kind[n]], frame.name_of(n), frame.texts[nodes.file[n]], nodes.line[n], frame.texts[nodes.module[n]]);
            most.push_back(weight[n]);
        } else if (weight[n] > most[number[n]]) {
            most[number[n]] = weight[n];
            result.nodes.line.set(number[n], nodes.line[n]);
        }
    }
    move_values(result, number);
    return result;
}

Frame flattened(const Frame& frame, GroupBy by) {
    const NodeGroups groups = group_nodes(frame, by);
    Frame result = frame;
    result.nodes = {};
    for (const std::uint32_t n : groups.first) {
        const FrameNodes& nodes = frame.nodes;
        const bool has_name = by == GroupBy::Name || by == GroupBy::Function;
        const std::string& name = frame.texts[has_name ? nodes.name[n] : by == GroupBy::File ? nodes.file[n] : nodes.module[n]];
        result.add_node(0, frame.texts[nodes.kind[n]], name, by == GroupBy::Module ? "" : frame.texts[nodes.file[n]], has_name ? nodes.line[n] : 0,
                        frame.texts[nodes.module[n]]);
    }
    move_values(result, groups.group_of);
    return result;
}

} // namespace libprofile::tools
