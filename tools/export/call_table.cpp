#include "tools/export/call_table.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace libprofile::tools {

std::vector<std::uint32_t> CallTable::path_to(std::uint32_t node) const {
    std::vector<std::uint32_t> path;
    for (; node != 0; node = nodes[node].parent) path.push_back(node);
    std::reverse(path.begin(), path.end());
    return path;
}

std::vector<std::uint64_t> CallTable::exclusive(std::size_t location, std::size_t metric) const {
    std::vector<std::uint64_t> sums(nodes.size());
    for (const Value& value : values[location])
        if (value.metric == metric) sums[value.node] += value.value;
    return sums;
}

std::vector<std::uint64_t> CallTable::inclusive(std::size_t location, std::size_t metric) const {
    std::vector<std::uint64_t> sums = exclusive(location, metric);
    for (std::size_t n = nodes.size(); n-- > 1;) sums[nodes[n].parent] += sums[n];
    return sums;
}

std::vector<double> CallTable::errors(std::size_t location, bool inclusive) const {
    constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
    std::vector<double> errors(nodes.size(), untold == 0 ? 0 : unknown);
    if (location >= sampled.size() || untold != 0) return errors;
    Sampled sums = sampled[location]; // other locations may have more nodes
    sums.parts.resize(nodes.size());
    sums.is_unknown.resize(nodes.size());
    for (std::size_t n = nodes.size(); inclusive && n-- > 1;) {
        add_parts(sums.parts[nodes[n].parent], sums.parts[n]);
        if (sums.is_unknown[n]) sums.is_unknown[nodes[n].parent] = true;
    }
    for (std::size_t n = 0; n < nodes.size(); ++n)
        errors[n] = sums.is_unknown[n] ? unknown : sums.parts[n].empty() ? 0 : sampling_error(sums.parts[n], sums.strata);
    return errors;
}

std::vector<std::uint64_t> CallTable::exclusive_everywhere(std::size_t metric) const {
    std::vector<std::uint64_t> sums(nodes.size());
    for (const std::vector<Value>& at_location : values)
        for (const Value& value : at_location)
            if (value.metric == metric) sums[value.node] += value.value;
    return sums;
}

std::uint32_t phase_of_choice(const Profile& profile, const TableChoice& choice) {
    std::vector<std::uint64_t> wall(profile.phases.size());
    for (const Location& location : profile.locations)
        for (const PhaseData& data : location.phases) wall[data.phase] += data.wall_inclusive_ns;
    std::optional<std::uint32_t> found;
    for (std::uint32_t p = 0; p < profile.phases.size(); ++p) {
        const Phase& phase = profile.phases[p];
        if (choice.iterations && phase.kind != PhaseKind::Iterations) continue;
        if (choice.has_phase ? phase.is_called(choice.phase) : !found || wall[p] > wall[*found]) found = p;
    }
    if (found) return *found;
    if (choice.has_phase)
        throw ExportError(
            fmt::format("the profile has no phase \"{}\"{}; libprofile report names the phases", choice.phase, choice.iterations ? " with iterations" : ""));
    throw ExportError("the profile has no iterations to choose from; mark the loop in the program "
                      "(docs/getting-started.md)");
}

std::vector<const Location*> locations_of_choice(const Profile& profile, const TableChoice& choice) {
    std::vector<const Location*> locations;
    for (const Location& location : profile.locations)
        if (choice.ranks.empty() || std::binary_search(choice.ranks.begin(), choice.ranks.end(), location.rank)) locations.push_back(&location);
    if (locations.empty())
        throw ExportError(fmt::format("the profile has no data of rank {}; it has {} ranks, counted from 0", fmt::join(choice.ranks, ", "), profile.job.ranks));
    return locations;
}

} // namespace libprofile::tools
