// Tables of comma-separated values (RFC 4180) for pandas, R, DuckDB, spreadsheets: integers in ns and bytes, one header line each.
// Long tables have a row per value, so that they become Parquet files without thought.
#include "tools/export/formats.hpp"

#include <fmt/format.h>
#include <iterator>
#include <numeric>

namespace libprofile::tools {

namespace {

std::string quoted(const std::string& text) {
    if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"') out += '"';
        out += c;
    }
    return out + "\"";
}

const char* kind_of(TableNode kind) {
    const bool is_phase = kind == TableNode::Phase || kind == TableNode::Iterations; // they look like functions to who reads tables
    return name_of(is_phase ? TableNode::Function : kind);
}

std::string call_paths_csv(const CallTable& table) {
    std::string out = "call_path,parent,name,file,line,module,kind\n";
    for (std::size_t n = 0; n < table.nodes.size(); ++n) {
        const CallTable::Node& node = table.nodes[n];
        out += fmt::format("{},{},{},{},{},{},{}\n", n, n == 0 ? "" : fmt::to_string(node.parent), quoted(node.name), quoted(node.file),
                           node.line == 0 ? "" : fmt::to_string(node.line), quoted(node.module), kind_of(node.kind));
    }
    return out;
}

std::string values_csv(const CallTable& table) {
    std::string out = "call_path,rank,thread,metric,value,estimated\n";
    for (std::size_t p = 0; p < table.locations.size(); ++p)
        for (const CallTable::Value& value : table.values[p])
            out += fmt::format("{},{},{},{},{},{}\n", value.node, table.locations[p].rank, table.locations[p].thread, quoted(table.metrics[value.metric].name),
                               value.value, value.estimated ? 1 : 0);
    return out;
}

constexpr const char* location_columns = "rank,thread,host,pid,wall_ns,complete\n";

std::string locations_csv(const Profile& profile, const std::vector<const Location*>& locations) {
    std::string out = location_columns;
    for (const Location* location : locations) {
        const auto rank = profile.ranks.find(location->rank);
        const bool known = rank != profile.ranks.end();
        out += fmt::format("{},{},{},{},{},{}\n", location->rank, location->thread, known ? quoted(rank->second.host) : "",
                           known ? fmt::to_string(rank->second.pid) : "", location->wall_ns, location->complete ? 1 : 0);
    }
    return out;
}

/// The metrics of a table: all of them, where none were chosen.
using Columns = std::vector<std::size_t>; // rows of metric_rows

Columns columns_of(const Profile& profile, const TableChoice& choice) {
    if (!choice.metrics.empty()) return rows_of_choice(profile, choice);
    Columns all(metric_rows(profile).size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    return all;
}

std::string header_of(const Profile& profile, const Columns& columns) {
    const std::vector<MetricRow> rows = metric_rows(profile);
    std::string out;
    for (const std::size_t column : columns) out += "," + quoted(rows[column].name);
    return out + "\n";
}

/// The end of a row; an unknown value is an empty field.
template <class Values> void add_cells(const Values& values, std::size_t known, const Columns& columns, std::string& out) {
    for (const std::size_t column : columns)
        if (column < known)
            fmt::format_to(std::back_inserter(out), ",{}", values[column]);
        else
            out += ',';
    out += '\n';
}

/// Whether the user wants the phase at all.
bool chosen(const Profile& profile, const TableChoice& choice, std::uint32_t phase) {
    if (!choice.has_phase && !choice.iterations) return true;
    return phase == phase_of_choice(profile, choice);
}

/// A table of iterations is long: it is written location by location.
void add_phase(const Profile& profile, const Location& location, const PhaseData& data, IterationRange range, const Columns& columns, Sink& sink) {
    constexpr const char* kinds[] = {"outside", "aggregate", "iterations"};
    const std::size_t rows = metric_rows(profile).size();
    const Phase& phase = profile.phases[data.phase];
    const std::string name = quoted(phase.name), where = fmt::format("{},{}", location.rank, location.thread);
    std::string out =
        fmt::format("{},{},{},{},{},{}", name, kinds[static_cast<std::size_t>(phase.kind)], where, data.instances, data.wall_ns, data.wall_inclusive_ns);
    add_cells(totals(profile, data), rows, columns, out);
    sink.add("phases.csv", out);

    out.clear();
    for (std::size_t c = 0; c < data.clusters.size(); ++c) {
        const Cluster& cluster = data.clusters[c];
        out += fmt::format("{},{},{},{},{}", name, where, c, cluster.size, cluster.equivalence_class);
        add_cells(condense(profile, cluster.cells), rows, columns, out);
    }
    sink.add("clusters.csv", out);

    out.clear();
    std::optional<SeriesReader> reader;
    if (data.series) reader.emplace(*data.series, false);
    const std::size_t all = std::min(data.iteration_ns.size(), data.cluster_of_iteration.size());
    for (std::size_t i = 0; i < all && i <= range.last; ++i) {
        const bool known = reader && reader->next() && reader->has_totals();
        if (i < range.first) continue;
        const std::uint32_t cluster = data.cluster_of_iteration[i];
        out += fmt::format("{},{},{},{},{}", name, where, i + 1, cluster < data.clusters.size() ? fmt::to_string(cluster) : "", data.iteration_ns[i]);
        if (known)
            add_cells(reader->condensed(), reader->condensed().size(), columns, out);
        else
            add_cells(MetricValues{}, 0, columns, out);
    }
    sink.add("iterations.csv", out);
}

void add_phases(const Profile& profile, const TableChoice& choice, const std::vector<const Location*>& locations, Sink& sink) {
    const Columns chosen_columns = columns_of(profile, choice);
    const std::string columns = header_of(profile, chosen_columns);
    sink.add("phases.csv", "phase,kind,rank,thread,instances,wall_ns,wall_inclusive_ns" + columns);
    sink.add("iterations.csv", "phase,rank,thread,iteration,cluster,wall_ns" + columns);
    sink.add("clusters.csv", "phase,rank,thread,cluster,iterations,class" + columns);
    for (const Location* location : locations)
        for (const PhaseData& data : location->phases)
            if (chosen(profile, choice, data.phase)) add_phase(profile, *location, data, choice.iterations.value_or(IterationRange{}), chosen_columns, sink);
}

} // namespace

Remarks write_csv(const Profile& profile, const ExportRequest& request, Sink& sink) {
    const CallTable table = make_call_table(profile, request.choice);
    sink.add("call_paths.csv", call_paths_csv(table));
    sink.add("values.csv", values_csv(table));
    if (request.choice.source) { // of another tool: it knows no phases, and when threads began and ended
        std::string out = location_columns;
        for (const CallTable::Location& location : table.locations) out += fmt::format("{},{},{},,,\n", location.rank, location.thread, quoted(location.host));
        sink.add("locations.csv", out);
        return {};
    }
    const std::vector<const Location*> locations = locations_of_choice(profile, request.choice);
    sink.add("locations.csv", locations_csv(profile, locations));
    add_phases(profile, request.choice, locations, sink);
    return untold_remarks(table);
}

} // namespace libprofile::tools
