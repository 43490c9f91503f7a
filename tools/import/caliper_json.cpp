// Caliper's JSON-split, as cali-query writes it: rows of values, columns, and a tree of nodes. Source: Caliper's documentation, "OutputFormats".
//
// A row's call path is the column of nodes that has the most different ones; the other columns of nodes ("sourceloc#...") are parts of it in
// other words.
#include "tools/import/caliper_names.hpp"
#include "tools/import/frame_builder.hpp"
#include "tools/import/importers.hpp"
#include "tools/import/json_file.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

namespace libprofile::tools {

namespace {

/// The column of call paths: by its usual names, else the one of most nodes.
std::optional<std::size_t> path_column(const Json& columns, const Json& about, const Json& nodes) {
    std::map<std::string, std::size_t> count;
    for (const Json& node : nodes) ++count[text_or(node, "column", "")];
    std::optional<std::size_t> best;
    for (std::size_t c = 0; c < columns.size(); ++c) {
        if (!columns[c].is_string()) throw FrameError("a column has no name");
        if (c >= about.size() || !about[c].is_object() || about[c].value("is_value", true)) continue;
        const std::string name = columns[c].get<std::string>();
        if (name == "path") return c;
        const bool is_call_path = name.rfind("source.function#callpath", 0) == 0;
        if (!best || is_call_path || count[name] > count[columns[*best].get<std::string>()]) best = c;
        if (is_call_path) return c;
    }
    return best;
}

std::optional<std::size_t> column_named(const Json& columns, const char* name) {
    for (std::size_t c = 0; c < columns.size(); ++c)
        if (columns[c] == name) return c;
    return {};
}

bool has_whole_numbers(const Json& rows, std::size_t column) {
    return std::all_of(rows.begin(), rows.end(), [&](const Json& row) {
        if (!row.is_array() || column >= row.size() || !row[column].is_number()) return true;
        return row[column].get<double>() == std::floor(row[column].get<double>());
    });
}

std::uint32_t place_number(const Json& row, const std::optional<std::size_t>& column) {
    if (!column || !row[*column].is_number()) return 0;
    const double value = row[*column].get<double>();
    if (!(value >= 0 && value <= 0xffffffffu)) throw FrameError("a rank or thread is out of range");
    return static_cast<std::uint32_t>(value);
}

} // namespace

Frame read_caliper_json(const std::filesystem::path& place) {
    MemoryLimit memory(place);
    const Json document = json_file(place, memory);
    const Json &columns = array_member(document, "columns"), &about = array_member(document, "column_metadata"), &nodes = array_member(document, "nodes");
    const std::optional<std::size_t> path = path_column(columns, about, nodes);
    if (!path) throw FrameError("it has no column of call paths");
    FrameBuilder builder("(program)", memory);
    std::vector<std::uint32_t> node_of;
    for (const Json& node : nodes) {
        const bool has_parent = node.is_object() && node.contains("parent");
        const std::uint32_t parent = has_parent ? node_of[index_in(node["parent"], node_of.size())] : 0;
        const bool is_path = text_or(node, "column", "") == columns[*path];
        node_of.push_back(is_path ? builder.add(parent, {text_or(node, "label", "(unnamed)")}) : 0);
    }
    std::vector<std::optional<std::pair<std::uint32_t, double>>> metrics(columns.size());
    const std::optional<std::size_t> rank = column_named(columns, "mpi.rank"), thread = column_named(columns, "thread");
    std::map<std::string, bool> has_exclusive;
    const auto metric_of = [&](std::size_t c) {
        const bool is_value = c < about.size() && about[c].is_object() && about[c].value("is_value", true);
        return is_value ? caliper_metric(columns[c].get<std::string>(), text_or(about[c], "attribute.unit", "")) : std::nullopt;
    };
    for (std::size_t c = 0; c < columns.size(); ++c)
        if (const auto metric = metric_of(c)) has_exclusive[metric->name] |= !metric->is_inclusive;
    for (std::size_t c = 0; c < columns.size(); ++c) {
        const auto metric = metric_of(c);
        if (!metric || (metric->is_inclusive && has_exclusive[metric->name])) continue;
        const bool is_micro = !metric->is_unit_known && has_whole_numbers(array_member(document, "data"), c);
        if (is_micro) builder.note("times have no unit; whole numbers are taken as microseconds");
        metrics[c] = {builder.metric(metric->name, metric->unit), is_micro ? 1e3 : metric->factor};
        if (metric->is_inclusive) builder.make_exclusive(metrics[c]->first);
    }
    for (const Json& row : array_member(document, "data")) {
        if (!row.is_array() || row.size() != columns.size()) throw FrameError("a row has not as many values as there are columns");
        const std::uint32_t node = row[*path].is_null() ? 0 : node_of[index_in(row[*path], node_of.size())];
        const std::uint32_t here = builder.place(place_number(row, rank), place_number(row, thread));
        for (std::size_t c = 0; c < columns.size(); ++c)
            if (metrics[c] && row[c].is_number()) builder.value(metrics[c]->first, here, node, row[c].get<double>() * metrics[c]->second);
    }
    builder.note("statistics of metrics (min#, max#, avg#) are left out: they do not add up");
    return std::move(builder).finish();
}

} // namespace libprofile::tools
