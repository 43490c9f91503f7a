// speedscope's own file format (https://www.speedscope.app/file-format-schema.json), sampled profiles: a stack and its weight for each
// call path. One profile for all ranks, then one for each rank and thread while the file stays small enough for a browser.
#include "tools/export/formats.hpp"
#include "tools/export/location_name.hpp"
#include "tools/export/stacks.hpp"
#include "tools/text/json_text.hpp"

#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

namespace libprofile::tools {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t most_numbers = 4'000'000; // in stacks: about 20 MB; speedscope gives up somewhat above 60 MB

class Frames {
  public:
    explicit Frames(const CallTable& table) : order(pre_order(table)), number_(table.nodes.size()) {
        std::map<std::tuple<std::string, std::string, std::uint64_t>, std::size_t> known;
        for (std::size_t n = 1; n < table.nodes.size(); ++n) {
            const CallTable::Node& node = table.nodes[n];
            const auto [entry, is_new] = known.try_emplace({node.name, node.file, node.line}, list.size());
            number_[n] = entry->second;
            if (!is_new) continue;
            Json frame = {{"name", node.name}};
            if (!node.file.empty()) frame["file"] = node.file;
            if (node.line != 0) frame["line"] = node.line;
            list.push_back(std::move(frame));
        }
    }
    std::size_t of(std::uint32_t node) const { return number_[node]; }
    Json list = Json::array();
    std::vector<std::uint32_t> order; // of stacks: so that neighbours have most frames in common

  private:
    std::vector<std::size_t> number_;
};

const char* unit_of(const MetricRow& row) { return row.unit == "ns" ? "nanoseconds" : row.unit == "bytes" ? "bytes" : "none"; }

/// A profile of the nodes that have a value; returns how many numbers it takes.
std::size_t add_profile(const CallTable& table, const Frames& frames, const std::string& name, std::size_t metric, const std::vector<std::uint64_t>& values,
                        Json& profiles) {
    Json samples = Json::array(), weights = Json::array();
    std::uint64_t sum = 0;
    std::size_t numbers = 0;
    for (const std::uint32_t n : frames.order) {
        if (values[n] == 0) continue;
        Json stack = Json::array();
        for (const std::uint32_t step : table.path_to(n)) stack.push_back(frames.of(step));
        numbers += stack.size() + 1;
        samples.push_back(std::move(stack));
        weights.push_back(values[n]);
        sum += values[n];
    }
    const std::string title = metric == 0 ? name : fmt::format("{}, {}", name, table.metrics[metric].label);
    profiles.push_back({{"type", "sampled"},
                        {"name", title},
                        {"unit", unit_of(table.metrics[metric])},
                        {"startValue", 0},
                        {"endValue", sum},
                        {"samples", std::move(samples)},
                        {"weights", std::move(weights)}});
    return numbers;
}

} // namespace

Remarks write_speedscope(const Profile& profile, const ExportRequest& request, Sink& sink) {
    const CallTable table = make_viewer_table(profile, request.choice);
    const Frames frames(table);
    Json profiles = Json::array();
    Remarks remarks = untold_remarks(table);
    std::size_t numbers = 0;
    for (std::size_t m = 0; m < table.metrics.size(); ++m) numbers += add_profile(table, frames, "all ranks", m, table.exclusive_everywhere(m), profiles);
    std::size_t written = 0;
    for (std::size_t p = 0; p < table.locations.size() && table.locations.size() > 1 && numbers < most_numbers; ++p, ++written)
        for (std::size_t m = 0; m < table.metrics.size(); ++m)
            numbers += add_profile(table, frames, location_name(table.locations[p].rank, table.locations[p].thread), m, table.exclusive(p, m), profiles);
    if (table.locations.size() > 1 && written < table.locations.size())
        remarks.push_back(fmt::format("only the first {} of {} ranks and threads have profiles of their own, "
                                      "so that a browser can open the file; "
                                      "choose others with --rank. The first profile has all of them",
                                      written, table.locations.size()));
    std::string title = table.nodes[0].name;
    if (!table.scope.empty()) title += ", " + table.scope;
    if (table.estimated) title += " (partly estimated)";
    const Json document = {{"$schema", "https://www.speedscope.app/file-format-schema.json"},
                           {"name", title},
                           {"exporter", "libprofile"},
                           {"activeProfileIndex", 0},
                           {"shared", {{"frames", frames.list}}},
                           {"profiles", std::move(profiles)}};
    sink.add("profile.json", json_text(document) + "\n");
    return remarks;
}

} // namespace libprofile::tools
