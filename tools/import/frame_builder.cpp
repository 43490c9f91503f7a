#include "tools/import/frame_builder.hpp"

#include <algorithm>
#include <cmath>

namespace libprofile::tools {

namespace {

constexpr std::size_t most_nodes = 20'000'000, most_metrics = 4096;

constexpr double largest_value = 1e100; // sums, and sums of squares, stay finite

// Bytes of each, about, with what containers need to grow.
constexpr std::size_t node_bytes = 48, child_bytes = 96, text_bytes = 112, value_bytes = 32, place_bytes = 256, metric_bytes = 128, cell_bytes = 8;

} // namespace

std::uint32_t FrameBuilder::text_number(std::string_view text) {
    const std::size_t known = frame_.texts.size();
    const std::uint32_t number = frame_.texts.number(text);
    if (frame_.texts.size() != known) memory_.take(text_bytes + text.size());
    return number;
}

NodeTexts FrameBuilder::numbers_of(const NodeNames& names) {
    return {text_number(names.kind), text_number(names.name), text_number(names.file), text_number(names.module)};
}

std::uint32_t FrameBuilder::add(std::uint32_t parent, const NodeTexts& texts, std::uint32_t line) {
    if (nodes() >= most_nodes) throw FrameError("the call tree has more nodes than the tools can show");
    memory_.take(node_bytes);
    return frame_.add_node(parent, texts, line);
}

std::uint32_t FrameBuilder::add(std::uint32_t parent, const NodeNames& names) { return add(parent, numbers_of(names), names.line); }

std::uint32_t FrameBuilder::child(std::uint32_t parent, const NodeNames& names) {
    const NodeTexts texts = numbers_of(names);
    const Key key = {parent, texts.kind, texts.name, texts.file, texts.module, names.line};
    const auto [at, is_new] = children_.try_emplace(key, static_cast<std::uint32_t>(nodes()));
    if (!is_new) return at->second;
    memory_.take(child_bytes);
    return add(parent, texts, names.line);
}

std::uint32_t FrameBuilder::place(std::uint32_t rank, std::uint32_t thread, std::string_view host) {
    const auto [at, is_new] = places_.try_emplace({rank, thread}, static_cast<std::uint32_t>(place_list_.size()));
    if (!is_new) return at->second;
    memory_.take(place_bytes + host.size() + cell_bytes * metrics_.size());
    place_list_.push_back({rank, thread, std::string(host)});
    return at->second;
}

std::uint32_t FrameBuilder::metric(std::string_view name, std::string_view unit) {
    for (std::uint32_t m = 0; m < metrics_.size(); ++m)
        if (metrics_[m].name == name) return m;
    if (metrics_.size() >= most_metrics) throw FrameError("it has too many metrics");
    memory_.take(metric_bytes + name.size() + unit.size() + cell_bytes * place_list_.size());
    metrics_.push_back({std::string(name), std::string(unit)});
    return static_cast<std::uint32_t>(metrics_.size() - 1);
}

void FrameBuilder::value(std::uint32_t metric, std::uint32_t place, std::uint32_t node, double value) {
    if (std::isnan(value)) return;
    if (std::abs(value) > largest_value) throw FrameError("a value is too large");
    memory_.take(value_bytes);
    Metric& into = metrics_[metric];
    into.values.push_back({place, node, into.unit == "ns" ? std::round(value) : value});
}

FrameColumn FrameBuilder::column(Metric& metric, const std::vector<std::uint32_t>& position) const {
    for (Value& value : metric.values) value.place = position[value.place];
    const auto before = [](const Value& a, const Value& b) { return std::pair(a.place, a.node) < std::pair(b.place, b.node); };
    if (!std::is_sorted(metric.values.begin(), metric.values.end(), before)) std::stable_sort(metric.values.begin(), metric.values.end(), before);
    FrameColumn column;
    column.metric = metric.name;
    column.unit = metric.unit;
    std::vector<double> below(metric.is_inclusive ? nodes() : 0);
    auto next = metric.values.begin();
    for (std::uint32_t p = 0; p < place_list_.size(); ++p) {
        const auto first = next;
        const std::size_t first_kept = column.node.size();
        for (; next != metric.values.end() && next->place == p; ++next)
            if (column.node.size() > first_kept && column.node.back() == next->node)
                column.value.back() += next->value;
            else {
                column.node.push_back(next->node);
                column.value.push_back(next->value);
            }
        if (metric.is_inclusive) {
            std::fill(below.begin(), below.end(), 0.0);
            for (auto value = first; value != next; ++value)
                if (frame_.nodes.parent[value->node] != 0) below[frame_.nodes.parent[value->node]] += value->value;
            for (std::size_t i = first_kept; i < column.node.size(); ++i) column.value[i] -= below[column.node[i]];
        }
        column.begin.push_back(column.node.size());
    }
    return column;
}

Frame FrameBuilder::finish() && {
    if (place_list_.empty()) place(0, 0);
    std::vector<std::uint32_t> order(place_list_.size()), position(place_list_.size());
    for (std::uint32_t p = 0; p < order.size(); ++p) order[p] = p;
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
        return std::pair(place_list_[a].rank, place_list_[a].thread) < std::pair(place_list_[b].rank, place_list_[b].thread);
    });
    for (std::uint32_t p = 0; p < order.size(); ++p) {
        position[order[p]] = p;
        frame_.places.push_back(place_list_[order[p]]);
    }
    for (Metric& metric : metrics_) {
        frame_.columns.push_back(column(metric, position));
        metric.values = {};
    }
    frame_.check();
    return std::move(frame_);
}

} // namespace libprofile::tools
