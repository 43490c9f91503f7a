#include "tools/report/json_call_paths.hpp"

#include "tools/analysis/sample_strata.hpp"
#include "tools/analysis/totals.hpp"
#include "tools/names/interpreters.hpp"
#include "tools/names/labels.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

namespace libprofile::tools {

namespace {

using Json = nlohmann::ordered_json;

/// By sampled call path, then location: half of the 95 % interval of its time, ns.
std::map<std::uint32_t, std::vector<std::uint64_t>> sampling_errors(const Profile& profile, const std::vector<const Location*>& locations,
                                                                    std::uint32_t phase) {
    std::map<std::uint32_t, std::vector<std::uint64_t>> errors;
    for (std::size_t l = 0; l < locations.size(); ++l) {
        const PhaseData* data = find_phase(locations[l], phase);
        if (data == nullptr) continue;
        SampledStrata strata;
        std::map<std::uint32_t, SampledParts> parts;
        strata.add(sampled_selection(profile, *data), [&](std::uint32_t path, std::uint32_t stratum, double ns) { add_part(parts[path], stratum, ns); });
        for (const auto& [path, part] : parts) {
            std::vector<std::uint64_t>& list = errors[path];
            list.resize(locations.size());
            list[l] = static_cast<std::uint64_t>(std::llround(sampling_error(part, strata.list())));
        }
    }
    return errors;
}

} // namespace

nlohmann::ordered_json call_paths_json(const Profile& profile, const std::vector<const Location*>& locations, std::uint32_t phase) {
    const std::size_t metrics = profile.metrics.size();
    std::vector<char> listed(profile.paths.size(), 0);
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::uint64_t>> values; // by path and metric
    // Summed densely first, because clusters repeat the same cells many times; cleared by what was touched.
    std::vector<std::uint64_t> sums(profile.paths.size() * metrics);
    std::vector<std::uint32_t> touched;
    for (std::size_t l = 0; l < locations.size(); ++l) {
        const PhaseData* data = find_phase(locations[l], phase);
        if (data == nullptr) continue;
        std::vector<char> here(profile.paths.size(), 0);
        touched.clear();
        for_each_cell(*data, [&](const Cell& cell) {
            sums[cell.path * metrics + cell.metric] += cell.value;
            if (here[cell.path] == 0) touched.push_back(cell.path);
            here[cell.path] = 1;
        });
        for (const std::uint32_t p : touched) {
            listed[p] = 1;
            for (std::uint32_t m = 0; m < metrics; ++m) {
                std::uint64_t& sum = sums[p * metrics + m];
                if (sum == 0) continue;
                auto& row = values[{p, m}];
                if (row.empty()) row.resize(locations.size());
                row[l] = sum;
                sum = 0;
            }
        }
    }
    const std::map<std::uint32_t, std::vector<std::uint64_t>> errors = sampling_errors(profile, locations, phase);
    const bool at_root = listed[0] != 0;
    const InterpreterFrames interpreter(profile);
    for (std::size_t p = profile.paths.size(); p-- > 1;)
        if (listed[p] != 0) listed[profile.paths[p].parent] = 1;

    Json list = Json::array();
    auto next = values.begin();
    for (std::uint32_t p = at_root ? 0 : 1; p < profile.paths.size(); ++p) {
        if (listed[p] == 0) continue;
        const CallPath& path = profile.paths[p];
        const Label label = label_of(profile, path);
        Json exclusive = Json::object();
        for (const std::uint32_t m : {0u, static_cast<std::uint32_t>(Metric::Visits)})
            exclusive[profile.metrics[m].name] = std::vector<std::uint64_t>(locations.size());
        for (; next != values.end() && next->first.first == p; ++next) exclusive[profile.metrics[next->first.second].name] = std::move(next->second);
        Json entry = {{"id", p},
                      {"parent", nullptr},
                      {"name", label.name},
                      {"file", label.file},
                      {"line", label.line},
                      {"module", label.module},
                      {"kind", kind_name(path.kind)}};
        if (path.parent != 0) entry["parent"] = path.parent;
        if (is_in_module(path.kind) || path.kind == NodeKind::Inlined) entry["offset"] = profile.sites[path.target].offset;
        if (interpreter.contains(path)) entry["interpreter"] = true;
        entry["exclusive"] = std::move(exclusive);
        if (const auto at = errors.find(p); at != errors.end()) entry["sampling_error"] = at->second;
        list.push_back(std::move(entry));
    }
    return list;
}

} // namespace libprofile::tools
