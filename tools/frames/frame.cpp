#include "tools/frames/frame.hpp"

#include "tools/analysis/in_parallel.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace libprofile::tools {

std::uint32_t Frame::add_node(std::uint32_t parent, std::string_view kind, std::string_view name, std::string_view file, std::uint32_t line,
                              std::string_view module) {
    return add_node(parent, {texts.number(kind), texts.number(name), texts.number(file), texts.number(module)}, line);
}

std::uint32_t Frame::add_node(std::uint32_t parent, const NodeTexts& numbers, std::uint32_t line) {
    const auto number = static_cast<std::uint32_t>(nodes.size());
    nodes.parent.push_back(parent);
    nodes.kind.push_back(numbers.kind);
    nodes.name.push_back(numbers.name);
    nodes.file.push_back(numbers.file);
    nodes.module.push_back(numbers.module);
    nodes.line.push_back(line);
    return number;
}

void FrameColumn::fetch() {
    if (!source) return;
    const std::size_t count = source->places();
    std::vector<RowBuffer> rows(count);
    in_parallel(count, [&](std::size_t p) {
        RowBuffer buffer;
        const FrameRow row = source->row(p, buffer);
        rows[p].node.assign(row.node.begin(), row.node.end());
        rows[p].value.assign(row.value.begin(), row.value.end());
    });
    begin.assign(1, 0);
    for (const RowBuffer& row : rows) begin.push_back(begin.back() + row.node.size());
    node.reserve(static_cast<std::size_t>(begin.back()));
    value.reserve(static_cast<std::size_t>(begin.back()));
    for (RowBuffer& row : rows) {
        node.insert(node.end(), row.node.begin(), row.node.end());
        value.insert(value.end(), row.value.begin(), row.value.end());
        row = {};
    }
    source.reset();
}

const FrameColumn* Frame::find_column(std::string_view metric) const {
    const auto column = std::find_if(columns.begin(), columns.end(), [&](const FrameColumn& one) { return one.metric == metric; });
    return column == columns.end() ? nullptr : &*column;
}

const FrameColumn& Frame::column(std::string_view metric) const {
    if (const FrameColumn* column = find_column(metric)) return *column;
    std::vector<std::string_view> names;
    for (const FrameColumn& column : columns) names.push_back(column.metric);
    throw FrameError(fmt::format("there is no metric \"{}\" in the frame, but {}", metric, fmt::join(names, ", ")));
}

void Frame::check() const {
    const std::size_t count = nodes.size();
    const auto need = [](bool holds, const char* what) {
        if (!holds) throw FrameError(what);
    };
    need(count > 0 && nodes.parent[0] == 0, "the call tree has no root");
    for (std::size_t n = 1; n < count; ++n) need(nodes.parent[n] < n, "a node of the call tree comes before its parent");
    for (const auto* numbers : {&nodes.kind, &nodes.name, &nodes.file, &nodes.module}) {
        need(numbers->size() == count, "the call tree has columns of unequal length");
        for (const std::uint32_t number : *numbers) need(number < texts.size(), "a node of the call tree has a text that is not there");
    }
    need(nodes.line.size() == count, "the call tree has columns of unequal length");
    for (const FrameColumn& column : columns) {
        if (column.source) continue; // whose rows are checked when they are read
        need(column.begin.size() == places.size() + 1 && column.begin.front() == 0 && column.begin.back() == column.node.size() &&
                 column.node.size() == column.value.size(),
             "a metric has values of places that are not there");
        for (const double value : column.value) need(std::isfinite(value), "a value is no number");
        for (std::size_t p = 0; p < places.size(); ++p) {
            need(column.begin[p] <= column.begin[p + 1] && column.begin[p + 1] <= column.node.size(), "a metric has values of places that are not there");
            for (std::uint64_t i = column.begin[p]; i < column.begin[p + 1]; ++i)
                need(column.node[i] < count && (i == column.begin[p] || column.node[i - 1] < column.node[i]),
                     "a metric has values of nodes that are not there");
        }
    }
}

} // namespace libprofile::tools
