// Extra-P's JSON lines: one measurement a line, so that the files of several runs are simply joined.
// A value is the mean over ranks and threads of a call path's exclusive value, as Extra-P takes it from Cube files of weak scaling.
#include "tools/export/formats.hpp"
#include "tools/export/stacks.hpp"
#include "tools/text/json_text.hpp"

#include <cstdlib>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>

namespace libprofile::tools {

Remarks write_extrap(const Profile& profile, const ExportRequest& request, Sink& sink) {
    using Json = nlohmann::ordered_json;
    TableChoice choice = request.choice;
    choice.short_names = true;
    const CallTable table = make_stack_table(profile, choice);
    Json parameters = {{"p", profile.job.ranks}};
    for (const auto& [name, text] : request.set) {
        const Json value = Json::parse(text, nullptr, false);
        if (!value.is_number()) throw ExportError(fmt::format("Extra-P's parameters are numbers, and \"{}\" is none; use --set {}=NUMBER", text, name));
        parameters[name] = value;
    }
    const auto call_path = [&](std::uint32_t node) {
        std::string path = table.nodes[0].name;
        for (const std::uint32_t step : table.path_to(node)) {
            path += "->";
            // "->" separates functions; a C++ operator of that name must not.
            std::string name = table.nodes[step].name;
            for (std::size_t at; (at = name.find("->")) != std::string::npos;) name.replace(at, 2, "_arrow");
            path += name;
        }
        return path;
    };
    std::string out;
    const auto locations = static_cast<double>(table.locations.size());
    for (std::size_t m = 0; m < table.metrics.size(); ++m) {
        const MetricRow& row = table.metrics[m];
        // Two nodes may have one name; two lines of it would be two repetitions of the measurement.
        std::map<std::string, std::uint64_t> by_name;
        const std::vector<std::uint64_t> sums = table.exclusive_everywhere(m);
        for (std::uint32_t n = 0; n < sums.size(); ++n)
            if (sums[n] != 0) by_name[call_path(n)] += sums[n];
        for (const auto& [name, sum] : by_name) {
            const double value = static_cast<double>(sum) / locations / (row.unit == "ns" ? 1e9 : 1);
            const Json line = {{"params", parameters}, {"callpath", name}, {"metric", row.name}, {"value", value}};
            out += json_text(line) + "\n";
        }
    }
    sink.add("profile.jsonl", out);
    return untold_remarks(table);
}

} // namespace libprofile::tools
