#include "tools/processes/imbalance_map.hpp"

#include "tools/analysis/in_parallel.hpp"
#include "tools/analysis/totals.hpp"
#include "tools/names/labels.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>
#include <numeric>

namespace libprofile::tools {

namespace {

constexpr double worth_seeing = 0.03;   // of the median rank's time
constexpr double worth_telling = 0.002; // of the median rank's time in all iterations

/// Of two in the middle the mean. Changes the order; there must be some.
float median_of(std::vector<float>& values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return values.size() % 2 != 0 ? *middle : (*middle + *std::max_element(values.begin(), middle)) / 2;
}

/// A part of a row: iterations from first to before end.
struct ScoredPart {
    std::size_t first = 0, end = 0;
    double before = 0, after = 0; // the sum of scores from the begin of the row to the begin and the end of the part
    double score() const { return after - before; }
};

/// All maximal scoring parts of a row.
template <class Score> std::vector<ScoredPart> maximal_parts(std::size_t n, Score score) {
    std::vector<ScoredPart> parts;
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const double s = score(i);
        sum += s;
        if (s <= 0) continue;
        ScoredPart part{i, i + 1, sum - s, sum};
        for (;;) {
            std::size_t j = parts.size();
            while (j > 0 && parts[j - 1].before >= part.before) --j;
            if (j == 0 || parts[j - 1].after >= part.after) break;
            part.first = parts[j - 1].first;
            part.before = parts[j - 1].before;
            parts.resize(j - 1);
        }
        parts.push_back(part);
    }
    return parts;
}

/// A named region or instrumented function, wherever it is entered.
struct EnteredFunction {
    std::string name;
    std::vector<bool> paths;                   // by call path: it is an entry
    std::uint64_t ns = 0;                      // of all locations
    std::vector<std::uint64_t> visits, own_ns; // by location; own_ns: without MPI and regions inside
};

std::vector<EnteredFunction> entered_functions(const Profile& profile) {
    std::map<std::tuple<NodeKind, std::uint32_t, std::uint64_t>, EnteredFunction> functions;
    for (std::size_t p = 0; p < profile.paths.size(); ++p) {
        const CallPath& path = profile.paths[p];
        if (path.kind != NodeKind::Region && path.kind != NodeKind::FunctionRegion) continue;
        EnteredFunction& function = functions[{path.kind, path.target, path.address}];
        if (function.name.empty()) function.name = short_function_name(label_of(profile, path).name);
        function.paths.resize(profile.paths.size());
        function.paths[p] = true;
    }
    std::vector<EnteredFunction> list;
    for (auto& [key, function] : functions) list.push_back(std::move(function));
    return list;
}

} // namespace

ImbalanceMap imbalance_map(const RankStates& states) {
    ImbalanceMap map{states.locations, states.first, states.iterations, {}, {}, {}, {}};
    map.median.resize(map.iterations);
    map.deviation.resize(states.computing.size());
    constexpr std::size_t block = 64; // iterations at a time: whole cache lines of every rank's row
    in_parallel((map.iterations + block - 1) / block, [&](std::size_t number) {
        const std::size_t begin = number * block, end = std::min(begin + block, map.iterations);
        std::vector<std::vector<float>> here(end - begin);
        const auto is_known = [&](std::size_t row, std::size_t i) { return !std::isnan(states.computing_ns(row, i)); };
        for (std::size_t row = 0; row < map.locations.size(); ++row)
            for (std::size_t i = begin; i < end; ++i)
                if (is_known(row, i)) here[i - begin].push_back(states.computing_ns(row, i));
        for (std::size_t i = begin; i < end; ++i) map.median[i] = here[i - begin].empty() ? 0 : median_of(here[i - begin]);
        for (std::size_t row = 0; row < map.locations.size(); ++row)
            for (std::size_t i = begin; i < end; ++i) map.deviation[row * map.iterations + i] = states.computing_ns(row, i) - map.median[i];
    });
    return map;
}

ImbalanceMap imbalance_of_entries(const Profile& profile, const std::vector<const Location*>& locations) {
    ImbalanceMap map;
    std::copy_if(locations.begin(), locations.end(), std::back_inserter(map.locations), [](const Location* location) { return location != nullptr; });
    if (map.locations.empty()) return map;
    map.iterations = 1;
    std::vector<EnteredFunction> functions = entered_functions(profile);
    std::vector<float> values;
    for (std::size_t row = 0; row < map.locations.size(); ++row) {
        for (EnteredFunction& function : functions) {
            function.visits.push_back(0);
            function.own_ns.push_back(0);
        }
        for (const PhaseData& data : map.locations[row]->phases) {
            for_each_cell(data, [&](const Cell& cell) {
                for (EnteredFunction& function : functions) {
                    if (function.paths[cell.path] && cell.metric == static_cast<std::uint32_t>(Metric::Visits)) function.visits[row] += cell.value;
                    if (function.paths[cell.path] && cell.metric == static_cast<std::uint32_t>(Metric::RegionTime)) function.ns += cell.value;
                    if (function.paths[cell.path] && cell.metric == static_cast<std::uint32_t>(Metric::RegionOwnTime)) function.own_ns[row] += cell.value;
                }
            });
        }
        values.push_back(static_cast<float>(computing_of(totals(profile, *map.locations[row]))));
    }
    const EnteredFunction* longest = nullptr;
    for (const EnteredFunction& function : functions) {
        const bool is_segment = std::all_of(function.visits.begin(), function.visits.end(), [](std::uint64_t visits) { return visits >= 2; });
        if (is_segment && (longest == nullptr || function.ns > longest->ns)) longest = &function;
    }
    if (longest != nullptr) {
        map.function = longest->name;
        for (std::size_t row = 0; row < values.size(); ++row) {
            values[row] = static_cast<float>(longest->own_ns[row]) / static_cast<float>(longest->visits[row]);
            map.entries.push_back(static_cast<double>(longest->visits[row]));
        }
    }
    std::vector<float> sorted = values;
    map.median = {median_of(sorted)};
    for (const float value : values) map.deviation.push_back(value - map.median[0]);
    return map;
}

std::vector<HotCell> hot_cells(const ImbalanceMap& map, std::size_t most) {
    std::vector<HotCell> cells;
    std::mutex adding;
    in_parallel(map.locations.size(), [&](std::size_t row) {
        const auto deviation = [&](std::size_t i) { return std::isnan(map.at(row, i)) ? 0.0 : static_cast<double>(map.at(row, i)); };
        std::vector<HotCell> of_row;
        for (const ScoredPart& part : maximal_parts(map.iterations, [&](std::size_t i) { return deviation(i) - worth_seeing * map.median[i]; })) {
            HotCell& cell = of_row.emplace_back(HotCell{static_cast<std::uint32_t>(row), map.first + part.first, map.first + part.end - 1, 0, 0});
            for (std::size_t i = part.first; i < part.end; ++i) {
                cell.excess += deviation(i);
                cell.median += map.median[i];
            }
        }
        const auto heavier = [](const HotCell& a, const HotCell& b) { return a.excess > b.excess; };
        const auto end = of_row.begin() + static_cast<std::ptrdiff_t>(std::min(most, of_row.size()));
        std::partial_sort(of_row.begin(), end, of_row.end(), heavier);
        const std::lock_guard lock(adding);
        cells.insert(cells.end(), of_row.begin(), end);
    });
    std::sort(cells.begin(), cells.end(), [](const HotCell& a, const HotCell& b) {
        return a.excess != b.excess ? a.excess > b.excess : a.row != b.row ? a.row < b.row : a.first < b.first;
    });
    const double least = worth_telling * std::accumulate(map.median.begin(), map.median.end(), 0.0);
    std::erase_if(cells, [&](const HotCell& cell) { return cell.excess < least; });
    if (cells.size() > most) cells.resize(most);
    return cells;
}

} // namespace libprofile::tools
