#include "tools/timeseries/parameter_table.hpp"

#include "tools/text/nearest.hpp"

#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <vector>

namespace libprofile::tools {

namespace {

using P = TimeSeriesParameters;

constexpr ParameterRow rows[] = {
    {"child_num_acc", "CHILD_NUM_ACC", &P::child_num_acc, 1, 1e9, "so many calls accept an iteration"},
    {"child_dur_acc", "CHILD_DUR_ACC", &P::child_dur_acc, 0, 1e9, "so does a call of so many sampling periods"},
    {"most_rejected_share", "greater than half", &P::most_rejected_share, 0, 1, "of a loop's time in rejected iterations; above, it has sums only"},
    {"gap_tolerance", "2 V in diffGap", &P::gap_tolerance, 0, 1e9, "sampling periods that two times may differ by"},
    {"ratio_min", "Ratio_min", &P::ratio_min, 0, 1, "clusters with a smaller difference are one"},
    {"ratio_rel", "Ratio_rel", &P::ratio_rel, 0, 1, "so are those below this share of the largest difference"},
    {"most_clusters", "K", &P::most_clusters, 0, 1e9, "clusters at most; 0: log2 of how many there are to cluster"},
    {"significance_ratio", "significanceRatio", &P::significance_ratio, 0, 1, "of the run: losses below are left out"},
    {"origin_depth_ratio", "originDepthRatio", &P::origin_depth_ratio, 0, 1, "of all losses below a call path: that of one alone has them"},
    {"high_share", "", &P::high_share, 0, 1, "of the run: from here on a segment's loss is high"},
    {"high_part", "", &P::high_part, 0, 1, "of the imbalances inside: from here on that at the end is high"},
    {"most_nodes", "", &P::most_nodes, 1, 1e9, "nodes of the mean of ranks; above, it has sums only"},
};

std::string number(double value) { return fmt::format("{:.9g}", value); }

} // namespace

std::span<const ParameterRow> parameter_rows() { return rows; }

double value_of(const TimeSeriesParameters& parameters, const ParameterRow& row) {
    return std::visit([&](auto member) { return static_cast<double>(parameters.*member); }, row.member);
}

std::optional<std::string> set_parameter(TimeSeriesParameters& parameters, const std::string& setting) {
    const std::size_t equals = setting.find('=');
    if (equals == 0 || equals == std::string::npos) return fmt::format("\"{}\" has no name and value; write NAME=VALUE", setting);
    const std::string name = setting.substr(0, equals), text = setting.substr(equals + 1);
    std::vector<std::string> names;
    for (const ParameterRow& row : rows) {
        names.emplace_back(row.name);
        if (row.name != name) continue;
        char* end = nullptr;
        const double value = std::strtod(text.c_str(), &end);
        const bool is_whole = std::holds_alternative<std::uint32_t P::*>(row.member);
        const bool is_number = !text.empty() && *end == '\0' && value >= row.least && value <= row.most && (!is_whole || value == std::floor(value));
        if (!is_number)
            return fmt::format("{} is a {} from {} to {}, not \"{}\"", name, is_whole ? "whole number" : "number", number(row.least), number(row.most), text);
        std::visit([&](auto member) { parameters.*member = static_cast<std::remove_reference_t<decltype(parameters.*member)>>(value); }, row.member);
        return std::nullopt;
    }
    const std::string nearest = nearest_name(name, names);
    return fmt::format("there is no parameter \"{}\"{}", name, nearest.empty() ? "" : fmt::format("; did you mean {}?", nearest));
}

std::string parameter_lines() {
    std::string lines;
    for (const ParameterRow& row : rows) lines += fmt::format("  {:<21}{} [{}]\n", row.name, row.text, number(value_of({}, row)));
    return lines;
}

} // namespace libprofile::tools
