// Caliper's JSON-split format as cali-query writes it, one row per call path: aggregated over ranks and threads, because Thicket
// needs one row for a node of a run.
// Column names are those that Caliper gives such aggregates and that the reader in Hatchet knows: "sum#time.duration" becomes
// its "time", "inclusive#sum#time.duration" its "time (inc)". Metadata: the keys that Caliper and Adiak record by custom, always all of
// them, since Thicket wants the same keys of every run; unknown values are an empty text or 0.
#include "tools/export/formats.hpp"

#include "tools/names/labels.hpp"
#include "tools/text/json_text.hpp"

#include <algorithm>
#include <ctime>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <set>

namespace libprofile::tools {

namespace {

using Json = nlohmann::ordered_json;

/// Caliper's name of a metric: of times "time.duration", in seconds.
std::string attribute(const MetricRow& row) { return row.name == "time" ? "time.duration" : row.name; }

Json number(std::uint64_t value, const MetricRow& row) {
    if (row.unit == "ns") return static_cast<double>(value) / 1e9;
    return value;
}

/// Integers and other numbers of the user as numbers: Thicket and Extra-P calculate with them.
Json user_value(const std::string& text) {
    const Json parsed = Json::parse(text, nullptr, false);
    return parsed.is_number() || parsed.is_boolean() ? parsed : Json(text);
}

void add_metadata(const Profile& profile, const CallTable& table, const ExportRequest& request, Json& document) {
    std::set<std::string> hosts;
    std::uint64_t threads = 1, wall = 0, iterations = 0;
    for (const auto& [rank, info] : profile.ranks) {
        hosts.insert(info.host);
        threads = std::max(threads, info.threads);
    }
    for (const Location& location : profile.locations) {
        wall = std::max(wall, location.wall_ns);
        for (const PhaseData& data : location.phases) iterations = std::max<std::uint64_t>(iterations, data.cluster_of_iteration.size());
    }
    const auto start = static_cast<std::time_t>(profile.job.start_unix_ns / 1'000'000'000u);
    std::tm utc{};
    ::gmtime_r(&start, &utc);
    document["cluster"] = hosts.empty() ? "" : *hosts.begin();
    document["jobsize"] = profile.job.ranks;
    document["numhosts"] = hosts.size();
    document["launchdate"] = start;
    document["launchday"] = fmt::format("{:%Y-%m-%d}", utc);
    document["user"] = "";
    document["executablepath"] = profile.job.executable;
    document["libraries"] = profile.job.mpi;
    document["compiler"] = "";
    document["compilerversion"] = "";
    document["threads"] = threads;
    document["problem_size"] = 0;
    document["iterations"] = iterations;
    document["elapsed_time"] = static_cast<double>(wall) / 1e9;
    document["figure_of_merit"] = wall == 0 ? 0.0 : static_cast<double>(iterations) * 1e9 / static_cast<double>(wall);
    document["mpi.world.size"] = profile.job.ranks;
    document["cali.caliper.version"] = "";
    document["cali.channel"] = "libprofile";
    document["num_processes"] = profile.job.ranks;
    document["command"] = profile.job.command;
    document["libprofile.version"] = profile.job.version;
    document["libprofile.selection"] = table.scope;
    document["libprofile.estimated"] = table.estimated;
    for (const auto& [name, value] : request.set) document[name] = user_value(value);
}

} // namespace

Remarks write_caliper(const Profile& profile, const ExportRequest& request, Sink& sink) {
    for (const auto& [name, value] : request.set)
        for (const char* key : {"data", "columns", "column_metadata", "nodes"})
            if (name == key) throw ExportError(fmt::format("\"{}\" is no name for metadata in this format; choose another one with --set", name));
    TableChoice choice = request.choice;
    choice.short_names = true; // labels are all that tells nodes apart there, and people write queries with them
    const CallTable table = make_call_table(profile, choice);

    Json columns = Json::array({"path"}), about = Json::array({{{"is_value", false}}});
    const auto column = [&](const std::string& name, const MetricRow& row) {
        columns.push_back(name);
        Json entry = {{"is_value", true}, {"attribute.alias", name}};
        if (row.unit == "ns") entry["attribute.unit"] = "sec";
        about.push_back(std::move(entry));
    };
    std::vector<std::vector<Json>> rows(table.nodes.size());
    for (std::size_t n = 0; n < table.nodes.size(); ++n) rows[n].push_back(n);
    const auto locations = static_cast<double>(table.locations.size());
    for (std::size_t m = 0; m < table.metrics.size(); ++m) {
        const MetricRow& row = table.metrics[m];
        for (const bool inclusive : {false, true}) {
            const std::string name = (inclusive ? "inclusive#sum#" : "sum#") + attribute(row);
            for (const char* statistic : {"", "min#", "max#", "avg#"}) column(statistic + name, row);
            std::vector<std::uint64_t> sum(table.nodes.size()), least(table.nodes.size(), ~std::uint64_t{0}), most(table.nodes.size());
            for (std::size_t p = 0; p < table.locations.size(); ++p) {
                const std::vector<std::uint64_t> values = inclusive ? table.inclusive(p, m) : table.exclusive(p, m);
                for (std::size_t n = 0; n < values.size(); ++n) {
                    sum[n] += values[n];
                    least[n] = std::min(least[n], values[n]);
                    most[n] = std::max(most[n], values[n]);
                }
            }
            for (std::size_t n = 0; n < rows.size(); ++n) {
                const double unit = row.unit == "ns" ? 1e9 : 1;
                rows[n].insert(rows[n].end(),
                               {number(sum[n], row), number(least[n], row), number(most[n], row), static_cast<double>(sum[n]) / unit / locations});
            }
        }
    }
    Json nodes = Json::array();
    for (std::size_t n = 0; n < table.nodes.size(); ++n) {
        Json node = {{"label", table.nodes[n].name}, {"column", "path"}};
        if (n != 0) node["parent"] = table.nodes[n].parent;
        nodes.push_back(std::move(node));
    }
    Json document = {{"data", rows}, {"columns", std::move(columns)}, {"column_metadata", std::move(about)}, {"nodes", std::move(nodes)}};
    add_metadata(profile, table, request, document);
    sink.add("profile.json", json_text(document) + "\n");
    return untold_remarks(table);
}

} // namespace libprofile::tools
